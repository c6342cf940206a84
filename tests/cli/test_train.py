import importlib
import json
import re
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphmotifs._ray import ClusterError
from mcn.cli import _training
from mcn.cli._terminal import MOST_LINES
from mcn.data import load_dataset
from mcn.matrices import MotifStack
from mcn.nn.selector import Selector
from mcn.train import Epoch, load_run
from mcn.train.folder import PREDICTIONS
from mcn.train.loop import Trainer
from mcn.train.metrics import TASK_METRICS
from mcn.train.select.config import CANDIDATES
from tests.cli.conftest import FILES, QUICK, Run, answered, printed, refused, write_graph
from tests.configs import MCNConfig
from tests.viz.explorer.reading import read_page


def test_two_files_of_ones_own(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path)
    words = ["--graph", edges, "--nodes", nodes, "--recipe", "mcn", "--scaling", "raw"]
    text = printed(mcn("train", *words, *QUICK, "--out", tmp_path / "run"))
    notes = "note: features: 2 columns of the node table", "note: split: ", "drawn with seed 0"
    for shown in (*notes, "MCN", "layer 1 listens to: "):
        assert shown in text
    assert "GAT" not in text
    assert text.splitlines()[-1] == f"folder: {tmp_path / 'run'}"
    assert len(text.splitlines()) <= MOST_LINES
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == FILES
    run = load_run(tmp_path / "run")
    assert run.config == MCNConfig(max_epochs=3, hidden=4, heads=2)
    source = {"dataset": None, "graph": str(edges.resolve()), "nodes": str(nodes.resolve())}
    assert run.source == source | {"scaling": "raw"}
    assert run.classes == ["blue", "red"]
    assert run.memory.feature_names == ["size", "age"]


