"""Pages: what is written, what may run in them, and that names stay text."""

import base64
import hashlib
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from mcn.train import RECIPES, train
from mcn.viz import Explanation, write_explorer, write_report
from mcn.viz.explorer import pack, render, script_json
from mcn.viz.page_data import train_command
from tests.conftest import refuses
from tests.viz.conftest import HOSTILE, Trained
from tests.viz.explorer.reading import Elements, addresses, read_page, unpack


def test_the_page_holds_the_explanation(karate: Trained, found: Explanation, tmp_path: Path) -> None:
    path = write_explorer(karate.folder, karate.data, tmp_path / "page.html")
    meta, arrays = read_page(path)
    assert (meta["nodes"], meta["edges"], meta["classes"]) == (34, 78, ["Mr. Hi", "Officer"])
    assert (meta["motifs"], meta["steps"], meta["layers"]) == (["edge", "triangle"], 2, 2)
    assert meta["summary"] == karate.run.summary
    assert arrays["edges"].tolist() == found.edges.tolist()
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


def test_a_run_of_auto_and_a_run_or_its_folder(karate: Trained, tmp_path: Path) -> None:
    """What predicts is one or more of the candidates that were trained, and so are the curves."""
    config = RECIPES["auto"].config(candidates=("mlp", "gcn"), repeats=1, max_epochs=3)
    run = train(karate.data, config, tmp_path / "run", source=karate.run.source)
    meta, _ = read_page(write_report(run, karate.data))
    predicting = meta["predictor"]["shares"]
    assert set(predicting) <= {"mlp", "gcn"}
    assert sum(predicting.values()) == pytest.approx(1)
    assert meta["curves"] is None or meta["curves"]["network"] in predicting
    # Both give the same page, and so every time the same.
    pages = [write_explorer(each, karate.data, tmp_path / "page.html").read_bytes() for each in karate[::2]]
    assert pages[0] == pages[1]
    reports = [write_report(each, karate.data).read_bytes() for each in (karate.folder, karate.run)]
    assert reports[0] == reports[1]


def test_every_step_is_told(karate: Trained, tmp_path: Path) -> None:
    """Fractions grow below 1, as the work does; whoever listens gets the same page."""
    told: list[tuple[float, str, bool]] = []
    page = tmp_path / "page.html"
    write_explorer(
        karate.folder, karate.data, page, progress=lambda done, now: told.append((done, now, page.exists()))
    )
    fractions, steps, written = zip(*told, strict=True)
    assert steps == ("predicting", "placing 34 nodes", "writing the page")
    assert 0 < fractions[0] < fractions[1] < fractions[2] < 1
    assert not any(written)
    assert (
        page.read_bytes() == write_explorer(karate.folder, karate.data, tmp_path / "quiet.html").read_bytes()
    )


def test_another_graph(karate: Trained, tmp_path: Path) -> None:
    other = karate.data.clone()
    other.edge_index = other.edge_index[:, (other.edge_index != 11).all(0)]
    page = tmp_path / "page.html"
    refuses("no longer the one the run was trained on", write_explorer, karate.folder, other, page)
    assert list(tmp_path.iterdir()) == []
    meta, _ = read_page(write_explorer(karate.folder, other, page, other_graph=True))
    assert meta["other_graph"]
    meta, _ = read_page(write_explorer(karate.folder, karate.data, page, other_graph=True))
    assert not meta["other_graph"]


@pytest.mark.parametrize("text", [*HOSTILE, "\ud800 half"], ids=range(len(HOSTILE) + 1))
def test_text_in_json_within_a_script_and_in_the_title(text: str) -> None:
    packed = script_json({text: [text]})
    assert json.loads(packed) == {text: [text]}
    assert not set(packed) & set("<>&")
    assert packed.isascii()
    refuses("not JSON compliant", script_json, [float("nan")])
    assert json.loads(script_json("\ud800")) == "\ud800"  # half a character is kept as it came
    plain, hostile = (Elements(render("explorer", each, {}, {})) for each in ("plain", text))
    assert plain.tags == hostile.tags
    assert [text for _, text in plain.scripts] == [text for _, text in hostile.scripts]


def test_only_its_own_script_and_style_may_run() -> None:
    page = Elements(render("report", "a title", {"ids": HOSTILE}, {"a": np.arange(3)}))
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv"))
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    runs = [text for attributes, text in page.scripts if "type" not in attributes]
    assert len(runs) == 1
    for rule, text in (("script-src", runs[0]), ("style-src", "".join(page.styles))):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert len(page.scripts) == 3
    assert not [a for _, a in page.tags if any(name.startswith("on") or name == "style" for name in a)]


def test_nothing_is_to_be_loaded_and_no_html_is_built_from_text() -> None:
    text = render("explorer", "a title", {}, {})
    assert addresses(text) == []
    for tag, attributes in Elements(text).tags:
        for name in ("src", "href"):
            assert (attributes.get(name) or "data:").startswith("data:"), tag
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval("):
        assert word not in text
    assert "new Function" not in text


def test_pack() -> None:
    arrays = {
        "a": np.arange(3, dtype=np.uint8),
        "b": np.array([1.5, -2], np.float32),
        "none": np.zeros(0, np.int32),
        "big": np.array([1, 65535], ">u2"),
    }
    directory, text = pack(arrays)
    kinds = [("a", "uint8", 0, 3), ("b", "float32", 8, 2), ("none", "int32", 16, 0), ("big", "uint16", 16, 2)]
    assert directory == [list(kind) for kind in kinds]
    raw = zlib.decompress(base64.b64decode(text))
    assert raw[:3] == b"\0\1\2"
    assert raw[16:20] == b"\1\xff\0\xff"  # the first bytes of both numbers, then the second ones
    assert {name: array.tolist() for name, array in unpack(directory, text).items()} == {
        name: array.tolist() for name, array in arrays.items()
    }
