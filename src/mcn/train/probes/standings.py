"""How candidates stand after some of their runs, and whether one is clearly ahead."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mcn.train.probes.choose import CAUTION
from mcn.train.probes.rounds import Rounds


def standings(runs: list[dict[str, Any]], rounds: Rounds, order: list[str]) -> list[dict[str, Any]]:
    """Return the candidates, the best first: mean held-out score, and how far each is behind the best.

    The error of that is of the differences in pairs, over the seeds, or the parts, that both have.

    Args:
        runs: of all candidates.
        rounds: which of them are on parts of their own.
        order: the names of the candidates, cheapest first; of equals the earlier is the better.
    """
    scores = rounds.scores(runs)
    means = {name: float(np.mean(list(own.values()))) for name, own in scores.items()}
    ranked = sorted(means, key=lambda name: (-means[name], order.index(name)))
    rows = []
    for name in ranked:
        own, best = scores[name], scores[ranked[0]]
        gaps = np.array([best[unit] - own[unit] for unit in own if unit in best])
        several = len(gaps) > 1 and name != ranked[0]
        seconds = [run["seconds"] for run in runs if run["candidate"] == name]
        rows.append(
            {
                "candidate": name,
                "runs": len(seconds),
                "pairs": len(gaps),
                "score": means[name],
                "behind": means[ranked[0]] - means[name],
                "behind_error": float(gaps.std(ddof=1) / math.sqrt(len(gaps))) if several else None,
                "seconds_per_run": float(np.mean(seconds)),
            }
        )
    return rows


def several_behind(row: dict[str, Any]) -> bool:
    """Whether a candidate is behind the best by `CAUTION` standard errors, by three pairs of runs at least.

    For metrics that are no share of right nodes, whose error a single run does not tell.
    """
    return bool(row["pairs"] >= 3 and row["behind"] > CAUTION * (row["behind_error"] or 0.0))


def clearly_above(leader: float, other: float, count: int) -> bool:
    """Whether one share of `count` nodes is above another by `CAUTION` standard errors.

    Two more nodes, one right and one wrong, keep the error of a perfect leader from being zero.

    >>> clearly_above(1.0, 0.97, 30), clearly_above(1.0, 0.9, 30), clearly_above(1.0, 0.97, 300)
    (False, True, True)
    """
    share = (leader * count + 1) / (count + 2)
    return leader - other > CAUTION * math.sqrt(share * (1 - share) / count)
