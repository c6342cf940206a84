"""Spaces of settings, what a search tries of them, and what of it mattered."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcn.experiments.search.proposals import Grid, importances
from mcn.experiments.search.space import Range, Space, load_space, spaces
from mcn.paper.baselines import METHODS
from mcn.train.presets import dataset_config
from tests.conftest import reference, refuses

SPACES = ["citation", "citation-screen", "dd", "dd-best", "dd-gat", "dd-gcn", "dd-screen", "quick"]


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", SPACES)
def test_what_comes_with_the_package(name: str) -> None:
    assert name in spaces()
    space = load_space(name)
    assert space.name == name
    assert space.description
    assert space.recipe == ("mcn" if name == "quick" else "paper")


def test_the_spaces_of_the_paper() -> None:
    tables = reference("paper-tables")
    paper = tables["table2_accuracy_percent"]["search_space"]
    citation = load_space("citation")
    for name in ("dropout", "lr", "steps"):
        assert sorted(citation.settings[name]) == sorted(paper[name])  # type: ignore[arg-type]
    assert citation.size == 2 * 4 * 3 * (2**5 - 1) * 5
    for dataset, decay in paper["l2"].items():
        assert citation.base(dataset)["weight_decay"] == decay
    paper = tables["table3_micro_f1_percent"]["search_space"]
    dd = load_space("dd")
    for ours, theirs in {"dropout": "dropout", "lr": "lr", "steps": "steps", "weight_decay": "l2"}.items():
        assert sorted(dd.settings[ours]) == sorted(paper[theirs])  # type: ignore[arg-type]
    assert (dd.base("dd6")["hidden"], dd.base("dd6")["patience"]) == (paper["hidden"], paper["patience"])
    assert dd.size == 2 * 4 * 5 * 4 * (2**7 - 1)


def test_the_screening_is_the_papers_search_at_its_best_rates() -> None:
    """All motif sets, steps and Ψ; learning rate, dropout and L2 are those of the data set's best setting."""
    whole, screening = load_space("citation"), load_space("citation-screen")
    assert screening.size == (2**5 - 1) * 3 * 5
    for name, values in screening.settings.items():
        assert values == whole.settings[name]
    for dataset in ("cora", "citeseer", "pubmed"):
        best = dataset_config("paper", dataset)
        base = screening.base(dataset)
        for name in ("lr", "dropout", "weight_decay", "patience"):
            assert base[name] == getattr(best, name)
    whole, screening = load_space("dd"), load_space("dd-screen")
    assert screening.size == (2**7 - 1) * 4 * 5
    assert all(screening.settings[name] == whole.settings[name] for name in ("motifs", "steps"))
    assert screening.settings["psi"] == load_space("citation").settings["psi"]
    for dataset in ("dd6", "dd7"):
        preset = dataset_config("paper", dataset)
        own = dataset_config("paper", dataset, **screening.base(dataset))
        assert own == preset
        for name in ("lr", "weight_decay", "dropout"):
            assert screening.base(dataset)[name] in whole.settings[name]  # type: ignore[operator]


@pytest.mark.parametrize("dataset", ["dd6", "dd7"])
@pytest.mark.parametrize(
    ("space", "method"), [("dd-gcn", "gcn-paper"), ("dd-gat", "gat-paper"), ("dd-best", "paper")]
)
def test_the_paper_s_grid_for_single_rows_of_table_3(space: str, method: str, dataset: str) -> None:
    """Apart from what is searched, a trial is the row of the table."""
    own = load_space(space)
    assert own.size == 2 * 4 * 5
    dd = load_space("dd")
    for name, values in own.settings.items():
        assert values == dd.settings[name]
    row = METHODS[method].configure(dataset, {}, {})
    chosen = {name: getattr(row, name) for name in own.settings}
    assert dataset_config("paper", dataset, **{**own.base(dataset), **chosen}) == row
    for name, value in chosen.items():
        assert value in own.settings[name]  # type: ignore[operator]


