"""Rows beside the rule's: methods that others proposed, and MCN's two earlier rules of attention."""

from __future__ import annotations

import copy
import time
from typing import Any

from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.baselines import find_method
from mcn.train.predictions import accuracy_on_test

COMPETITORS = ("graphsage", "gpr-gnn", "acm-gcn", "linkx", "link")
"""Methods of the registry, with their authors' settings where these differ between sets."""
FORMER_RULES = ("paper", "gated")
"""Rules of attention, with all other settings as for the default rule."""
OTHERS = (*COMPETITORS, *FORMER_RULES)
AUTO = "auto"
"""The recipe for a graph of one's own, as `mcn train --dataset NAME` runs it without a preset; asked for by
name only, because it takes minutes."""


def run_other(data: Data, name: str, row: str, seed: int, **changes: Any) -> dict[str, Any]:
    """Run one of `OTHERS`, or `AUTO`, on one split of the set `name`; test labels are read once, at the end.

    `changes` are settings of the rules other than the defaults. The note of `AUTO` is the time by the clock,
    which its budget is about. Competitors divide counts of words by their sum, as their authors do; where the
    rule divides them by their length they are run with either, and validation nodes decide.
    """
    either = [data]
    if row in COMPETITORS and data.get("scaling") == "unit":
        either.insert(0, copy.copy(data).update({"scaling": "rows"}))
    runs = [_run(each, name, row, seed, changes) for each in either]
    found, labels = max(runs, key=lambda run: run[0]["held_out"] or 0.0)
    return found | {"test": accuracy_on_test(data, labels)}


def _run(
    data: Data, name: str, row: str, seed: int, changes: dict[str, Any]
) -> tuple[dict[str, Any], NDArray[Any]]:
    rule = row in FORMER_RULES
    method = find_method("mcn" if rule else row)
    config = method.configure(None, {"attention": row, **changes} if rule else changes, {})
    prepared = method.prepare(data, name, config, None)
    began, clock = time.process_time(), time.perf_counter()
    outcome = method.run(prepared, config, seed)
    found = {
        "row": row,
        "held_out": outcome.val_accuracy,
        "seconds": time.process_time() - began,
        "epochs": outcome.epochs,
        "note": f"clock={time.perf_counter() - clock:.1f}" if row == AUTO else "",
    }
    return found, outcome.labels
