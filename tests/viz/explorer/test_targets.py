"""Pages of runs whose target is a number, or several yes/no: what they hold, and what a browser shows."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, r2_score, roc_auc_score

from mcn.train.tasks import Classes, Regression
from mcn.viz import explain, write_explorer, write_report
from tests.train.test_tasks import planted
from tests.viz.conftest import HOSTILE, Trained, train
from tests.viz.explorer.conftest import Page
from tests.viz.explorer.reading import read_page


def run_of(kind: str, folder: Path) -> Trained:
    data = planted(kind, 120)
    data.classes = HOSTILE[: len(data.classes)]
    return train(folder / "run", data, motifs=("edge", "triangle"))


def test_bands_by_hand() -> None:
    targets, train = np.array([10.0, 20, 30, 40, 50, np.nan]), np.array([1, 1, 1, 1, 1, 0], bool)
    outputs = np.array([[[18.0], [18.1], [99], [0], [34], [42.5]], [[99.0]] * 6])
    shown = Regression(30, 14).displayed(outputs, targets, ["income"], train, None)
    assert shown.classes == ["up to 18", "18 to 26", "26 to 34", "34 to 42", "above 42"]
    assert shown.truth.tolist() == [0, 1, 2, 3, 4, -1]
    assert shown.predicted.tolist() == [[0, 1, 4, 0, 2, 4], [4] * 6]


def test_the_threshold_decides_what_is_shown(karate: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(karate.run.memory.state, "task", Classes(2, 0.3125).to_dict())
    found = explain(karate.run, karate.data)
    np.testing.assert_array_equal(found.predicted, found.probabilities[:, 1] >= 0.3125)
    meta, arrays = read_page(write_report(karate.run, karate.data))
    assert meta["note"] == "from 0.31 on a node is predicted as 'Officer' (threshold from validation nodes)"
    np.testing.assert_array_equal(arrays["alternative_class"], found.alternatives[..., 1].ravel() >= 0.3125)


def test_a_page_of_numbers(browser: Page, tmp_path: Path) -> None:
    folder, data, run = run_of("regression", tmp_path)
    outputs, (meta, arrays) = run.predict(data).probabilities[:, 0], read_page(write_report(folder, data))
    np.testing.assert_array_equal(arrays["number"], outputs)
    assert not {"probabilities", "alternative_probability"} & set(arrays)
    nodes, found = data.test_mask.numpy(), meta["details"]["test"]
    np.testing.assert_allclose(found["points"], np.stack([data.y.numpy(), outputs], 1)[nodes], rtol=1e-6)
    assert found["scores"]["r2"] == pytest.approx(r2_score(data.y[nodes], outputs[nodes]), abs=1e-5)
    assert browser.open(folder / "report.html") == "webgl"
    titles = [f"Predicted against true: {part} nodes" for part in ("test", "validation")]
    assert browser.texts("#charts h3")[:3] == [*titles, "R2 while training: MCN"]
    assert len(browser.all("#charts .box:first-child circle")) == nodes.sum()
    assert browser.text("#report .stat b") == f"{run.summary['scores']['test']['r2']:.3f}"
    browser.find("7")
    assert float(browser.table("#node table")[1][1]) == pytest.approx(outputs[7], rel=1e-4)
    assert browser.text("#mode option") == f"true {HOSTILE[0][:39]}…"
    assert "%" not in "".join(browser.texts("#node .cards span, #tip, #said"))
    assert browser.complaints == []


def test_a_page_of_several_targets(browser: Page, tmp_path: Path) -> None:
    _, data, run = run_of("multilabel", tmp_path)
    outputs, page = run.predict(data).probabilities, write_explorer(run, data, target=HOSTILE[1])
    np.testing.assert_array_equal(read_page(page)[1]["truth"], data.y[:, 1])
    np.testing.assert_array_equal(read_page(page)[1]["predicted"], outputs[:, 1] >= 0.5)
    assert browser.open(page) == "webgl"
    assert browser.text(".decision").startswith(f"Shown is {HOSTILE[1]}, one of 3 targets; ")
    yes, own = data.y.numpy()[data.test_mask], outputs[data.test_mask]
    for i, row in enumerate(browser.table("#run table", 2)[1:]):
        areas = [score(yes[:, i], own[:, i]) for score in (average_precision_score, roc_auc_score)]
        assert [float(cell[:-2]) / 100 for cell in row[2:]] == pytest.approx(areas, abs=6e-4)
        assert row[:2] == [HOSTILE[i], f"{100 * yes[:, i].mean():.1f} %"]
    assert browser.complaints == []


def test_a_skewed_target_is_spread_out_and_no_title_lies_on_a_number(browser: Page, tmp_path: Path) -> None:
    data = planted("regression", 300)
    data.y = torch.round(torch.exp(data.y / 5))  # a few hundred to some millions
    run = train(tmp_path / "run", data, motifs=("edge",)).run
    assert browser.open(write_report(run, data)) == "webgl"
    chart = "#charts .scatter"
    assert "Both axes are logarithmic" in browser.text("#charts .box:first-child .note")
    across = [float(dot.get_attribute("cx")) for dot in browser.all("#charts .box:first-child circle")]
    assert np.diff(np.quantile(across, (0.1, 0.9))) > 0.3 * 380  # of the width of the chart
    boxes = [[each.rect for each in browser.all(f"{chart} text.{kind}")] for kind in ("axis", "tick")]
    for n, one in enumerate([*boxes[0], *boxes[1]]):
        for other in [*boxes[0], *boxes[1]][:n]:
            apart = [
                one[at] + one[size] <= other[at] + 0.5 or other[at] + other[size] <= one[at] + 0.5
                for at, size in (("x", "width"), ("y", "height"))
            ]
            assert any(apart), (one, other)
    cells = {row[0].split(" ")[0]: row[-1] for row in browser.table("#scores table")[1:]}
    mse = run.summary["scores"]["test"]["mse"]
    assert cells["msemean"] == f"{float(f'{mse:.4g}'):,.0f}"
    assert cells["rmsesquare"] == f"{float(f'{mse**0.5:.4g}'):,.0f}"
    assert browser.complaints == []