def test_subsets_ranges_what_is_fixed_and_another_recipe(tmp_path: Path) -> None:
    space = load_space(written(tmp_path, "settings: {motifs: {subsets: [edge, triangle, 4-cycle]}}"))
    assert space.settings["motifs"] == (
        ["edge"], ["triangle"], ["4-cycle"],
        ["edge", "triangle"], ["edge", "4-cycle"], ["triangle", "4-cycle"],
        ["edge", "triangle", "4-cycle"],
    )  # fmt: skip
    views = load_space(written(tmp_path, "recipe: views\nsettings: {drop_neighbours: [0.2, 0.5]}"))
    assert (views.recipe, views.settings) == ("views", {"drop_neighbours": (0.2, 0.5)})
    text = """
    fixed: {hidden: 4}
    datasets: {karate: {max_epochs: 3}}
    settings:
      lr: {low: 0.001, high: 0.1, log: true}
      steps: {low: 1, high: 3}
    """
    space = load_space(written(tmp_path, text))
    assert space.settings == {"lr": Range(0.001, 0.1, True), "steps": Range(1, 3)}
    assert space.size is None
    assert space.base("karate") == {"hidden": 4, "max_epochs": 3}
    assert space.base(None) == {"hidden": 4}
    refuses("mine: lr is a range; a grid needs a list of values", Grid, space, 0)
    refuses("unknown space 'citatoin'; did you mean 'citation'", load_space, "citatoin")
    with pytest.raises(FileNotFoundError):
        load_space(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("settings: [", "not YAML"),
        ("- lr", "the file must be a mapping"),
        ("setings: {lr: [1]}", "unknown entry 'setings'; expected description, recipe, fixed"),
        ("fixed: {lr: 0.1}", "settings must name at least one setting"),
        ("settings: {learning: [1]}", "a setting must be one of .*, got 'learning'"),
        ("settings: {seed: [1]}", "the seed is not a setting to search"),
        ("settings: {lr: []}", "lr must be a list of values, {low: …, high: …}"),
        ("settings: {lr: 0.1}", "lr must be a list of values"),
        ("settings: {lr: [0.1, fast]}", "lr must be a positive number, got 'fast'"),
        ("settings: {lr: {low: 1, high: 0.1}}", "lr must go from a number to a larger one"),
        ("settings: {lr: {low: 0, high: 0.1, log: true}}", "above 0 with log"),
        ("settings: {lr: {low: -1, high: 0.1}}", "lr must be a positive number, got -1"),
        ("settings: {psi: [symetric]}", "psi must be one of .*did you mean 'symmetric'"),
        ("settings: {motifs: [[edge], [triangel]]}", "triangel"),
        ("settings: {motifs: {subsets: [edge, edge]}}", "subsets must list 1 to 12 different motifs"),
        ("settings: {lr: {subsets: [1]}}", "lr must be a list of values"),
        ("settings: {lr: [0.1]}\nfixed: {lr: 0.2}", "lr is both fixed and searched"),
        ("settings: {lr: [0.1]}\nfixed: {dropout: 2}", "dropout must be a probability below 1, got 2"),
        ("settings: {lr: [0.1]}\ndatasets: {cora: {hiden: 2}}", "unknown setting 'hiden'"),
        ("recipe: veiws\nsettings: {lr: [0.1]}", r"recipe must be one of .*'veiws'; did you mean 'views'\?"),
        ("recipe: views\nsettings: {steps: [1]}", "a setting must be one of .*, got 'steps'"),
        ("recipe: views\nsettings: {lr: [0.1]}\nfixed: {steps: 1}", "unknown setting 'steps'"),
        ("recipe: paper\nsettings: {gate: [true]}", "gate is False in the recipe paper, got True"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, message: str) -> None:
    refuses(f"space .*mine.yaml: .*{message}", load_space, written(tmp_path, text))


def test_a_grid_has_every_combination_once() -> None:
    space = load_space("quick")
    grid = Grid(space, 1)
    first = grid.ask(10)
    seen = {json.dumps(settings) for settings in [*first, *grid.ask(100)]}
    assert len(seen) == space.size == 4 * 3 * 2
    assert grid.ask(1) == []
    assert Grid(space, 1).ask(10) == first
    assert Grid(space, 2).ask(10) != first
    assert list(first[0]) == list(space.settings)


def test_importances() -> None:
    """By hand: lr varies by 0.05², dropout by (0.1² + 0 + 0.1²) / 3, its effect a tenth of that of lr."""
    space = Space("s", "", {"lr": (0.1, 0.2), "dropout": (0.1, 0.2, 0.3), "steps": (1,)}, {}, {})
    tried: list[tuple[dict[str, Any], float]] = [
        ({"lr": lr, "dropout": dropout, "steps": 1}, lr + dropout / 10)
        for lr in (0.1, 0.2)
        for dropout in (0.1, 0.2, 0.3)
    ]
    shares = importances(space, tried)
    assert list(shares) == ["lr", "dropout"]
    lr, dropout = 0.05**2, 0.02 / 3 / 100
    assert list(shares.values()) == pytest.approx([lr / (lr + dropout), dropout / (lr + dropout)])
    refuses("the trials do not differ", importances, space, tried[:1])
    space = Space("s", "", {"lr": (0.1, 0.2), "dropout": (0.1, 0.2)}, {}, {})
    interplay = [({"lr": a, "dropout": b}, float(a == b)) for a in (0.1, 0.2) for b in (0.1, 0.2)]
    assert importances(space, interplay) == {"lr": 0, "dropout": 0}


def test_a_forest_where_combinations_are_missing() -> None:
    pytest.importorskip("optuna", reason="Optuna is not installed (pip install 'mcn[search]')")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    values = tuple(float(value) for value in range(8))
    space = Space("s", "", {"lr": values, "dropout": values}, {}, {})
    tried = [({"lr": a, "dropout": b}, 2 * a + b) for a in values for b in values]
    whole, partial = importances(space, tried), importances(space, tried[:20] + tried[21:])
    assert whole == pytest.approx({"lr": 0.8, "dropout": 0.2})
    assert partial == pytest.approx(whole, abs=0.1)


def test_too_few_trials_for_a_setting_with_many_values() -> None:
    space = Space("s", "", {"lr": tuple(range(1, 10)), "dropout": tuple(range(10))}, {}, {})
    tried = [({"lr": lr, "dropout": 1}, lr / 10) for lr in range(1, 10)]
    refuses("lr has 9 values, too many for 9 trials to say what mattered", importances, space, tried)
