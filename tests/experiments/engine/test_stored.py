"""The ledger that version 0.1.0 wrote: nothing in it is run again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from mcn.experiments import Ledger, Source, Unit, compare, run_units
from mcn.experiments.engine import runner

STORED = Path(__file__).parent / "stored" / "ledger-0.1.0.sqlite"
# `mcn compare --dataset karate --methods mcn,mcn-paper,views,gat,lp --seeds 2 --max-epochs 12`; the option
# was one of networks that choose, and mcn-paper was entered as mcn with another rule of attention.
MADE: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "mcn": ("mcn", {"max_epochs": 12}, {"max_epochs": 12, "attention": "gated"}),  # then the default
    "paper": ("mcn", {"max_epochs": 12, "attention": "paper"}, {"max_epochs": 12}),
    "views": ("views", {}, {}),
    "gat": ("gat", {"max_epochs": 12}, {"max_epochs": 12}),
    "lp": ("lp", {}, {}),
}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(shutil.copyfile(STORED, tmp_path / "ledger.sqlite"))


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "open_engine", lambda *_, **__: pytest.fail("something was run again"))


def test_every_row_is_that_of_a_unit(ledger: Ledger) -> None:
    keys = {Unit(Source("karate"), m, MADE[m][2], seed).key() for m in MADE for seed in (0, 1)}
    assert {row["key"] for row in ledger.rows()} == keys
    assert len(keys) == 10


@pytest.mark.parametrize("method", MADE)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_unit_has_the_same_key(ledger: Ledger, method: str, seed: int) -> None:
    row = ledger.get(Unit(Source("karate"), method, MADE[method][2], seed).key())
    assert row is not None
    assert (row["method"], row["settings"]) == MADE[method][:2]
    assert (row["dataset"], row["seed"], row["test"], row["version"]) == ("karate", seed, True, "0.1.0")


def test_the_former_name_of_a_method(ledger: Ledger) -> None:
    units = [Unit(Source("karate"), name, {"max_epochs": 12}) for name in ("mcn-paper", "paper")]
    assert units[0] == units[1]
    assert ledger.get(units[0].key()) is not None


@pytest.mark.usefixtures("nothing_runs")
def test_nothing_is_run_again(ledger: Ledger) -> None:
    stored = {row["key"]: row for row in ledger.rows()}
    units = [Unit(Source("karate"), m, MADE[m][2], seed) for m in MADE for seed in (0, 1)]
    rows = run_units(units, ledger, jobs=1)
    for unit, row in zip(units, rows, strict=True):
        assert row["test_accuracy"] == stored[unit.key()]["test_accuracy"]
    found = compare(Source("karate"), ["paper", "gat"], (0, 1), settings={"max_epochs": 12}, ledger=ledger)
    assert [row["method"] for row in found] == ["paper", "gat"]
