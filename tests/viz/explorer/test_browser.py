"""The page of a real run in a real browser."""

import io
import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcn.paper.figures_of_runs import option_name
from mcn.train import RECIPES
from mcn.train import train as train_run
from mcn.train.folder import extend_summary
from mcn.train.metrics import METRICS, TASK_METRICS
from mcn.viz import Explanation, explain, explorer, sample, write_explorer, write_report
from mcn.viz.page_data import calibrations
from tests.conftest import refuses
from tests.viz.conftest import CANDIDATES, HOSTILE, Trained, candidate_run
from tests.viz.explorer.conftest import DOWN, ENTER, ESCAPE, LEFT, RIGHT, TAB, UP, Page
from tests.viz.explorer.reading import read_page

BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"


@pytest.fixture
def page(browser: Page, explorer: Path) -> Page:
    assert browser.open(explorer) == "webgl"
    return browser


def picture(page: Page) -> np.ndarray:
    """The graph as it is on the screen, [height, width, 3], 0 to 255."""
    image = pytest.importorskip("matplotlib.image")
    png = page.one("#graph").screenshot_as_png
    return np.rint(image.imread(io.BytesIO(png), format="png")[..., :3] * 255)


def shows(page: Page, colour: str) -> bool:
    """Whether at least ten pixels have nearly this colour."""
    wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return bool((np.abs(picture(page) - wanted).max(2) < 30).sum() >= 10)


def legend(page: Page) -> list[tuple[str, str]]:
    return list(zip(page.texts("#legend .name"), page.texts("#legend .count"), strict=True))


def test_it_opens_without_a_complaint_or_a_request_and_can_make_none(page: Page, explorer: Path) -> None:
    page.find("33")
    assert page.complaints == []
    asked = [address for address in page.requests if not address.startswith("data:")]
    assert asked == [explorer.as_uri()]
    assert page.driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert page.text("h1") == "karate: explorer"
    words = page.text("#headline").split(" · ")
    assert words[:2] == ["34 nodes, 78 edges", "MCN on the motifs edge, triangle, up to 2 steps"]
    assert words[2].startswith("accuracy on test nodes ")
    # Even a script within the page could not ask for anything.
    told = "() => arguments[0]('answered'), () => arguments[0]('refused')"
    assert page.driver.execute_async_script(f"fetch('https://example.org').then({told})") == "refused"
    assert any("Content Security Policy" in line for line in page.complaints)


def test_a_click_on_a_node(page: Page, found: Explanation) -> None:
    page.centre("33")
    assert "Click a node" in page.text("#node")
    page.click_middle()
    assert page.text("#node h2") == "33"
    assert page.one("#tab-node").get_attribute("aria-selected") == "true"
    chips = page.texts("#node .chip")
    assert chips[1:3] == ["17 neighbours", "true: Officer"]
    names, values = page.texts("#node > .bars .name"), page.texts("#node > .bars .number")
    best = found.predicted[33]
    assert names[0].startswith(found.classes[best])
    assert values[0] == f"{100 * found.probabilities[33, best]:.1f} %"


def test_the_panel_says_what_the_explanation_says(page: Page, found: Explanation) -> None:
    node = 0
    page.find(str(node))
    cards = page.texts("#node .cards > *")
    assert len(cards) == 1 + len(found.options)
    assert "16 neighbours" in cards[0]
    for number, (card, option) in enumerate(zip(cards[1:], found.options, strict=True)):
        other = found.alternatives[number, node]
        assert option_name(found, number) in card
        assert f"{option.total[node] - 1} neighbours" in card
        assert f"→ {found.classes[other.argmax()]} {100 * other.max():.0f} %" in card
        layers = (np.flatnonzero(found.chosen[node] == number) + 1).tolist()
        assert ("● chosen" in card) == bool(layers)
        assert f"● chosen, layer {', '.join(map(str, layers))}" in card or not layers
    right = found.alternatives[:, node].argmax(1) == found.truth[node]
    named = [option_name(found, number) for number in np.flatnonzero(right)]
    said = f"under: {'; '.join(named)}." if named else "wrong under every choice."
    assert page.text("#right-under").endswith("right under every choice." if right.all() else said)
    f = found.motif_probs[1]
    assert f"{100 * f[node, 0]:.1f} %" in page.texts("#node .layers > div")[1]


