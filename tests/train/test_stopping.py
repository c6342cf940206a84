from __future__ import annotations

import json
from math import inf

import pytest

from mcn.train.stopping import (
    AccuracyRule,
    GATAccuracyRule,
    GATRule,
    LossRule,
    StoppingRule,
    Verdict,
    stopping_rule,
)


def verdicts(rule: StoppingRule, scores: list[tuple[float, float]]) -> tuple[list[int], int | None]:
    """Epochs (from 1) whose weights were kept, and the epoch that stopped."""
    kept = []
    for epoch, (accuracy, loss) in enumerate(scores, 1):
        verdict = rule.update(accuracy, loss)
        if verdict.keep:
            kept.append(epoch)
        if verdict.stop:
            return kept, epoch
    return kept, None


# accuracy, loss
SCORES = [
    (0.5, 1.0),  # 1: first, best at both
    (0.6, 0.9),  # 2: better at both
    (0.7, 0.95),  # 3: accuracy only
    (0.6, 0.8),  # 4: loss only
    (0.7, 0.8),  # 5: ties with both bests
    (0.6, 0.9),  # 6: neither
    (0.7, 0.9),  # 7: ties with the best accuracy
    (0.6, 0.85),  # 8: neither
    (0.5, 0.9),  # 9: neither
    (0.9, 0.1),  # 10: never seen with a patience of 2
]


@pytest.mark.parametrize(
    ("rule", "kept", "stopped"),
    [
        (GATRule(2), [1, 2, 5], 9),
        (GATRule(3), [1, 2, 5, 10], None),
        (AccuracyRule(2), [1, 2, 3, 5], 5),
        (AccuracyRule(6), [1, 2, 3, 5], 9),
        (AccuracyRule(7), [1, 2, 3, 5, 10], None),
        (GATAccuracyRule(1), [1, 2, 3], 4),
        (GATAccuracyRule(2), [1, 2, 3, 5, 7], 9),
        (GATAccuracyRule(3), [1, 2, 3, 5, 7, 10], None),
        (LossRule(2), [1, 2, 4], 6),
        (LossRule(5), [1, 2, 4], 9),
        (LossRule(6), [1, 2, 4, 10], None),
    ],
    ids=str,
)
def test_by_hand(rule: StoppingRule, kept: list[int], stopped: int | None) -> None:
    assert verdicts(rule, SCORES) == (kept, stopped)


def test_patience_of_one_stops_at_the_first_disappointment() -> None:
    rule = GATRule(1)
    assert rule.update(0.5, 1.0) == Verdict(True, False)
    assert rule.update(0.4, 0.5) == Verdict(False, False)  # the loss is at its best
    assert rule.update(0.4, 0.6) == Verdict(False, True)


@pytest.mark.parametrize("name", ["gat", "accuracy", "loss"])
@pytest.mark.parametrize("cut", range(1, len(SCORES)))
def test_goes_on_from_saved_values(name: str, cut: int) -> None:
    """Saved as JSON after any epoch, a fresh rule says what the undisturbed one says."""
    rule = stopping_rule(name, 3)
    undisturbed = [rule.update(*scores) for scores in SCORES]
    first, second = stopping_rule(name, 3), stopping_rule(name, 3)
    said = [first.update(*scores) for scores in SCORES[:cut]]
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert said + [second.update(*scores) for scores in SCORES[cut:]] == undisturbed


def test_a_new_rule_has_seen_nothing() -> None:
    assert GATRule(5).state_dict() == {"best_accuracy": -inf, "best_loss": inf, "waited": 0}
    assert isinstance(stopping_rule("gat", 7), GATRule)
    assert isinstance(stopping_rule("accuracy", 7), AccuracyRule)
    assert isinstance(stopping_rule("loss", 7), LossRule)
