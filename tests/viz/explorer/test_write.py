from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mcn.data import load_dataset
from mcn.viz import explain, write_explorer, write_report
from mcn.viz.explorer import write
from mcn.viz.explorer.repeat import beyond_the_command, command
from tests.viz.conftest import HOSTILE, Trained, train
from tests.viz.explorer.reading import addresses, read_page


def test_the_page_holds_the_explanation(karate: Trained, tmp_path: Path) -> None:
    path = write_explorer(karate.folder, karate.data, tmp_path / "page.html")
    found = explain(karate.run, karate.data)
    meta, arrays = read_page(path)
    assert (meta["nodes"], meta["edges"], meta["classes"]) == (34, 78, ["Mr. Hi", "Officer"])
    assert (meta["motifs"], meta["steps"], meta["layers"]) == (["edge", "triangle"], 2, 2)
    assert meta["summary"] == karate.run.summary
    assert arrays["edges"].reshape(-1, 2).tolist() == found.edges.tolist()
    assert arrays["predicted"].tolist() == found.predicted.tolist()
    np.testing.assert_allclose(arrays["probabilities"].reshape(34, 2) / 65535, found.probabilities, atol=1e-5)
    alternatives = arrays["alternative_class"].reshape(4, 34)
    assert alternatives.tolist() == found.alternatives.argmax(2).tolist()
    for number, option in enumerate(found.options):
        assert arrays[f"neighbours_{number}"].tolist() == option.indices.tolist()
        assert arrays[f"weights_{number}"].tolist() == option.weights.tolist()
        for place, values in zip(("first", "last"), option.coefficients, strict=True):
            np.testing.assert_allclose(arrays[f"{place}_{number}"] / 65535, values, atol=1e-5)
    assert np.isfinite(arrays["places"]).all()
    assert addresses(path.read_text(encoding="utf-8")) == []


def test_the_page_is_the_same_every_time(karate: Trained, tmp_path: Path) -> None:
    one, other = (
        write_explorer(karate.folder, karate.data, tmp_path / name) for name in ("a.html", "b.html")
    )
    assert one.read_bytes() == other.read_bytes()


def test_names_stay_text(hostile: Trained, tmp_path: Path) -> None:
    path = write_explorer(hostile.folder, hostile.data, tmp_path / "page.html")
    meta, _ = read_page(path)
    assert meta["ids"][: len(HOSTILE)] == [each.strip() for each in HOSTILE]
    text = path.read_text(encoding="utf-8")
    assert "<img" not in text
    assert text.lower().count("</script") == 3


def test_the_report(karate: Trained) -> None:
    path = write_report(karate.folder, karate.data)
    assert path == karate.folder / "report.html"
    text = path.read_text(encoding="utf-8")
    assert '<body class="report">' in text
    meta, _ = read_page(path)
    assert meta["repeat"]["command"].startswith(
        "mcn train --dataset karate --motifs edge,triangle --steps 2 "
    )
    assert len(meta["repeat"]["fingerprint"]) == 64
    assert meta["repeat"]["note"].endswith("hold: policy_lr = 0.2")
    assert meta["curves"]["epoch"] == list(range(1, 9))


def test_the_command_gives_the_same_settings(karate: Trained) -> None:
    words = shlex.split(command(karate.run))
    given = dict(zip(words[2:-1:2], words[3:-1:2], strict=True))
    config = karate.run.config
    assert given["--hidden"] == str(config.hidden) == "4"
    assert given["--lr"] == str(config.lr)
    assert given["--seed"] == "0"
    assert words[-1] == "--normalize"
    assert beyond_the_command(karate.run) == {"policy_lr": 0.2}


def test_the_data_sets_own_settings_are_no_surprise(tmp_path: Path) -> None:
    """Pubmed's eight output heads come with `--dataset pubmed`; for one's own graph they are beyond it."""
    own = train(tmp_path / "a", load_dataset("karate"), {"dataset": "pubmed"}, output_heads=8, policy_lr=None)
    assert "output_heads" not in beyond_the_command(own.run)
    other = train(
        tmp_path / "b", load_dataset("karate"), {"graph": "edges.csv"}, output_heads=8, policy_lr=None
    )
    assert beyond_the_command(other.run) == {"output_heads": 8}
    assert " --graph edges.csv " in command(other.run)


def test_the_recipe_is_named_where_it_matters(karate: Trained, views: Trained) -> None:
    words = shlex.split(command(views.run))
    assert words[:6] == ["mcn", "train", "--dataset", "karate", "--recipe", "views"]
    assert words[6:] == [
        *("--motifs", "edge,triangle", "--hidden", "8", "--max-epochs", "3", "--seed", "0", "--normalize")
    ]
    assert beyond_the_command(views.run) == {"top": 6, "batch": 4, "unlabelled": 10}
    assert "--recipe" not in command(karate.run)
    of_cora = replace(karate.run, source={"dataset": "cora"})
    assert "--recipe paper" in command(of_cora)


def test_another_graph(karate: Trained, tmp_path: Path) -> None:
    other = karate.data.clone()
    other.edge_index = other.edge_index[:, (other.edge_index != 11).all(0)]
    with pytest.raises(ValueError, match="no longer the one the run was trained on"):
        write_explorer(karate.folder, other, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []
    meta, _ = read_page(write_explorer(karate.folder, other, tmp_path / "page.html", other_graph=True))
    assert meta["other_graph"]
    meta, _ = read_page(write_explorer(karate.folder, karate.data, tmp_path / "page.html", other_graph=True))
    assert not meta["other_graph"]


def test_a_graph_too_large_to_draw(karate: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "MOST_NODES", 33)
    with pytest.raises(ValueError, match="34 nodes and 78 edges are too many to draw"):
        write_explorer(karate.folder, karate.data, tmp_path / "page.html")
    meta, arrays = read_page(write_report(karate.folder, karate.data))
    assert "too many to draw" in meta["not_drawn"]
    assert arrays == {}
    assert meta["confusion"]["test"]