def test_auto_trains_in_mini_batches_where_the_full_batch_does_not_fit(
    mcn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcn.train.memory.free_bytes", lambda *_: 1e4)
    edges, nodes = write_graph(tmp_path, split=True)
    words = ["--set", "repeats=1", "--max-epochs", 2, "--out", tmp_path / "run", "--json"]
    found = answered(mcn("train", "--graph", edges, "--nodes", nodes, *words))
    assert (found["recipe"], found["config"]["batch_size"]) == ("auto", 1024)
    assert "9.77 KiB are free: mini-batches of 1,024 nodes (--batch-size" in found["memory"]
    left_out = {"sage", "sage-3", "sage-8", "mcn-3"}
    assert {row["candidate"] for row in found["candidates"]} == set(CANDIDATES) - left_out
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == FILES


def test_f_and_f_prime_choose_in_every_epoch(mcn: Run, tmp_path: Path, monkeypatch: Any) -> None:
    """What is printed as MCN is the paper's network: both layers ask their selector whenever they learn."""
    asked: list[int] = []
    run_epoch, forward = Trainer.run_epoch, Selector.forward

    def counted(trainer: Trainer) -> Epoch:
        asked.append(0)
        return run_epoch(trainer)

    def noted(selector: Selector, *state: Any) -> Any:
        asked[-1] += selector.training
        return forward(selector, *state)

    monkeypatch.setattr(Trainer, "run_epoch", counted)
    monkeypatch.setattr(Selector, "forward", noted)
    text = printed(mcn("train", "--max-epochs", 4, "--beside", "none", "--out", tmp_path / "run"))
    assert len(asked) == 4
    assert min(asked) >= 2
    lines = text.splitlines()
    assert len(lines) <= MOST_LINES
    assert lines[0] == "strong-ties"
    assert lines[3].startswith("MCN ")
    assert [line.split(":")[0] for line in lines[4:6]] == [f"layer {n} listens to" for n in (1, 2)]


def test_a_graph_of_ones_own_is_trained_by_auto_unless_told_otherwise(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path, split=True)
    words = ["train", "--graph", edges, "--nodes", nodes, "--minutes", 0.2, "--set", "repeats=1"]
    words += ["--max-epochs", 5]
    text = printed(mcn(*words, "--out", tmp_path / "run"))
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == FILES
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    rows, choosing = summary["candidates"], summary["choosing"]
    assert sorted(row["candidate"] for row in rows) == sorted(CANDIDATES)
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    assert [row["runs"] for row in rows] == [1] * len(CANDIDATES)
    headline, header, _, *lines = text.splitlines()
    predicts = {"blend": "a weighted mean of candidates"}.get(choosing["mode"], choosing["winner"])
    accuracies = rf"test accuracy [\d.]+ % by {predicts} \(always the largest class: accuracy [\d.]+%\)"
    assert re.fullmatch(f"{edges}: {accuracies}", headline)
    assert "MCN" not in text
    assert len(lines) + 3 <= MOST_LINES  # with the headline, the header and the rule
    assert lines[-1] == f"folder: {tmp_path / 'run'}"
    phases = ["start and reading", "counting and preparation", "training", "results and report"]
    assert list(summary["phase_seconds"]) == phases
    assert all(f" s {phase}" in lines[-2] for phase in phases)
    assert re.split("  +", header)[:3] == ["candidate", "held-out accuracy", "worse by"]
    others = ", ".join(row["candidate"] for row in rows[5:])
    assert lines[5] == f"also tried, with lower scores: {others} (--verbose)"
    for place, (row, line) in enumerate(zip(rows[:5], lines, strict=False)):  # the best first
        assert line.split()[:2] == [row["candidate"], f"{row['score']:.1%}"]
        assert place == 0 or line.split()[2] == f"{100 * row['behind']:.1f}"
    content = answered(mcn(*words, "--out", tmp_path / "other", "--json"))
    assert (content["recipe"], content["rows"][0]["method"]) == ("auto", "auto")
    timeless = [[row | {"seconds_per_run": 0} for row in of] for of in (rows, content["candidates"])]
    assert timeless[0] == timeless[1]
    printed(mcn("predict", tmp_path / "run", "--out", tmp_path / "p.csv"))
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 25


def test_scores_what_is_beside_them_and_remarks_are_printed(mcn: Run, tmp_path: Path) -> None:
    words = ["train", "--dataset", "karate", *QUICK, "--no-report", "--verbose"]
    text = printed(mcn(*words, "--out", tmp_path / "run"))
    assert "candidate" not in text  # which only a selection has
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    lines = text.splitlines()
    for part, word in (("val", "validation"), ("test", "test")):
        line, scores = next(line for line in lines if line.startswith(f"{word}: ")), summary["scores"][part]
        assert line.startswith(f"{word}: accuracy {scores['accuracy']:.1%}, balanced-accuracy ")
        assert line.endswith(f", log-loss {scores['log-loss']:.3f}")
    alone = summary["alone"]
    assert (
        f"simple methods (accuracy on validation nodes): the largest class {alone['guess']:.1%}, "
        f"features alone {alone['features']:.1%}, the graph alone {alone['graph']:.1%}"
    ) in lines
    said = [line.removeprefix("remark: ") for line in lines if line.startswith("remark: ")]
    assert said == summary["remarks"]
    assert "stopped at the limit of 3 epochs, not because nothing improved any more" in summary["remarks"]


def test_another_metric_and_class_weights(mcn: Run, tmp_path: Path) -> None:
    words = ["train", "--dataset", "karate", *QUICK, "--no-report", "--verbose"]
    words += ["--metric", "roc-auc", "--class-weight", "balanced"]
    text = printed(mcn(*words, "--out", tmp_path / "run"))
    run = load_run(tmp_path / "run")
    assert run.config == MCNConfig(max_epochs=3, hidden=4, heads=2, metric="roc-auc", class_weight="balanced")
    assert run.summary["metric"] == "roc-auc"
    assert "simple methods (roc-auc on validation nodes): the largest class 50.0%" in text
    (header,) = (line for line in text.splitlines() if line.startswith("method"))
    assert re.split("  +", header)[:4] == ["method", "test roc-auc", "test accuracy", "validation roc-auc"]
    assert run.summary["alone"]["guess"] == 0.5


def test_json_of_several_seeds_beside_another_method(mcn: Run, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    words = ["train", "--dataset", "karate", *QUICK, "--seeds", 2, "--out", out]
    more = ["--motifs", "edge, triangle", "--steps", 2, "--seed", 5, "--beside", "gcn", "--json"]
    content = answered(mcn(*words, *more))
    assert list(content) == [
        *("dataset", "recipe", "rows", "task", "threshold", "protocol", "motif_share"),
        *("scores", "alone", "remarks", "config", "notes", "memory", "out", "phase_seconds"),
    ]
    assert [row["method"] for row in content["rows"]] == ["mcn", "gcn"]
    assert all(row["seeds"] == [5, 6] and len(row["test"]) == 2 for row in content["rows"])
    assert content["config"]["steps"] == 2
    assert sorted(path.name for path in out.iterdir()) == ["seed-5", "seed-6"]
    summaries = [json.loads((out / f"seed-{s}" / "summary.json").read_text()) for s in (5, 6)]
    assert content["rows"][0]["test"] == [100 * s["test_accuracy"] for s in summaries]
    for key in ("scores", "alone", "remarks"):  # of the first seed
        assert content[key] == summaries[0][key]
    assert list(content["scores"]) == ["train", "val", "test"]
    for part in content["scores"].values():
        assert list(part) == list(TASK_METRICS["classes"])
    assert list(content["alone"]) == ["guess", "features", "graph"]
    assert "there are runs in it: seed-5, seed-6" in refused(mcn("predict", out))
    assert f"{out / 'seed-6'} already holds a run" in refused(mcn(*words, "--seed", 6))
    assert not (out / "seed-7").exists()  # refused before anything was trained


def test_methods_beside_have_the_recipes_settings_or_are_refused_at_once(mcn: Run, tmp_path: Path) -> None:
    words = ["--dataset", "karate", "--recipe", "paper", "--max-epochs", "1", "--beside", "gat"]
    content = answered(mcn("train", *words, "--no-report", "--out", tmp_path / "run", "--json"))
    assert [row["method"] for row in content["rows"]] == ["paper", "gat-paper"]
    edges, nodes = write_graph(tmp_path)
    words = ["train", "--graph", edges, "--nodes", nodes, "--weights", "w", "--out", tmp_path / "other"]
    assert refused(mcn(*words, "--beside", "lp")).startswith(
        "a graph with edge weights does not go with the baseline 'lp'"
    )
    assert not (tmp_path / "other").exists()


def test_folders_of_their_own(mcn: Run, here: Path) -> None:
    for expected in ("karate", "karate-2"):
        done = mcn("train", "--dataset", "karate", *QUICK)
        assert done.out.splitlines()[-1] == f"folder: runs/{expected}"
    again = mcn("train", "--dataset", "karate", *QUICK, "--out", "runs/karate")
    assert refused(again) == "runs/karate already holds a run; choose another folder, or resume the run"
    printed(mcn("train", "--dataset", "karate", *QUICK, "--out", "runs/karate", "--resume"))
    other = mcn("train", "--dataset", "karate", *QUICK, "--lr", "0.1", "--out", "runs/karate", "--resume")
    assert "started with lr = 0.005, now it is 0.1; resume with the same settings" in refused(other)


TWO = ("b1,same", "b1,other"), ("b0,same", "b0,other")


@pytest.mark.parametrize("verb", ["train", "check"])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ((), "data.y holds one class only (0)"),
        (None, "the graph has no labels"),
        ([("label,split", "name,part")], "the graph has no labels"),
        ([*TWO, ("a1,same,train,2", "a1,same,train,inf")], "line 3: 'inf' in feature column 'size'"),
        ([*TWO, ("a4,same,test", "a4,same,tset")], "split 'tset'"),
        ([*TWO, ("a4,", "zz,")], "'a4'"),
    ],
)
def test_a_graph_that_cannot_be_trained_on(
    mcn: Run, tmp_path: Path, verb: str, changes: list[tuple[str, str]] | None, message: str
) -> None:
    """Without changes, all nodes have one class; None is for no node table."""
    edges, nodes = write_graph(tmp_path, labels="same", split=True)
    for old, new in changes or ():
        nodes.write_text(nodes.read_text().replace(old, new))
    words = ["--graph", edges, *([] if changes is None else ["--nodes", nodes])]
    words += ["--recipe", "mcn", *QUICK, "--out", tmp_path / "run"] if verb == "train" else []
    assert message in refused(mcn(verb, *words))
    assert not (tmp_path / "run").exists()