def test_weights_and_attention_of_every_neighbour(page: Page, found: Explanation) -> None:
    node, number = 0, 2
    page.find(str(node))
    page.one(f"#node [data-option='{number}']").click()
    page.settle()
    option = found.options[number]
    row = option.row(node)
    _, *rows = page.table("#node table")
    assert [cells[0] for cells in rows] == ["itself", *map(str, option.indices[row][1:])]
    assert [float(cells[2]) for cells in rows] == pytest.approx(option.weights[row])
    for column, values in zip((3, 4), option.coefficients, strict=True):
        assert [cells[column] for cells in rows] == [f"{100 * value:.1f} %" for value in values[row]]
    assert page.one(f"#node [data-option='{number}']").get_attribute("aria-pressed") == "true"
    page.all("#node tbody .link")[0].click()  # to the first neighbour
    assert page.text("#node h2") == str(option.indices[row][1])
    cut = int((found.options[1].total > 30).nonzero()[0][0])
    page.find(str(cut))
    page.one("#node [data-option='1']").click()
    assert f"and {found.options[1].total[cut] - 30} more: this page holds at most 30 per row" in page.text(
        "#node"
    )


def test_colours_and_legend(page: Page, found: Explanation) -> None:
    assert legend(page) == [("Mr. Hi", "17"), ("Officer", "17")]
    options = page.texts("#mode option")
    assert options[:4] == ["true class", "predicted class", "right or wrong", "part of the split"]
    choices = [f"{what} chosen in layer {layer}" for layer in (1, 2) for what in ("motif", "steps")]
    assert options[4:] == choices
    for place, name in enumerate(options):
        page.all("#mode option")[place].click()
        page.settle()
        assert sum(int(count) for _, count in legend(page)) == 34, name
    page.all("#mode option")[2].click()
    right = int((found.truth == found.predicted).sum())
    assert legend(page) == [("right", str(right)), ("wrong", str(34 - right))]
    page.all("#mode option")[4].click()
    edge = int((found.motif[:, 0] == 0).sum())
    assert legend(page) == [("edge", str(edge)), ("triangle", str(34 - edge))]


def test_the_legend_filters(page: Page, found: Explanation) -> None:
    assert [shows(page, colour) for colour in (BLUE, ORANGE, GREEN)] == [True, True, False]
    hi, officer = page.all("#legend button")
    page.one("[data-zoom='fit']").click()
    page.settle()
    hi.click()
    page.settle()
    assert [each.get_attribute("aria-pressed") for each in (hi, officer)] == ["true", "false"]
    assert shows(page, BLUE)
    assert not shows(page, ORANGE)
    page.centre("33")
    page.click_middle()  # an officer is there, but filtered out
    assert "Click a node" in page.text("#node")
    officer.click()
    page.click_middle()
    assert page.text("#node h2") == "33"
    page.one("#all").click()
    assert {each.get_attribute("aria-pressed") for each in (hi, officer)} == {"false"}
    assert not page.one("#all").is_displayed()


def test_search(page: Page) -> None:
    field = page.one("#search")
    field.send_keys("3")
    assert page.texts("#hits li") == ["3", "30", "31", "32", "33", "13", "23"]
    assert page.text("#found") == "7 found"
    page.press(DOWN, DOWN, UP, DOWN)
    selected = [hit.get_attribute("aria-selected") for hit in page.all("#hits li")]
    assert selected[:3] == ["false", "true", "false"]
    assert field.get_attribute("aria-activedescendant") == "hit-1"
    page.press(ENTER)
    assert page.text("#node h2") == "30"
    page.all("#hits li")[-1].click()
    assert page.text("#node h2") == "23"
    field.clear()
    field.send_keys("34")
    assert page.text("#found") == "no node has this in its id"
    page.press(ESCAPE)
    assert page.texts("#hits li") == []


