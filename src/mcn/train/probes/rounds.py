"""Which runs a candidate has: on the given parts, and on parts that are dealt out anew."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mcn.train.problem import Known

DEALS, ENOUGH = 4, 2000
"""How often training and validation nodes are dealt out anew at most; and how many validation nodes in all
tell candidates apart well enough (by two points, if one is right on half of them)."""


class Rounds(NamedTuple):
    """The runs of a candidate by number: one on the given parts, then `deals` on others, then the rest.

    With few validation nodes the best of several candidates is partly the luckiest. Where chance alone
    decided which nodes are for training and which for validation, both can be dealt out anew, and a candidate
    be judged by other nodes. The networks of such runs are not kept, so that none that predicts has learned
    from a validation node. Where somebody decided (by time, by group), parts stay as they are.

    repeats: runs on the given parts. deals: runs on others.
    """

    repeats: int
    deals: int

    @classmethod
    def of(cls, known: Known, repeats: int) -> Rounds:
        """Return the runs for a split: nothing is dealt out where one run will do, or nodes are many."""
        wanted = min(DEALS, -(-ENOUGH // max(1, len(known.val))) - 1)
        return cls(repeats, wanted if known.at_random and repeats > 1 else 0)

    @property
    def total(self) -> int:
        """Number of runs."""
        return self.repeats + self.deals

    def deals_out(self, number: int) -> bool:
        """Whether a run has other parts than the given ones."""
        return 0 < number <= self.deals

    def known(self, known: Known, number: int, seed: int) -> Known:
        """Return the parts of a run, the same for all candidates."""
        return known.dealt_anew(seed * 1000 + number) if self.deals_out(number) else known

    def unit(self, number: int) -> int:
        """Return which runs count as one: all on the given parts, if there are others to compare with."""
        return number if not self.deals or self.deals_out(number) else 0

    def scores(self, runs: list[dict[str, Any]]) -> dict[str, dict[int, float]]:
        """Return the mean held-out score of every candidate's runs, by unit."""
        each: dict[str, dict[int, list[float]]] = {}
        for run in runs:
            own = each.setdefault(run["candidate"], {})
            own.setdefault(self.unit(run["round"]), []).append(float(run["held_out"]))
        return {name: {unit: float(np.mean(v)) for unit, v in own.items()} for name, own in each.items()}
