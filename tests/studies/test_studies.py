"""A smoke test of every study, and that all of them use the package's public front only."""

import ast
import csv
import importlib
import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import mcn
from mcn.baselines import METHODS
from mcn.experiments import Source
from studies import controls
from studies.beyond import view_names
from studies.choice import load_split
from studies.ensembles.__main__ import cost, tune
from studies.figure4 import class_component, described, kept, pattern
from studies.figure4.pattern import core_numbers, node_measures, over_runs, rank_correlations
from studies.rows import COLUMNS, command_line, gap, read_runs, tables, write_runs
from studies.search.effects import effects
from tests.baselines.graphs import block_problem, blocks
from tests.conftest import REPOSITORY, python

STUDIES = REPOSITORY / "studies"
NAMES = sorted(path.parent.name for path in STUDIES.glob("*/__main__.py"))
TABLES = ("beyond", "choice", "competitors", "controls", "twins")
FRONTS = {"mcn", "mcn.data", "mcn.train", "mcn.baselines", "mcn.experiments", "mcn.viz"}
FRONTS |= {"mcn.experiments.paper", "mcn.experiments.search"}


@pytest.mark.parametrize(
    "path", sorted(STUDIES.rglob("*.py")), ids=lambda path: str(path.relative_to(STUDIES))
)
def test_studies_use_the_public_front_only(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "mcn":
            assert node.module in FRONTS, f"{path.name} imports from {node.module}"
            front = importlib.import_module(str(node.module))
            assert {alias.name for alias in node.names} <= {*front.__all__, "__version__"}


def test_nothing_in_the_package_imports_a_study() -> None:
    for path in (REPOSITORY / "src").rglob("*.py"):
        assert "import studies" not in (text := path.read_text(encoding="utf-8"))
        assert "from studies" not in text


@pytest.mark.parametrize("name", NAMES)
def test_every_study_has_help_and_a_page_that_names_the_version(name: str, capsys: Any) -> None:
    module = importlib.import_module(f"studies.{name}.__main__")
    with pytest.raises(SystemExit) as done:
        module.main(["--help"]) if name not in TABLES else command_line(module.STUDY, "", ["--help"])
    assert done.value.code == 0
    assert f"python -m studies.{name}" in capsys.readouterr().out
    assert "0.2.0" in (STUDIES / name / "README.md").read_text(encoding="utf-8")


def test_a_study_is_started_from_a_checkout() -> None:
    done = python("-m", "studies.twins", "--report", cwd=REPOSITORY, check=False)
    assert done.returncode == 0, done.stderr
    assert "| dd7 | 42.5 ± 2.3 (10) | 9.7 ± 1.4 (10) |" in done.stdout


@pytest.mark.parametrize("name", TABLES)
def test_the_kept_runs_are_those_of_0_2_0(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    study = importlib.import_module(f"studies.{name}").STUDY
    runs = study.kept()
    assert runs
    assert {run["version"] for run in runs} == {"0.2.0"}
    places = [(run["dataset"], run["method"], run["seed"]) for run in runs]
    assert len(set(places)) == len(places)
    if name == "beyond":  # every row has all its runs
        every = {(d, row, seed) for d in study.datasets for row in study.rows for seed in study.seeds}
        assert {(dataset, method, int(seed)) for dataset, method, seed in places} == every
    command_line(study, "", ["--report"])
    assert "by version 0.2.0 of mcn" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("choice", ["--rows", "gat,gated", "--datasets", "strong-ties"]),
        ("competitors", ["--rows", "link", "--datasets", "karate"]),
        ("controls", ["--rows", "gcn-ensemble", "--datasets", "karate"]),
        ("twins", ["--rows", "majority,twins", "--datasets", "karate"]),
    ],
)
def test_a_study_runs(name: str, words: list[str], tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    module = importlib.import_module(f"studies.{name}")
    if name == "choice":
        short = {row: (method, own | {"max_epochs": 3}) for row, (method, own) in module.SETTINGS.items()}
        monkeypatch.setattr(module, "SETTINGS", short)
    command_line(module.STUDY, "", [*words, "--seeds", "1", "--jobs", "1", "--out", str(tmp_path)])
    with (tmp_path / "results.csv").open(newline="") as file:
        runs = list(csv.DictReader(file))
    rows, dataset = words[1].split(","), words[3]
    assert [(run["dataset"], run["method"]) for run in runs] == [(dataset, row) for row in rows]
    assert {run["version"] for run in runs} == {mcn.__version__}
    assert f"| {dataset} |" in capsys.readouterr().out


def test_an_unknown_row_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Which will do for a study whose own sets are large."""
    with pytest.raises(SystemExit):
        command_line(importlib.import_module("studies.beyond").STUDY, "", ["--rows", "gcn-less,views-edge"])
    assert "got 'gcn-less'" in capsys.readouterr().err


def test_splits_of_the_choice_study(data_root: Path) -> None:
    data, again, other = (load_split("texas-drawn", seed, str(data_root)) for seed in (0, 0, 1))
    masks = [data.train_mask, data.val_mask, data.test_mask]
    assert (sum(mask.int() for mask in masks) == 1).all()
    shares = [float(mask.float().mean()) for mask in masks]
    assert shares == pytest.approx([0.48, 0.32, 0.2], abs=0.02)
    assert data.train_mask.equal(again.train_mask)
    assert not data.train_mask.equal(other.train_mask)
    given = load_split("texas", 3, str(data_root))
    assert given.train_mask.equal(mcn.load_dataset("texas", root=data_root, split=3).train_mask)


def test_rows_of_views_differ_in_what_they_draw_from() -> None:
    assert view_names("views-walks", "cora") == ["edge", "order=4", "order=16"]
    assert view_names("views-walks", "pubmed") == ["edge", "alpha=0.9", "alpha=0.25"]
    assert view_names("views-random", "citeseer") == ["edge", "random=1", "random=2"]


@pytest.mark.parametrize("dataset", ["cora", "citeseer", "pubmed"])
def test_controls_are_the_papers_rule_with_another_advantage(dataset: str) -> None:
    paper = METHODS["paper"].configure(dataset, {}, {}).to_dict()
    assert paper["advantage"] == "none"
    for row, advantage in (("mcn-paper-mean", "mean"), ("mcn-paper-learned", "learned")):
        config = controls.STUDY.rows[row](Source(dataset), 3).config()
        assert config.to_dict() == paper | {"advantage": advantage, "seed": 3}


def test_tables_by_hand_and_runs_there_and_back(tmp_path: Path) -> None:
    figures = {("a", 0): 0.80, ("a", 1): 0.82, ("b", 0): 0.79, ("b", 1): 0.79}
    runs = [
        {"dataset": "mine", "method": row, "seed": seed, "test_accuracy": test, "version": "9.9"}
        for (row, seed), test in figures.items()
    ]
    text = tables(runs, [("a", "b"), ("a", "missing")])
    assert "| data set | a | b |" in text
    assert "| mine | 81.0 ± 1.4 (2) | 79.0 ± 0.0 (2) |" in text
    assert "| data set | a − b |" in text
    assert "| mine | +2.0 ± 1.0 |" in text
    assert gap({0: 1.0}, {1: 1.0}) == "–"
    run = dict.fromkeys(COLUMNS, "x") | {"test_accuracy": 1 / 3, "more": "dropped"}
    write_runs(tmp_path / "runs.csv", COLUMNS, [run])
    assert read_runs(tmp_path / "runs.csv") == [dict.fromkeys(COLUMNS, "x") | {"test_accuracy": "0.333333"}]
    assert read_runs(tmp_path / "none.csv") == []


def test_pictures(tmp_path: Path) -> None:
    from studies.choice.picture import draw, gains
    from studies.pictures import draw_runs

    runs = read_runs(STUDIES / "choice" / "results.csv")
    found = {one.name: one for one in gains(runs)}
    assert found["strong-ties"].gain == pytest.approx(14.2, abs=0.05)
    assert found["strong-ties"].rooms["apparent_room"] == pytest.approx(16.9, abs=0.05)
    draw(runs, tmp_path / "choice.png")
    draw_runs(read_runs(STUDIES / "beyond" / "results.csv"), tmp_path / "beyond.png", {("cora", "gat"): 83.0})
    assert all((tmp_path / f"{name}.png").stat().st_size > 10_000 for name in ("choice", "beyond"))


def test_settings_and_cost_of_ensembles() -> None:
    setting, best, usual = tune(block_problem(), "gcn-ensemble", 1, max_epochs=3)
    assert best >= usual > 0
    assert set(setting) == {"hidden", "dropout", "decay"}
    assert all(np.isfinite(cost(block_problem(), blocks(), "gcn-ensemble", epochs=2, turns=1)))


def test_searches_that_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    from studies.search.__main__ import main

    main([])
    shown = capsys.readouterr().out
    assert shown.startswith("Searches by version 0.2.0 of mcn.")
    assert "| cora, citation-screen | 465 | 0 | motifs edge, 2-star; steps 1; psi symmetric |" in shown


def test_a_search_is_added(tmp_path: Path) -> None:
    """Means: dropout 0.5 over .2 and .4, the failed trial not counted; test 12 ± sqrt(8), the paper's GCN."""
    from studies.search import compact, read_searches, tables, write_searches

    values = [(0.5, 0.1, 0.2), (0.5, 0.001, 0.4), (0.2, 0.1, 0.3), (0.2, 0.001, None)]
    trials = [
        {"number": i, "rung": 0, "settings": {"dropout": drop, "lr": lr}, "val_accuracy": score}
        for i, (drop, lr, score) in enumerate(values)
    ]
    trials.append({**trials[1], "rung": 1, "val_accuracy": 0.456789})
    final = [
        {"version": "9.9", "val_accuracy": 0.3, "seed": seed, "key": "a", "test_accuracy": test}
        for seed, test in ((3, 0.10), (4, 0.14))
    ]
    found = {"dataset": "dd7", "space": "dd-gcn", "protocol": "as always", "importances": {"lr": 0.75}}
    added = compact(json.loads(json.dumps(found | {"best": trials[-1], "trials": trials, "final": final})))
    write_searches([added, added | {"protocol": "better"}], tmp_path / "searches.jsonl")
    (again,) = read_searches(tmp_path / "searches.jsonl")
    assert again == added | {"protocol": "better"}
    shown = tables([again])
    assert "| dd7, dd-gcn | 4 | 1 | dropout 0.5; lr 0.001 | 45.7 | 12.0 ± 2.8 (2) | 12.4 |" in shown
    assert "| dropout: 0.5 | 30.0 ± 10.0 (2) |" in shown
    assert "| lr: 0.001 | 40.0 (1) |" in shown


# Figure 4.


@pytest.mark.parametrize("seed", range(6))
def test_measures_beside_networkx(seed: int) -> None:
    graph = nx.gnm_random_graph(40, 80, seed=seed)
    graph = nx.convert_node_labels_to_integers(graph.subgraph(max(nx.connected_components(graph), key=len)))
    adjacency = sp.csr_array(nx.to_scipy_sparse_array(graph, dtype=np.int64))
    cores = nx.core_number(graph)
    assert core_numbers(adjacency).tolist() == [cores[node] for node in graph]
    found = node_measures(adjacency)
    assert found["degree"].tolist() == [graph.degree[node] for node in graph]
    np.testing.assert_allclose(found["clustering"], [nx.clustering(graph, node) for node in graph])
    inside = [node for node in graph if cores[node] == max(cores.values())]
    steps = nx.multi_source_dijkstra_path_length(graph, inside)
    assert found["distance"].tolist() == [steps[node] for node in graph]


def test_correlations_and_their_mean_over_runs_by_hand() -> None:
    place = {"distance": np.array([0.0, 1.0, 2.0, 3.0]), "degree": np.ones(4)}
    found = rank_correlations(np.array([2, 2, 1, 1]), ("edge", "4-path", "triangle"), place)
    # Ranks 1 to 4 against 1.5, 1.5, 3.5, 3.5: covariance 4, variances 5 and 4.
    assert found["4-path"]["distance"] == pytest.approx(4 / np.sqrt(20))
    assert found["triangle"]["distance"] == pytest.approx(-4 / np.sqrt(20))
    assert found["edge"] == {"distance": None, "degree": None}
    assert found["4-path"]["degree"] is None
    assert over_runs([0.5, None, -0.1]) == {"mean": 0.2, "error": 0.3, "runs": 2, "positive": 1, "of": 3}
    assert over_runs([None]) == {"mean": None, "error": None, "runs": 0, "positive": 0, "of": 1}
    assert over_runs([0.25])["error"] is None


def test_the_study_on_a_small_graph() -> None:
    data = mcn.load_dataset("strong-ties")
    found = pattern(data, 1, "edges", label=2, max_epochs=2)
    assert found["nodes"] == len(class_component(data, 2))
    (run,) = found["runs"]
    assert sum(run["share"].values()) == pytest.approx(1)
    assert described(found).count("\n") == 4


@pytest.mark.parametrize("scope", ["edges", "pairs"])
def test_what_is_kept_is_what_the_page_says(scope: str) -> None:
    page = (REPOSITORY / "studies" / "figure4" / "README.md").read_text(encoding="utf-8")
    found = kept(scope)
    first = Counter(max(run["share"], key=run["share"].get) for run in found["runs"])
    assert f"4-path in {first['4-path']} runs, the edge in {first['edge']} and the triangle in" in page
    degree = found["correlation"]["4-path"]["degree"]
    assert f"{degree['mean']:+.2f} ± {degree['error']:.2f}".replace("-", "−") in page


# What a search says of single settings.

MOTIFS = [["edge"], ["edge", "triangle"], ["edge", "4-clique"], ["edge", "triangle", "4-clique"]]


def planted() -> list[tuple[dict[str, Any], float]]:
    """Every combination: the triangle adds 0.1, the smaller rate 0.02, steps and 4-clique nothing."""
    tried = []
    for motifs, steps, lr in product(MOTIFS, (1, 2, 3), (0.05, 0.005)):
        score = 0.6 + 0.1 * ("triangle" in motifs) + 0.02 * (lr == 0.005)
        tried.append(({"motifs": motifs, "steps": steps, "lr": lr}, score))
    return tried


def test_a_planted_effect_is_found_and_failures_repetitions_and_single_values_do_not_count() -> None:
    found = {(each.setting, each.value): each for each in effects(planted())}
    assert set(found) == {
        *(("motifs", f"{how} {motif}") for how in ("with", "without") for motif in ("triangle", "4-clique")),
        *(("steps", str(steps)) for steps in (1, 2, 3)),
        *(("lr", value) for value in ("0.05", "0.005")),
    }
    assert found["motifs", "with triangle"].mean == pytest.approx(0.71)
    assert found["motifs", "without triangle"].mean == pytest.approx(0.61)
    assert found["motifs", "with 4-clique"].mean == pytest.approx(0.66)
    assert found["motifs", "without 4-clique"].mean == pytest.approx(0.66)
    assert [found["steps", str(k)].mean for k in (1, 2, 3)] == pytest.approx([0.66] * 3)
    assert found["lr", "0.005"].mean - found["lr", "0.05"].mean == pytest.approx(0.02)
    assert found["lr", "0.005"].trials == 12
    assert found["lr", "0.005"].best == pytest.approx(0.72)
    assert found["lr", "0.05"].error == pytest.approx(0.05 * np.sqrt(12 / 11) / np.sqrt(12))
    tried = planted()
    assert effects([*tried, (tried[0][0], None), tried[3]]) == effects(tried)
    tried = [({"lr": 0.1, "steps": k}, 0.5) for k in (1, 2)]
    assert {each.setting for each in effects(tried)} == {"steps"}