def test_by_keyboard_alone(page: Page, found: Explanation) -> None:
    page.press("/")
    assert page.driver.switch_to.active_element.get_attribute("id") == "search"
    page.press("11", ENTER)  # node 11 has one neighbour, node 0
    page.press(ESCAPE)
    assert page.driver.switch_to.active_element.get_attribute("id") == "graph"
    page.press(RIGHT)
    assert page.text("#said") == "node 0"
    page.press(ENTER)
    assert page.text("#node h2") == "0"
    assert page.text("#said").startswith("node 0, predicted ")
    around = sorted(int(v) for v in np.unique(found.edges[(found.edges == 0).any(1)]) if v)
    page.press(RIGHT, RIGHT, LEFT)
    assert page.text("#said") == f"node {around[0]}"
    page.press("+", "-", "0")
    page.press(ESCAPE)
    assert page.text("#said") == "no node selected"
    reached = set()
    for _ in range(25):
        page.press(TAB)
        reached.add(page.driver.switch_to.active_element.get_attribute("id"))
    assert {"search", "graph", "tab-node", "mode", "theme"} <= reached


def test_hover_shows_details_and_the_graph_is_panned_and_zoomed(page: Page) -> None:
    page.find("33")
    page.actions.move_to_element(page.one("#graph")).perform()
    page.settle()
    tip = page.one("#tip")
    assert tip.is_displayed()
    assert tip.text.splitlines()[0] == "33"
    assert "true: Officer" in tip.text
    assert "17 neighbours" in tip.text
    page.actions.move_to_element(page.one("#legend")).perform()
    assert not tip.is_displayed()
    page.press(ESCAPE)
    graph = page.one("#graph")
    page.actions.drag_and_drop_by_offset(graph, 150, 90).perform()
    page.press(ESCAPE)
    page.actions.move_to_element_with_offset(graph, 150, 90).click().perform()
    assert page.text("#node h2") == "33"
    before = picture(page)
    page.one("[data-zoom='in']").click()
    page.settle()
    assert (picture(page) != before).any()


def test_the_run(page: Page, karate: Trained, found: Explanation) -> None:
    assert page.texts("#run .stat span")[0] == "accuracy on test nodes"
    assert page.text("#run .stat b") == f"{100 * karate.run.summary['test_accuracy']:.1f} %"
    assert page.text("#run .predictor") == "All nodes are predicted by MCN."
    assert page.text("#run .note") == f"How it was measured: {karate.run.summary['protocol']}."
    assert page.texts("#run .remarks li") == karate.run.summary["remarks"]
    assert page.texts("#run h3") == [
        *(
            "Metrics",
            "Compared with simpler methods",
            "Accuracy while training: MCN",
            "Loss while training: MCN",
        ),
        *(
            "Motif and steps that nodes chose, by layer",
            "Confusion matrix",
            "Accuracy by class",
            "Calibration",
        ),
        *("Choices by true class", "Choices by number of neighbours"),
    ]
    for layer, bar in enumerate(page.all("#run .stack")[:2]):
        counts = np.bincount(found.chosen[:, layer], minlength=4)
        told = ", ".join(f"{option_name(found, o)} {100 * n / 34:.0f} %" for o, n in enumerate(counts))
        assert bar.get_attribute("aria-label") == f"layer {layer + 1}: {told}"
    cells = page.texts("#run td.cell")
    mine = found.split == 3
    counts = [int(((found.truth == t) & (found.predicted == p) & mine).sum()) for t in (0, 1) for p in (0, 1)]
    assert [0 if cell == "·" else int(cell) for cell in cells] == counts
    page.all("#run .switch button")[2].click()
    assert sum(0 if cell == "·" else int(cell) for cell in page.texts("#run td.cell")) == 4  # training nodes
    assert len(page.all("#run polyline")) == 5  # two curves, twice, and that of calibration


