"""What may be told of every epoch: a log file, checkpoints, TensorBoard."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from graphmotifs._files import atomic_write, naming
from mcn.data.limits import read_bytes, reading
from mcn.train.checkpoint import save_tensors
from mcn.train.loop import Epoch, Training
from mcn.train.metrics import shown


class JSONLines:
    """Appends one line of scores per epoch to a file; a resumed run goes on from the line `after_epoch`."""

    def __init__(self, path: str | os.PathLike[str], after_epoch: int = 0) -> None:
        self._path = Path(path)
        lines: list[str] = []
        if after_epoch and self._path.exists():
            with reading(self._path, "not a log of epochs"):
                lines = read_bytes(self._path).decode().splitlines()
        if len(lines) < after_epoch:
            raise ValueError(
                f"{path}: {len(lines)} lines, but the checkpoint beside it is of epoch {after_epoch}; "
                "they do not belong together: train anew in another folder"
            )
        with atomic_write(self._path) as file:
            file.write("".join(f"{line}\n" for line in lines[:after_epoch]).encode())

    def __call__(self, trainer: Training, epoch: Epoch) -> None:
        """Write the line."""
        self.write(epoch)

    def write(self, epoch: Epoch) -> None:
        """Append the scores of an epoch."""
        with naming(self._path), self._path.open("a") as file:
            line = {name: value for name, value in epoch._asdict().items() if value is not None}
            file.write(json.dumps(line) + "\n")


class Checkpoints:
    """Saves everything needed to go on, at most every `every` seconds and at the end.

    Where saving takes long, as with many networks, it is done less often: it takes a thirtieth of the time.
    """

    def __init__(self, path: str | os.PathLike[str], every: float = 1.0) -> None:
        self._path, self._every, self._next = Path(path), every, time.monotonic() + every

    def __call__(self, trainer: Training, epoch: Epoch) -> None:
        """Save if it is time."""
        began = time.monotonic()
        if trainer.stopped or began >= self._next:
            save_tensors(self._path, trainer.tensors(), trainer.state())
            ended = time.monotonic()
            self._next = ended + (max(self._every, 30 * (ended - began)) if self._every else 0.0)


class Lines:
    """Prints a line of scores for the first epoch, for every tenth and for the last."""

    def __call__(self, trainer: Training, epoch: Epoch) -> None:
        """Print if it is time."""
        if epoch.epoch == 1 or epoch.epoch % 10 == 0 or trainer.stopped:
            whose = "" if epoch.candidate is None else f"{epoch.candidate}, run {epoch.run}, "
            metric = trainer.config.metric
            scores = f"loss {epoch.train_loss:.4f}, validation {metric} {shown(metric, abs(epoch.val_score))}"
            print(f"{whose}epoch {epoch.epoch}: {scores}", flush=True)


class TensorBoard:
    """Writes the scores for TensorBoard; needs the package `tensorboard`."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ValueError("TensorBoard is not installed: pip install tensorboard") from None
        self._writer: Any = SummaryWriter(str(folder))  # type: ignore[no-untyped-call, unused-ignore]

    def __call__(self, trainer: Training, epoch: Epoch) -> None:
        """Write the scalars."""
        for name in ("train_loss", "train_accuracy", "val_loss", "val_accuracy", "val_score"):
            if getattr(epoch, name) is not None:
                self._writer.add_scalar(name, getattr(epoch, name), epoch.epoch)
        if trainer.stopped:
            self._writer.close()
