"""Where a network is trained: on which device, and by which processes (of ``torchrun`` or Ray Train).

On the CPU our kernels do the work, on another device plain torch does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

import torch
from torch import distributed

T = TypeVar("T")


class Team(NamedTuple):
    """The processes of a run: this one's number, and how many there are."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes and prints."""
        return self.rank == 0

    def sum(self, *values: float) -> tuple[float, ...]:
        """Add up each value over all processes."""
        if self.size == 1:
            return values
        total = torch.tensor(values, dtype=torch.float64)
        distributed.all_reduce(total)
        return tuple(total.tolist())

    def mean(self, values: torch.Tensor) -> float:
        """Return the mean of the values of all processes together, of which some may have none."""
        if self.size == 1:
            return float(values.mean())
        total, count = self.sum(float(values.sum()), len(values))
        return total / count

    def from_first(self, make: Callable[[], T]) -> T:
        """Let the first process make something, and give it to all of them."""
        if self.size == 1:
            return make()
        made: list[Any] = [make() if self.leads else None]
        distributed.broadcast_object_list(made, 0, device=torch.device("cpu"))
        found: T = made[0]
        return found


def team() -> Team:
    """Return the processes that have joined; a process of its own is a team of one."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return Team()
    return Team(distributed.get_rank(), distributed.get_world_size())


@contextmanager
def joined(device: str = "cpu") -> Iterator[Team]:
    """Meet the processes that ``torchrun`` started beside this one, if it did; part from them at the end."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield team()
        return
    distributed.init_process_group(backend(device))
    try:
        yield team()
        with suppress(RuntimeError):  # one of them is lost: then there is nobody to wait for
            distributed.barrier()  # torch may abort a process that leaves while another still talks
    finally:
        distributed.destroy_process_group()


def backend(device: str) -> str:
    """Return how processes talk that train on a device: GPUs by nccl, everything else by gloo."""
    return "cpu:gloo,cuda:nccl" if device == "cuda" else "gloo"


def is_lost(error: BaseException) -> bool:
    """Whether an error says that another process is gone."""
    words = ("connection", "peer", "gloo", "nccl", "timed out", "store")
    return isinstance(error, RuntimeError) and any(word in str(error).lower() for word in words)


def torch_device(name: str) -> torch.device:
    """Return the device of a name; of several GPUs, each process on a machine has its own.

    Raises:
        ValueError: PyTorch finds none of the kind.
    """
    kinds = {"cuda": (torch.cuda, "CUDA device"), "mps": (torch.backends.mps, "Apple GPU")}
    if name in kinds and not kinds[name][0].is_available():
        raise ValueError(
            f"device {name}: PyTorch {torch.__version__} finds no {kinds[name][1]} on this machine; "
            "leave out --device for the CPU"
        )
    if name == "cuda":
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    return torch.device(name)


def host(values: torch.Tensor) -> Any:
    """Fetch the numbers of a tensor from its device: the only wait of the host for it in training."""
    return values.tolist()