def test_light_and_dark(page: Page, explorer: Path) -> None:
    ground = "return getComputedStyle(document.documentElement).backgroundColor"
    assert page.driver.execute_script(ground) == "rgb(251, 251, 249)"
    page.one("#theme").click()
    assert page.driver.execute_script(ground) == "rgb(17, 21, 27)"
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        page.open(explorer)
        assert page.driver.execute_script(ground) == "rgb(17, 21, 27)"
        assert page.complaints == []
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_tabs_and_that_it_fits_a_laptop(page: Page) -> None:
    for key, tab, shown in (("", "run", "#run"), (RIGHT, "run", "#node"), (LEFT, "node", "#run")):
        page.one(f"#tab-{tab}").send_keys(key)
        assert [part for part in ("#run", "#node") if page.one(part).is_displayed()] == [shown]
    page.find("0")
    for box in ("document.documentElement", "document.body", "document.getElementById('node')"):
        wide = page.driver.execute_script(f"return [{box}.scrollWidth, {box}.clientWidth]")
        assert wide[0] <= wide[1], box


def test_hostile_names(browser: Page, hostile_page: Path) -> None:
    assert browser.open(hostile_page) == "webgl"
    assert browser.driver.title == "<svg onload=alert(1)>.csv: explorer"
    for place, name in enumerate(HOSTILE):
        field = browser.one("#search")
        typed = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
        browser.driver.execute_script(typed, field, name[:60])
        field.send_keys(ENTER)
        shown, whole = browser.text("#node h2"), name.strip()
        if len(whole) <= 80:
            assert shown == whole, place
        else:
            assert len(shown) == 80
            browser.one("#node .link").click()
            assert browser.text("#node h2") == whole
    assert browser.texts("#legend .name") == sorted(HOSTILE[:2])
    assert browser.driver.title == "<svg onload=alert(1)>.csv: explorer"
    assert browser.all("img, iframe, object, b > b, i > b") == []
    assert browser.driver.execute_script("return document.scripts.length") == 3
    assert browser.complaints == []


def test_without_webgl(browser_without_webgl: Page, explorer: Path) -> None:
    page = browser_without_webgl
    assert page.open(explorer) == "canvas"
    assert shows(page, BLUE)
    assert shows(page, ORANGE)
    page.centre("33")
    page.click_middle()
    assert page.text("#node h2") == "33"
    assert [line for line in page.complaints if "WebGL" not in line] == []


