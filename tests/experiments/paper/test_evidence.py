"""Runs that are kept as text: written from a ledger, read, rendered, run again."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from mcn.experiments import Ledger, Source, Unit
from mcn.experiments.engine.unit import run_unit
from mcn.experiments.paper import check_table, render_table, reproduce_table
from mcn.experiments.paper.evidence import COLUMNS, Kept, check, kept_cells, read_kept, write_kept
from mcn.experiments.paper.plan import Entry


def entry(method: str, seeds: int) -> Entry:
    return Entry("karate", method, tuple(Unit(Source("karate"), method, seed=s) for s in range(seeds)))


def kept(method: str, seed: int, test: float, dataset: str = "karate") -> Kept:
    return Kept(dataset, method, seed, 0.5, test, None, 0.1, "0.2.0", "00")


def test_what_a_ledger_has_is_written_and_read(tmp_path: Path) -> None:
    entries = [entry("majority", 2), entry("lp", 2), entry("planetoid-t", 2)]
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for unit in (entries[1].units[1], entries[0].units[0], entries[1].units[0]):
        ledger.add(run_unit(unit))
    path = write_kept(tmp_path / "results", "table2", entries, ledger)
    assert path == tmp_path / "results" / "table2.csv"
    found = read_kept(path)
    assert [(run.method, run.seed) for run in found] == [("majority", 0), ("lp", 0), ("lp", 1)]
    for run in found:
        row = ledger.rows(method=run.method, seed=run.seed)[0]
        assert row["key"].startswith(run.key)
        assert (run.version, run.epochs) == (row["version"], row["epochs"])
        assert run.test_accuracy == pytest.approx(row["test_accuracy"], abs=1e-6)
        assert run.val_accuracy == pytest.approx(row["val_accuracy"], abs=1e-6)
    again = check(entries, found, 3, jobs=1, chance=random.Random(0))
    assert {(one.kept.method, one.kept.seed) for one in again} == {("majority", 0), ("lp", 0), ("lp", 1)}
    assert all(one.same for one in again)
    wrong = replace(found[0], test_accuracy=found[0].test_accuracy + 0.01)
    assert [one.same for one in check(entries, [wrong], 5, jobs=1)] == [False]


def test_what_the_file_has_stays_beside_what_another_ledger_adds(tmp_path: Path) -> None:
    entries = [entry("majority", 2), entry("lp", 1)]
    first, second = Ledger(tmp_path / "one.sqlite"), Ledger(tmp_path / "two.sqlite")
    first.add(run_unit(entries[0].units[0]))
    first.add(run_unit(entries[1].units[0]))
    second.add(run_unit(entries[0].units[1]))
    path = write_kept(tmp_path, "table2", entries, first)
    before = read_kept(path)
    write_kept(tmp_path, "table2", entries, second)
    found = read_kept(path)
    assert [(run.method, run.seed) for run in found] == [("majority", 0), ("majority", 1), ("lp", 0)]
    assert [found[0], found[2]] == before
    with path.open("a") as file:
        file.write("cora,gat,200,0.5,0.5,7,0.1,0.2.0,ffffffffffffffff\n")
    write_kept(tmp_path, "table2", entries, second)
    assert read_kept(path) == [replace(kept("gat", 200, 0.5, "cora"), epochs=7, key="f" * 16), *found]
    stale = path.read_text().replace(before[0].key, "0" * 16)  # as of other settings
    path.write_text(stale)
    write_kept(tmp_path, "table2", entries, second)
    assert [(run.method, run.seed) for run in read_kept(path)] == [("gat", 200), ("majority", 1), ("lp", 0)]


def test_what_a_folder_has_is_not_run_again_in_any_table(data_root: Path, tmp_path: Path) -> None:
    options = {"datasets": ["cora"], "data_root": data_root, "jobs": 1, "keep": tmp_path / "kept"}
    reproduce_table("table2", tmp_path / "a", seeds=[0], methods=["gcn-ensemble", "lp"], **options)
    path = tmp_path / "kept" / "table2.csv"
    gcn = next(run for run in read_kept(path) if run.method == "gcn-ensemble")
    # A figure that no run would give shows whose it is.
    path.write_text(path.read_text().replace(f",{gcn.test_accuracy},", ",0.125,"))
    found = reproduce_table("controls", tmp_path / "b", seeds=[0], methods=["gcn-ensemble"], **options)
    assert [(row["method"], row["mean"]) for row in found["rows"]] == [("gcn-ensemble", 12.5)]
    assert found["taken"] == 1
    assert len(Ledger(tmp_path / "b" / "ledger.sqlite")) == 0
    assert "One run was kept from before and not made again." in (tmp_path / "b" / "report.md").read_text()
    assert read_kept(tmp_path / "kept" / "controls.csv") == [replace(gcn, test_accuracy=0.125)]
    options["keep"] = tmp_path / "empty"
    again = reproduce_table("controls", tmp_path / "c", seeds=[0], methods=["gcn-ensemble"], **options)
    assert (again["taken"], again["rows"][0]["mean"]) == (0, pytest.approx(100 * gcn.test_accuracy))


def test_cells_say_what_is_missing() -> None:
    runs = [kept("majority", 0, 0.25), kept("majority", 1, 0.75), kept("lp", 1, 0.5)]
    entries, cells = kept_cells([entry("majority", 2), entry("lp", 2), entry("ica", 2)], runs)
    assert [own.note for own in entries] == ["", "1 of 2 runs", "not run yet"]
    majority = cells["karate", "majority"]
    assert majority is not None
    assert (majority.mean, majority.runs) == (50.0, 2)
    assert cells["karate", "ica"] is None


def test_nothing_to_run_again() -> None:
    with pytest.raises(ValueError, match="no kept run belongs to what was asked for"):
        check([entry("lp", 1)], [kept("lp", 7, 0.5)], 1)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("a,b\n", "line 1 is a,b; expected dataset,method,seed"),
        ("", "line 1 is ; expected dataset,method"),
        (f"{','.join(COLUMNS)}\ncora,lp,0,0.5\n", "line 2 is cora,lp,0,0.5; expected a run"),
        (f"{','.join(COLUMNS)}\ncora,lp,0,0.5,1.5,,1,0.2.0,ab\n", "line 2 is cora,lp,0,0.5,1.5"),
    ],
    ids=str,
)
def test_a_file_that_is_none(lines: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "table2.csv"
    path.write_text(lines)
    with pytest.raises(ValueError, match=message):
        read_kept(path)


def test_a_table_from_its_file(data_root: Path, tmp_path: Path) -> None:
    options = {"methods": ["lp", "majority"], "datasets": ["cora"], "data_root": data_root, "jobs": 1}
    ran = reproduce_table("table2", tmp_path / "a", seeds=[0, 1], keep=tmp_path / "kept", **options)
    shown = render_table("table2", tmp_path / "kept", tmp_path / "b", command="mcn reproduce …")
    rows = {(row["dataset"], row["method"]): row for row in shown["rows"]}
    for row in ran["rows"]:
        own = rows[row["dataset"], row["method"]]
        assert (own["mean"], own["std"], own["test"]) == (row["mean"], row["std"], row["test"])
    assert rows["pubmed", "gat"]["runs"] == 0
    text = (tmp_path / "b" / "report.md").read_text()
    assert "Run here on cora: 2 runs each (seeds 0 to 1) of majority, lp; no run of deepwalk, mlp" in text
    assert "this call ran none" in text
    again = check_table("table2", tmp_path / "kept", 2, **options)
    assert all(one.same for one in again)
    with pytest.raises(ValueError, match="already holds results"):
        render_table("table2", tmp_path / "kept", tmp_path / "b")
