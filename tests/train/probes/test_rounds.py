"""Runs on the given parts and on parts that are dealt out anew."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from mcn.train.probes.rounds import DEALS, Rounds

from mcn.train.problem import Known


def known(at_random: bool = True) -> Known:
    labels = torch.tensor([0, 0, 0, 0, 0, 1, 1, 1, -1, 2, 2])
    return Known(labels, np.array([0, 1, 2, 5]), np.array([3, 4, 6, 7, 9, 10]), 3, at_random)


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_dealt_out_anew_class_by_class(seed: int) -> None:
    given = known()
    dealt = given.dealt_anew(seed)
    assert sorted([*dealt.train, *dealt.val]) == [0, 1, 2, 3, 4, 5, 6, 7, 9, 10]  # node 8 is for testing
    assert np.bincount(given.labels.numpy()[dealt.train], minlength=3).tolist() == [3, 1, 0]
    assert dealt.labels is given.labels
    assert (dealt.train == np.sort(dealt.train)).all()
    again = given.dealt_anew(seed)
    assert np.array_equal(again.train, dealt.train)


def test_every_node_is_dealt_to_either_part() -> None:
    trained = [set(known().dealt_anew(seed).train.tolist()) for seed in range(50)]
    assert set.union(*trained) == {0, 1, 2, 3, 4, 5, 6, 7}  # no node of class 2 was for training
    assert not set.intersection(*trained)


def test_only_chance_may_be_repeated_and_only_beside_several_runs() -> None:
    assert Rounds.of(known(), 3) == (3, DEALS)
    assert Rounds.of(known(at_random=False), 3) == (3, 0)
    assert Rounds.of(known(), 1) == (1, 0)


@pytest.mark.parametrize(("nodes", "deals"), [(5, 4), (400, 4), (500, 3), (999, 2), (1000, 1), (2000, 0)])
def test_many_validation_nodes_need_no_others(nodes: int, deals: int) -> None:
    assert Rounds.of(known()._replace(val=np.arange(nodes)), 3).deals == deals


def test_which_runs_are_on_which_parts() -> None:
    rounds, given = Rounds(3, 2), known()
    assert rounds.total == 5
    assert [rounds.deals_out(i) for i in range(5)] == [False, True, True, False, False]
    assert rounds.known(given, 0, seed=7) is rounds.known(given, 3, seed=7) is given
    first, second = (rounds.known(given, i, seed=7) for i in (1, 2))
    assert not np.array_equal(first.train, second.train)
    assert not np.array_equal(first.train, rounds.known(given, 1, seed=8).train)
    assert not any(Rounds(3, 0).deals_out(i) for i in range(3))


def test_the_given_parts_count_once() -> None:
    runs = [
        {"candidate": "gcn", "round": number, "held_out": value}
        for number, value in enumerate([0.5, 0.8, 0.6, 0.7, 0.9])
    ]
    found = Rounds(3, 2).scores(runs)
    assert {unit: round(value, 6) for unit, value in found["gcn"].items()} == {0: 0.7, 1: 0.8, 2: 0.6}
    assert Rounds(5, 0).scores(runs)["gcn"] == {0: 0.5, 1: 0.8, 2: 0.6, 3: 0.7, 4: 0.9}