def test_a_warning_is_one_readable_line(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path, split=True)
    text = nodes.read_text().replace("blue,train", "blue,test")
    nodes.write_text(text.replace("a1,red", "a1,green").replace("a7,red", "a7,green"))
    graph = ["--graph", edges, "--nodes", nodes]
    for words in (
        ["train", *graph, "--recipe", "mcn", *QUICK, "--out", tmp_path / "run", "--json"],
        ["compare", *graph, "--max-epochs", 1, "--seeds", 1, "--json"],
    ):
        done = mcn(*words)
        assert done.code == 0
        assert json.loads(done.out)
        assert done.err == "mcn: warning: no training node of class 0: it can never be predicted\n"


def test_no_test_nodes(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path, split=True)
    nodes.write_text(nodes.read_text().replace("test", "val"))
    words = ["--graph", edges, "--nodes", nodes, "--recipe", "mcn", *QUICK]
    text = printed(mcn("train", *words, "--beside", "gcn", "--verbose", "--out", tmp_path / "run"))
    assert text.count("no test nodes") == 2
    assert "validation: accuracy " in text
    assert "\ntest: " not in text
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["test_accuracy"], summary["scores"]["test"]) == (None, None)


def test_the_recipe_by_default_is_told_with_the_others(mcn: Run, data_root: Path, tmp_path: Path) -> None:
    words = ("--max-epochs", 2, "--no-report", "--verbose", "--data-root", data_root)
    cora = printed(mcn("train", "--dataset", "cora", *words, "--out", tmp_path / "one"))
    assert "recipe: views (" in cora
    assert "); --recipe mcn or --recipe paper or --recipe trees or --recipe auto for another\n" in cora
    karate = printed(mcn("train", "--dataset", "karate", *words, "--out", tmp_path / "two"))
    assert "recipe: mcn (" in karate
    assert "); --recipe paper or --recipe views or --recipe trees or --recipe auto for another\n" in karate


