"""The settings of mini-batches, for the recipes that have them."""

from __future__ import annotations

from dataclasses import dataclass

from mcn.train.settings import Settings, at_least, fan_outs, setting


@dataclass(frozen=True, kw_only=True)
class BatchedSettings(Settings):
    """Settings of a recipe whose network can be trained in mini-batches."""

    batch_size: int | None = setting(
        None,
        "Training nodes per step, with neighbours drawn at random; all of them at once if not given.",
        at_least(1),
        option="batch-size",
        since="0.2.0",
    )
    neighbours: tuple[int, ...] = setting(
        (10,),
        "Neighbours that a node draws in a batch: one number, or one per layer from the last to the first, "
        "separated by commas; -1 for all of them.",
        fan_outs,
        option="neighbours",
        since="0.2.0",
    )
    loader_workers: int = setting(
        0, "Processes that draw batches ahead of training; 0 for none.", at_least(0), since="0.2.0"
    )
