"""Motif matrices: the five Ψ, the K-step powers, and the stack a layer chooses its rows from."""

from mcn.matrices.pagerank import PageRankRows, pagerank_rows, view_rows, walk_weights
from mcn.matrices.psi import PSI_NAMES, apply_psi
from mcn.matrices.rows import PinnedBlock, Rows, RowSource, StackBlock
from mcn.matrices.size import StackSize, StackTooLarge, stack_size
from mcn.matrices.stack import MotifStack

__all__ = [
    "PSI_NAMES",
    "MotifStack",
    "PageRankRows",
    "PinnedBlock",
    "RowSource",
    "Rows",
    "StackBlock",
    "StackSize",
    "StackTooLarge",
    "apply_psi",
    "pagerank_rows",
    "stack_size",
    "view_rows",
    "walk_weights",
]