SET = "--set"


def test_any_setting_by_name(mcn: Run, tmp_path: Path) -> None:
    words = [SET, "heads=2", SET, "epsilon = 0.25", SET, "gate=no", SET, "policy-lr=0.02"]
    words += [SET, "features=motifs", SET, "policy_decay=none", SET, "add_edges=true", "--no-report"]
    printed(mcn("train", "--dataset", "karate", *QUICK[:4], *words, "--out", tmp_path / "run"))
    assert load_run(tmp_path / "run").config == MCNConfig(
        **{"max_epochs": 3, "hidden": 4, "heads": 2, "epsilon": 0.25, "gate": False, "policy_lr": 0.02},
        **{"features": "motifs", "add_edges": True},
    )


def test_the_recipe_paper_on_dd(mcn: Run, data_root: Path, tmp_path: Path) -> None:
    """There the preset of mcn has motif counts as features and corrects for class priors."""
    words = ("--max-epochs", 1, "--no-report", "--data-root", data_root, "--json")
    found = answered(mcn("train", "--dataset", "dd7", "--recipe", "paper", *words, "--out", tmp_path / "run"))
    assert (found["recipe"], found["rows"][0]["method"]) == ("paper", "paper")
    assert (found["config"]["features"], found["config"]["class_priors"]) == ("given", "none")
    assert load_run(tmp_path / "run").memory.in_channels == load_dataset("dd7", root=data_root).num_features


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often motifs were counted, and their matrices or the rows of views made, wherever that was."""
    found: Counter[str] = Counter()
    # Whoever has a name of its own for them has to be there to be noted.
    for module in ("train.mcn.work", "train.views.work", "viz.explorer", "experiments", "cli.train"):
        importlib.import_module(f"mcn.{module}")
    for name, home in (("count_motifs", "mcn.motifs.count"), ("view_rows", "mcn.matrices")):
        original = getattr(importlib.import_module(home), name)
        holders = [
            module
            for path, module in list(sys.modules.items())
            if path.partition(".")[0] == "mcn" and vars(module).get(name) is original
            if path != "mcn.viz.force_layout"  # which counts the triangles of each component it draws
        ]
        assert len(holders) > 2

        def noted(*args: Any, original: Any = original, name: str = name, **kwargs: Any) -> Any:
            found[name] += 1
            return original(*args, **kwargs)

        for module in holders:
            monkeypatch.setattr(module, name, noted)
    made = MotifStack.from_counts.__func__  # type: ignore[attr-defined]

    def from_counts(cls: Any, *args: Any, **kwargs: Any) -> Any:
        found["stacks"] += 1
        return made(cls, *args, **kwargs)

    monkeypatch.setattr(MotifStack, "from_counts", classmethod(from_counts))
    return found


@pytest.mark.parametrize("seeds", [1, 2])
@pytest.mark.parametrize("recipe", [None, "mcn", "paper", "views"])
def test_nothing_is_made_twice(
    mcn: Run, tmp_path: Path, calls: Counter[str], recipe: str | None, seeds: int
) -> None:
    """Training, predicting and the report of every seed share the counts and the matrices."""
    words = ["--dataset", "karate", "--max-epochs", 2, "--seeds", seeds, "--out", tmp_path / "run"]
    printed(mcn("train", *words, *([] if recipe is None else ["--recipe", recipe])))
    assert len(list((tmp_path / "run").rglob("report.html"))) == seeds
    assert len(list((tmp_path / "run").rglob(PREDICTIONS))) == seeds
    assert calls == {"count_motifs": 1, "view_rows" if recipe == "views" else "stacks": 1}


def test_a_finished_run_that_is_resumed_and_methods_beside_it_do_not_count_again(
    mcn: Run, tmp_path: Path, calls: Counter[str]
) -> None:
    words = ["train", "--dataset", "karate", *QUICK, "--out", tmp_path / "run"]
    printed(mcn(*words, "--beside", "gat,lp"))
    assert calls["count_motifs"] == 1
    calls.clear()
    printed(mcn(*words, "--resume"))
    assert calls == {"count_motifs": 1, "stacks": 1}


@pytest.mark.parametrize(
    "words",
    [
        [
            *("--dataset", "karate", "--motifs", "2-star,edge", "--steps", 2, "--psi", "transition"),
            *("--attention", "paper", "--heads", 3, "--hidden", 3, "--max-epochs", 6, "--seed", 11),
            *(SET, "materialize=false", SET, "epsilon=0.3", SET, "gate=true", SET, "psi_prior=product"),
            *(SET, "policy_lr=1e-05", SET, "init_bias=1.5", SET, "class_priors=validation"),
            *(SET, "consistency=0.5", SET, "consistency_ramp=2", SET, "output_heads=2"),
        ],
        ["--preset", "citeseer", "--dataset", "karate", "--max-epochs", 4, "--stopping", "loss"],
        [
            *("--dataset", "karate", "--recipe", "views", "--motifs", "edge,order=3,random=2", "--seed", 4),
            *("--hidden", 5, "--layers", 1, "--max-epochs", 3, "--dropout", 0.1, "--features", "both"),
            *(SET, "walk_length=3", SET, "stop_probability=0.3", SET, "max_neighbours=5"),
            *(SET, "drop_neighbours=0.25", SET, "batch_norm=true", SET, "row_norm=yes", SET, "passes=3"),
            *(SET, "labelled_batch=3", SET, "unlabelled_batch=7", SET, "steps_per_epoch=2"),
            *(SET, "clip_gradient=0.5", SET, "ema_decay=0.5", SET, "consistency_ramp=0", SET, "tolerance=0"),
            *(SET, "smooth_predictions=1", SET, "min_confidence=1.5", SET, "symmetric=false"),
        ],
    ],
    ids=["mcn", "preset", "views"],
)
def test_the_command_under_repeat_gives_the_same_model(mcn: Run, tmp_path: Path, words: list[object]) -> None:
    printed(mcn("train", *words, "--out", tmp_path / "a"))
    again = shlex.split(read_page(tmp_path / "a" / "report.html")[0]["repeat"]["command"])
    assert again[:2] == ["mcn", "train"]
    assert "--preset" not in again
    printed(mcn(*again[1:], "--beside", "none", "--out", tmp_path / "b"))
    for name in ("config.yaml", "metrics.jsonl", "model.safetensors", "predictions.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


# Several processes: what is refused before any starts, how many there are, and when they are lost.

TRAIN = ("train", "--dataset", "karate", "--recipe", "mcn", "--beside", "none")


def test_how_many_processes_there_are_and_that_torchrun_and_ray_do_not_go_together(
    mcn: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    batches, whole = MCNConfig(batch_size=4), MCNConfig()
    assert _training.processes_on("ray", 3, None, batches) == 3
    assert _training.processes_on("ray", 1, "auto", whole) == 1  # one has nothing to share, and needs not
    assert _training.processes_on("local", 2, None, whole) == 1
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert _training.processes_on("local", 5, None, batches) == 2
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "0")
    said = refused(mcn(*TRAIN, "--engine", "ray", "--batch-size", "4", "--out", tmp_path / "run"))
    assert "leave out torchrun, give --workers" in said


@pytest.mark.parametrize("begun", [False, True])
def test_a_lost_cluster_says_how_to_go_on_with_a_run_that_was_begun(
    begun: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object, **__: object) -> None:
        raise ClusterError("workers were lost")

    monkeypatch.setattr("mcn.train.on_ray.train_on_ray", lost)
    monkeypatch.setattr("sys.argv", ["mcn", "train", "--engine", "ray"])
    if begun:
        (tmp_path / "config.yaml").touch()
    with pytest.raises(ClusterError) as error:
        _training.train_on_cluster(tmp_path, None, MCNConfig(), {0: tmp_path})  # type: ignore[arg-type]
    after = f"; go on with: mcn train --engine ray --out {tmp_path} --resume" if begun else ""
    assert str(error.value) == f"workers were lost{after}"
