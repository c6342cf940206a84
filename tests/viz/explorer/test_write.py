from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcn.train import RECIPES, train
from mcn.viz import explain, explorer, write_explorer, write_report
from mcn.viz.train_command import train_command
from tests.viz.conftest import HOSTILE, Trained
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
    assert meta["repeat"]["command"] == train_command(karate.run)
    assert meta["repeat"]["config"] == karate.run.config.to_dict()
    assert len(meta["repeat"]["fingerprint"]) == 64
    assert list(meta["repeat"]) == ["command", "config", "source", "fingerprint"]
    assert meta["curves"]["epoch"] == list(range(1, 9))


def test_a_run_of_auto(karate: Trained, tmp_path: Path) -> None:
    """What predicts is one or more of the candidates that were trained, and so are the curves."""
    config = RECIPES["auto"].config(candidates=("mlp", "gcn"), repeats=1, max_epochs=3)
    run = train(karate.data, config, tmp_path / "run", source=karate.run.source)
    meta, _ = read_page(write_report(run, karate.data))
    predicting = meta["predictor"]["shares"]
    assert set(predicting) <= {"mlp", "gcn"}
    assert sum(predicting.values()) == pytest.approx(1)
    assert meta["curves"] is None or meta["curves"]["network"] in predicting


def test_a_run_or_its_folder(karate: Trained, tmp_path: Path) -> None:
    """Both give the same page, and so every time the same."""
    pages = [write_explorer(each, karate.data, tmp_path / "page.html").read_bytes() for each in karate[::2]]
    assert pages[0] == pages[1]
    reports = [write_report(each, karate.data).read_bytes() for each in (karate.folder, karate.run)]
    assert reports[0] == reports[1]


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
    monkeypatch.setattr(explorer, "MOST_NODES", 33)
    with pytest.raises(ValueError, match="34 nodes and 78 edges are too many to draw"):
        write_explorer(karate.folder, karate.data, tmp_path / "page.html")
    meta, arrays = read_page(write_report(karate.folder, karate.data))
    assert "too many to draw" in meta["not_drawn"]
    assert arrays == {}
    assert meta["confusion"]["test"]
