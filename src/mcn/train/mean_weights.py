"""The running mean of a network's weights: steps on few nodes leave the weights themselves in motion."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from mcn.train.loop import below


class MeanWeights:
    """The running mean of all tensors of a network, which begins as they are.

    Args:
        model: the network; integers, such as counters, are copied and not averaged.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model
        self._mean = _copy(model.state_dict())

    def copy(self) -> dict[str, torch.Tensor]:
        """Return a copy of the mean."""
        return _copy(self._mean)

    def update(self, share: float) -> None:
        """Move the mean towards the tensors of the network; with share 1 it becomes them."""
        for name, value in self._model.state_dict().items():
            if share < 1 and value.is_floating_point():
                self._mean[name].lerp_(value, share)
            else:
                self._mean[name].copy_(value)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the network have the mean for as long as this lasts."""
        own = _copy(self._model.state_dict())
        self._model.load_state_dict(self._mean)
        try:
            yield
        finally:
            self._model.load_state_dict(own)

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return what `load` goes on from."""
        return {f"mean.{name}": value for name, value in self._mean.items()}

    def load(self, tensors: dict[str, torch.Tensor]) -> None:
        """Go on from what `tensors` gave.

        Raises:
            ValueError: these are of another network.
        """
        found = below("mean.", tensors)
        own = {name: (value.shape, value.dtype) for name, value in self._mean.items()}
        if own != {name: (value.shape, value.dtype) for name, value in found.items()}:
            raise ValueError("the mean weights are not those of this network")
        self._mean = _copy(found)


def _copy(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in tensors.items()}
