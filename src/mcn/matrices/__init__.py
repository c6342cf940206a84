"""Motif matrices: the five Ψ, the K-step powers, and the stack a layer chooses its rows from."""

from mcn.matrices.block import StackBlock
from mcn.matrices.functions import apply_psi, laplacian, row_max, symmetric, transition, unweighted
from mcn.matrices.pagerank import PageRankRows, pagerank_rows, walk_weights
from mcn.matrices.psi import PSI_NAMES
from mcn.matrices.rows import Rows, StackView
from mcn.matrices.size import StackSize, StackTooLarge, stack_size
from mcn.matrices.stack import MotifStack
from mcn.matrices.views import view_rows

__all__ = [
    "PSI_NAMES",
    "MotifStack",
    "PageRankRows",
    "Rows",
    "StackBlock",
    "StackSize",
    "StackTooLarge",
    "StackView",
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
