"""Running a differentiable operation, without autograd's bookkeeping where no gradient is wanted."""

from __future__ import annotations

from typing import Any

import torch


class _Forgetful:
    """Stands in for autograd's context when nothing will be differentiated."""

    def save_for_backward(self, *tensors: torch.Tensor) -> None:
        """Keep nothing."""


def run(function: type[torch.autograd.Function], *arguments: Any) -> Any:
    """``function.apply(*arguments)``; under `torch.no_grad` its forward alone, which is quicker."""
    if torch.is_grad_enabled():
        return function.apply(*arguments)  # type: ignore[no-untyped-call]
    return function.forward(_Forgetful(), *arguments)
