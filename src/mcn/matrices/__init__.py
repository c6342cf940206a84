"""Motif matrices: the five Ψ, the K-step powers, and the stack a layer chooses its rows from."""

from mcn.matrices.functions import apply_psi, laplacian, row_max, symmetric, transition, unweighted
from mcn.matrices.pagerank import PageRankRows, pagerank_rows, view_rows, walk_weights
from mcn.matrices.psi import PSI_NAMES
from mcn.matrices.rows import Rows
from mcn.matrices.size import StackSize, StackTooLarge, stack_size
from mcn.matrices.source import RowSource, StackBlock
from mcn.matrices.stack import MotifStack

__all__ = [
    "PSI_NAMES",
    "MotifStack",
    "PageRankRows",
    "RowSource",
    "Rows",
    "StackBlock",
    "StackSize",
    "StackTooLarge",
    "apply_psi",
    "laplacian",
    "pagerank_rows",
    "row_max",
    "stack_size",
    "symmetric",
    "transition",
    "unweighted",
    "view_rows",
    "walk_weights",
]