def shown(metric: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if metric == "log-loss" else f"{100 * value:.1f} %"


def test_the_report_its_calibration_curve_and_its_metrics(
    browser: Page, report: Path, karate: Trained, found: Explanation
) -> None:
    assert browser.open(report) == "webgl"
    assert browser.text("#report .stat b") == f"{100 * karate.run.summary['test_accuracy']:.1f} %"
    command = browser.text("#command")
    assert command.startswith("mcn train --dataset karate --motifs edge,triangle --hidden 4 ")
    assert " --steps 2 " in command
    assert " --set policy_lr=0.2 " in command
    assert karate.run.summary["versions"]["torch"] in browser.text("#repeat")
    assert karate.run.summary["protocol"] in browser.text("#report")
    assert len(browser.all("#charts .box")) == 8
    # The curve of calibration: a dot for every bin that has nodes, and the parts of the split.
    expected = calibrations(found)["test"]
    bins = zip(expected["confidence"], expected["accuracy"], expected["count"], strict=True)
    assert browser.texts("#charts .calibration title") == [
        f"{sure:.0%} sure: {right:.0%} right ({count} nodes)".replace("%", " %")
        for sure, right, count in bins
    ]
    (box,) = [box for box in browser.all("#charts .box") if "Calibration" in box.text]
    assert f"{100 * expected['error']:.1f} points" in box.text
    buttons = [button.text for button in box.find_elements("css selector", "button")]
    assert buttons == ["test", "validation", "training"]
    # The metrics.
    summary = karate.run.summary
    assert browser.texts("#scores h3") == ["Metrics", "Compared with simpler methods"]
    head, *rows = browser.table("#scores table", 0)
    assert head == ["metric", *(f"{part} nodes" for part in ("training", "validation", "test"))]
    parts = [summary["scores"][part] for part in ("train", "val", "test")]
    assert [row[0] for row in rows] == [name + METRICS[name] for name in TASK_METRICS["classes"]]
    for metric, row in zip(TASK_METRICS["classes"], rows, strict=True):
        assert row[1:] == [shown(metric, part[metric]) for part in parts]
    assert browser.texts("#scores section:first-child .picked th") == ["accuracy" + METRICS["accuracy"]]
    head, *rows = browser.table("#scores table", 1)
    assert head == ["what predicts", "accuracy on validation nodes"]
    assert [row[0] for row in rows] == [
        *("MCN on the motifs edge, triangle, up to 2 steps", "always the largest class"),
        "a linear model on the features, without the graph",
        "known labels spread along the edges, without features",
    ]
    values = [summary["scores"]["val"]["accuracy"], *summary["alone"].values()]
    assert [row[1] for row in rows] == [shown("accuracy", value) for value in values]
    assert summary["remarks"]
    assert browser.texts("#report .remarks li") == summary["remarks"]
    order = [part.get_attribute("class") for part in browser.all("#report > *")]
    assert order[1:6] == ["stats", "predictor", "note", "remarks", "grid"]
    browser.find("33")
    assert browser.text("#node h2") == "33"
    assert browser.complaints == []
    assert [address for address in browser.requests if not address.startswith("data:")] == [report.as_uri()]


def with_summary(run: Trained, folder: Path, **changes: Any) -> Path:
    """The report of a copy of a run whose summary differs."""
    copy = shutil.copytree(run.folder, folder / "run")
    summary = json.loads((copy / "summary.json").read_text()) | changes
    extend_summary(copy, summary, {})
    return write_report(copy, run.data)


def test_a_report_without_remarks_and_test_nodes(browser: Page, karate: Trained, tmp_path: Path) -> None:
    """The metric of the run comes first, also where it is not defined."""
    scores = karate.run.summary["scores"] | {"test": None}
    scores["val"] = scores["val"] | {"roc-auc": None}
    path = with_summary(karate, tmp_path, scores=scores, remarks=[], metric="roc-auc")
    assert browser.open(path) == "webgl"
    assert browser.all(".remarks") == []
    assert "test" not in browser.text("#headline")
    assert browser.texts("#report .stat b")[:2] == ["–", "–"]
    assert browser.text("#report .stat span") == "roc-auc on test nodes"
    head, *rows = browser.table("#scores table", 0)
    assert head == ["metric", "training nodes", "validation nodes"]
    names = ("roc-auc", "accuracy", "balanced-accuracy")
    assert [row[0] for row in rows[:3]] == [name + METRICS[name] for name in names]
    assert rows[0][2] == "–"
    assert browser.texts("#scores section:first-child .picked th") == [rows[0][0]]
    assert browser.table("#scores table", 1)[0] == ["what predicts", "roc-auc on validation nodes"]
    assert browser.table("#scores table", 1)[1][1] == "–"
    assert browser.complaints == []


def candidate_rows(*shares: str) -> list[list[str]]:
    """The table of `candidate_run`, the second column being the share in the predictions."""
    names, scores = ("gcn", "triangle", "mlp"), ("90.0 %", "80.0 %", "70.0 %")
    columns = zip(names, shares or [None] * 3, scores, ("the best", "10.0 ± 2.5", "20.0"), strict=True)
    return [[cell for cell in (*row, "2", "1.0") if cell is not None] for row in columns]


# By mode: in a few words, in the table of candidates, in the titles of curves, and who predicts node 20.
PREDICTING = {
    "one": ("gcn", candidate_rows(), "gcn", ["gcn"]),
    "blend": (
        *("a blend of triangle, mlp", candidate_rows("", "75 %", "25 %")),
        *("triangle (75 % of the blend)", ["mlp", "triangle"]),
    ),
}


@pytest.mark.parametrize("mode", PREDICTING)
def test_candidates(browser: Page, karate: Trained, tmp_path: Path, mode: str) -> None:
    """What predicts is named as what it is, and no layer listens to a candidate."""
    words, candidates, curves, predicting = PREDICTING[mode]
    run = candidate_run(karate, tmp_path / "run", mode)
    assert browser.open(write_report(run, karate.data)) == "webgl"
    assert f" · {words} · accuracy on test nodes " in browser.text("#headline")
    assert browser.text("#report .predictor") == explain(run, karate.data).predictor.sentence
    assert browser.table("#scores table", 1)[1][0] == words
    assert browser.texts("#scores h3")[2] == "Candidates that were trained"
    head, *rows = browser.table("#scores table", 2)
    assert rows == candidates
    assert head[1:-4] == ([] if mode == "one" else ["part of the blend"])
    assert head[-4:-2] == ["accuracy on held-out nodes", "less than the best, in points"]
    assert head[-2:] == ["times trained", "seconds each"]
    titles = browser.texts("#charts h3")
    assert titles[:2] == [f"{what} while training: {curves}" for what in ("Accuracy", "Loss")]
    assert browser.texts("#charts .key span").count("weights kept: those of epoch 2") == 2
    assert browser.texts("#mode option")[3:] == ["part of the split"]  # and no choices
    browser.find("20")
    said = zip(CANDIDATES, browser.texts("#node .cards > button > :last-child"), strict=True)
    assert [name for name, text in said if text.startswith("●")] == predicting
    assert browser.text("#right-under") == "Candidates that are right: triangle."
    page = browser.text("header") + browser.text("main") + browser.text("#explorer")
    assert "MCN" not in page
    assert "listens" not in page
    assert browser.complaints == []


def test_candidates_by_a_metric_to_be_small(browser: Page, karate: Trained, tmp_path: Path) -> None:
    run = candidate_run(karate, tmp_path / "run", "one", metric="log-loss")
    for row, score in zip(run.summary["candidates"], (-0.25, -0.35, -0.45), strict=True):
        row["score"] = score
    assert browser.open(write_report(run, karate.data)) == "webgl"
    assert browser.table("#scores table", 2) == [
        [
            *("candidate", "log-loss on held-out nodes", "more than the best"),
            *("times trained", "seconds each"),
        ],
        ["gcn", "0.250", "the best", "2", "1.0"],
        ["triangle", "0.350", "0.100 ± 0.025", "2", "1.0"],
        ["mlp", "0.450", "0.200", "2", "1.0"],
    ]


def test_hostile_remarks_and_candidates_stay_text(browser: Page, karate: Trained, tmp_path: Path) -> None:
    choosing = {"mode": "one", "winner": HOSTILE[1], "blend": None}
    changes = {"remarks": HOSTILE[:4], "choosing": choosing, "metric": HOSTILE[0]}
    scores = {"train": None, "val": {HOSTILE[1]: 0.5}, "test": None}
    run = candidate_run(karate, tmp_path / "run", "one", **changes, scores=scores)
    run.summary["candidates"][0]["candidate"] = HOSTILE[1]
    assert browser.open(write_report(run, karate.data)) == "webgl"
    assert browser.texts("#report .remarks li") == HOSTILE[:4]
    assert browser.table("#scores table", 0)[1][0] == browser.table("#scores table", 2)[1][0] == HOSTILE[1]
    assert browser.table("#scores table", 1)[0][1] == f"{HOSTILE[0]} on validation nodes"
    assert browser.text("#report .predictor") == f"All nodes are predicted by {HOSTILE[1]}."
    assert browser.driver.title == "karate: report"
    assert browser.all("#report img, #report b > b, #report script") == []
    assert browser.complaints == []


def test_boosted_trees(browser: Page, karate: Trained, tmp_path: Path) -> None:
    """The columns that mattered stand in a table, and a node shows whose values are averaged."""
    run = train_run(karate.data, RECIPES["trees"].config(), tmp_path / "run")
    assert browser.open(write_report(run, karate.data)) == "webgl"
    assert "boosted trees on the motifs edge, triangle" in browser.text("#headline")
    assert browser.texts("#scores h3")[-1] == "Columns that mattered to boosted trees"
    _, *rows = browser.table("#scores table", 2)
    wanted = [[row["column"], f"{row['loss']:.4f} ± {row['error']:.4f}"] for row in run.summary["columns"]]
    assert len(wanted) > 1
    assert rows == wanted
    browser.find("20")
    assert browser.texts("#node .cards > button > b") == ["edge", "triangle"]
    assert "were missing" in browser.text("#node")
    assert browser.complaints == []


def test_the_columns_say_of_which_part_of_a_blend_they_are(
    browser: Page, karate: Trained, tmp_path: Path
) -> None:
    columns = [{"column": "mean of age over triangle neighbours", "loss": 0.25, "error": 0.01}]
    run = candidate_run(karate, tmp_path / "run", "blend", columns=columns)
    run.summary["candidate_runs"][2]["columns"] = columns  # of the candidate "triangle"
    assert browser.open(write_report(run, karate.data)) == "webgl"
    assert browser.texts("#scores h3")[-1] == "Columns that mattered to triangle, 75 % of the blend"
    assert browser.table("#scores table", 3)[1] == [columns[0]["column"], "0.2500 ± 0.0100"]
    for words in ("behind", "epochs of", "share in", "adjusted for chance"):
        assert words not in browser.text("#report")


def test_a_network_of_motif_views(browser: Page, views: Trained) -> None:
    assert browser.open(write_explorer(views.folder, views.data)) == "webgl"
    found = explain(views.run, views.data)
    assert browser.texts("#mode option")[3:] == ["part of the split"]  # and no choices
    browser.find("33")
    cards = browser.texts("#node .cards > *")
    assert len(cards) == 3
    for number, card in enumerate(cards[1:]):
        other = found.alternatives[number, 33]
        assert f"→ {found.classes[other.argmax()]} {100 * other.max():.0f} %" in card
    assert "What it chose" not in browser.text("#node")
    assert "Weights and share: edge" in browser.text("#node")
    assert "MotifViews on the views edge, triangle" in browser.text("#headline")
    assert browser.complaints == []


def test_a_few_nodes_stand_for_a_large_graph(
    browser: Page, karate: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "WHOLE", 30)
    monkeypatch.setattr(explorer, "PARTS", (20,))
    monkeypatch.setattr(explorer, "MOST_LINES", 15)
    monkeypatch.setattr(sample, "CENTRES", 1)
    page = write_explorer(karate.folder, karate.data, tmp_path / "page.html")
    meta, arrays = read_page(page)
    assert browser.open(page) == "webgl"
    assert browser.text("#headline").startswith("34 nodes, 78 edges")
    said = browser.text("#drawn")
    assert said.startswith("Drawn: 20 of 34 nodes: a few chosen at random")
    assert f"; 15 of the {meta['edges']} edges between them" in said
    assert "Not in this page: 14 nodes" in said
    absent = next(node for node in range(33, -1, -1) if str(node) not in meta["ids"])
    browser.one("#search").send_keys(str(absent))
    assert browser.text("#found") == "none of the 20 nodes drawn has this in its id"
    degree = np.bincount(karate.data.edge_index[0], minlength=34)
    place = int(arrays["degree"].argmax())
    browser.find(meta["ids"][place])
    assert browser.texts("#node .chip")[1] == f"{degree[int(meta['ids'][place])]} neighbours"
    assert "only nodes that are drawn" in browser.text("#node")
    assert (
        sum(int(cell) for cell in browser.texts("#run td.cell") if cell != "·") == karate.data.test_mask.sum()
    )
    assert browser.complaints == []
    refuses("no node 'x' to draw around", write_explorer, karate.folder, karate.data, around=["11", "x"])


def test_boxes_stand_close_below_each_other(browser: Page, report: Path) -> None:
    assert browser.open(report) == "webgl"
    for grid in ("#scores", "#charts"):
        boxes = [box.rect for box in browser.all(f"{grid} .box")]
        for above, below in pairwise(boxes):
            if above["x"] == below["x"]:
                assert 0 <= below["y"] - above["y"] - above["height"] < 20
