from __future__ import annotations

import json

import pytest

from mcn.baselines import METHODS
from mcn.experiments import Source, Unit
from mcn.train import RECIPES
from tests.cli.conftest import Run, refused

CONTROLS = ("gat-consistency", "gcn-consistency")


def test_json(mcn: Run) -> None:
    code, out, err = mcn("methods", "--json")
    assert (code, err) == (0, "")
    content = json.loads(out)
    assert list(content) == ["methods"]
    rows = {row["name"]: row for row in content["methods"]}
    assert list(rows) == list(METHODS)
    for row in rows.values():
        assert list(row) == ["name", "title", "needs", "installed", "trained", "can"]
        assert row["title"]
    for name in (*RECIPES, "gat", "gcn", "mlp", "gat-paper", "gcn-paper", *CONTROLS):
        row = rows[name]
        assert (row["needs"], row["installed"], row["trained"]) == ([], True, True)
        assert row["can"] == ["probabilities", "new nodes", "explain"]
    for name in ("majority", "lp", "grand", "twins"):
        assert not rows[name]["trained"]
        assert rows[name]["can"] == ([] if name == "lp" else ["probabilities"])
    assert rows["deepwalk"]["needs"] == ["sklearn"]


def test_a_trained_method_has_settings_and_no_other_has(mcn: Run) -> None:
    for row in json.loads(mcn("methods", "--json").out)["methods"]:
        assert (Unit(Source("karate"), row["name"]).config() is not None) == row["trained"]


def test_listing(mcn: Run) -> None:
    code, out, err = mcn("methods")
    assert (code, err) == (0, "")
    lines = [line.split(maxsplit=2) for line in out.splitlines()]
    assert [line[0] for line in lines] == list(METHODS)
    kinds = {name: kind for name, kind, _ in lines}
    assert {name for name, kind in kinds.items() if kind == "trained"} == {
        *RECIPES, "gat", "gcn", "mlp", "gat-paper", "gcn-paper", *CONTROLS
    }  # fmt: skip
    assert set(kinds.values()) == {"trained", "baseline"}
    for name, _, title in lines:
        assert title.startswith(METHODS[name].title)


def test_a_package_that_is_not_installed(mcn: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcn.cli.methods.find_spec", lambda name: None)
    lines = {line.split()[0]: line for line in mcn("methods").out.splitlines()}
    assert lines["ica"].endswith("  (pip install 'mcn[baselines]')")
    assert "pip install" not in lines["lp"]
    rows = {row["name"]: row for row in json.loads(mcn("methods", "--json").out)["methods"]}
    assert (rows["ica"]["installed"], rows["lp"]["installed"]) == (False, True)


def test_wrong_use(mcn: Run) -> None:
    assert refused(mcn("methods", "--jsn")) == "no option '--jsn'; did you mean '--json'?"
    assert "stray" in refused(mcn("methods", "stray"))
    assert refused(mcn("method")) == "no verb 'method'; did you mean 'methods'?"
