"""Sparse tensors that torch has not looked at."""

import warnings
from typing import Any

import torch


def csr_tensor(
    columns: list[int], starts: list[int] | None = None, kind: Any = torch.float32, width: int = 3
) -> torch.Tensor:
    """A CSR tensor of three rows and ones; by default two entries in the first row, one in each other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch announces once that CSR is in beta
        return torch.sparse_csr_tensor(
            torch.tensor([0, 2, 3, 4] if starts is None else starts),
            torch.tensor(columns),
            torch.ones(len(columns), dtype=kind),
            size=(3, width),
            check_invariants=False,
        )
