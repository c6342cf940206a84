"""Commands that cannot be meant: one line on standard error, and nothing is left in the folder."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from mcn.cli.main import VERBS
from mcn.train import RECIPES
from tests.cli.conftest import Run, printed, refused, write_graph

METRICS = "accuracy, balanced-accuracy, macro-f1, roc-auc, average-precision, log-loss, …"
METHODS = "mcn, paper, views, trees, auto, gat, gcn, mlp, gat-consistency"
NOT_OF_VIEWS = "a setting of the recipes mcn and paper; the recipe views has none of that name"

# By how a command begins: how it goes on, and what is said; … stands for anything.
WRONG: dict[str, list[tuple[str, str]]] = {
    "": [
        ("motfs", "no verb 'motfs'; did you mean 'motifs'?"),
        ("data", "no verb 'data'; did you mean 'datasets'?"),
        ("xyzzy", f"no verb 'xyzzy'; verbs: {', '.join(VERBS)}"),
        ("--verison", "no option '--verison'; did you mean '--version'?"),
    ],
    "motifs": [
        ("--datset cora", "no option '--datset'; did you mean '--dataset'?"),
        ("--qqq", "no option '--qqq'; `mcn motifs --help` lists the options"),
        ("stray", "…stray…"),
        ("--threads 0", "…--threads…"),
        ("--threads two", "…--threads…"),
        ("--dataset", "…--dataset…"),
        ("--dataset ''", "unknown data set ''…"),
        ("--out counts.txt", "--out counts.txt: the file's name must end in .npz…"),
        ("--out absent/counts.npz", "--out absent/counts.npz: there is no folder absent…"),
        ("--out folder.npz", "--out folder.npz: this is a folder…"),
        ("--motifs triangel", "unknown motif 'triangel'; did you mean 'triangle'…"),
        ("--engine spark", "--engine must be one of local, ray…"),
    ],
    "train --dataset karate": [
        ("--resume", "--resume needs --out: the folder of the run to go on with"),
        ("--seeds 0", "…--seeds…"),
        ("--steps 0", "steps must be an integer of at least 1, got 0"),
        ("--psi row-mx", "…; did you mean 'row-max'?"),
        ("--motifs edge,triangl", "unknown motif 'triangl'; did you mean 'triangle'…"),
        ("--metric roc-acu", f"metric must be one of {METRICS}, got 'roc-acu'; did you mean 'roc-auc'?"),
        ("--class-weight balance", "…got 'balance'; did you mean 'balanced'?"),
        ("--beside gat,gnc", f"--beside must be one of {METHODS}…, got 'gnc'; did you mean 'gcn'?"),
        ("--engine spark", "--engine must be one of local, ray, got 'spark'…"),
        ("--address auto", "--address auto: is of a Ray cluster; it needs --engine ray…"),
        ("--engine ray --beside none", "several processes share mini-batches: give --batch-size…"),
        ("--set heads", "--set heads: expected NAME=VALUE"),
        ("--set ''", "--set : expected NAME=VALUE"),
        ("--set hedas=3", "--set hedas=3: unknown setting 'hedas'; did you mean 'heads'?"),
        ("--set Ωmega=3", "--set Ωmega=3: unknown setting 'Ωmega'"),
        ("--set =3", "--set =3: unknown setting ''"),
        ("--set lr=", "lr must be a number, got ''"),
        ("--set motifs=", "motifs must name at least one of them, got none"),
        ("--set heads=3 --set heads=4", "--set heads=4: heads is given twice"),
        ("--heads 2 --set heads=3", "--set heads=3: heads is given twice"),
        ("--features both --set features=given", "--set features=given: features is given twice"),
        ("--set seed=3", "--set seed=3: use --seed and --seeds"),
        (
            "--set walk_length=3",
            "walk_length is a setting of the recipes views and trees; the recipe mcn has…",
        ),
        (
            "--recipe paper --set class_priors=validation",
            "class_priors is none in the recipe paper, got validation; the recipe mcn can change it",
        ),
        (
            "--recipe view",
            "--recipe must be one of mcn, paper, views, trees, auto, got 'view'; did you mean 'views'?",
        ),
        (
            "--candidates gat",
            "candidates is a setting of the recipe auto; the recipe mcn has none of that name",
        ),
        (
            "--recipe auto --candidates gta",
            "candidates must be some of counts, dir-sage, dir-sage-3, dir-trees, gat, gcn, linear-views, "
            "mcn, mcn-3, mcn-dir, mlp, motif-trees, sage, sage-3, sage-8, trees, views, a motif or a "
            "motif with -sum, got 'gta'",
        ),
        ("--preset cora-views --psi transition", f"psi is {NOT_OF_VIEWS}"),
    ],
    "train": [
        ("--dataset cora --heads 8", f"heads is {NOT_OF_VIEWS}"),
        (
            "--preset cora --recipe views",
            "--preset cora has the recipe mcn, --recipe asks for views; leave out one of them, or use "
            "--preset cora-views",
        ),
        ("--preset pubmed-views --recipe mcn", "…leave out one of them, or use --preset pubmed"),
        (
            "--preset dd6 --recipe views",
            "--preset dd6 has the recipe mcn, --recipe asks for views; leave out one of them",
        ),
        ("--preset coar", "unknown preset 'coar'; did you mean 'cora'?…"),
        ("--preset missing.yaml", "missing.yaml: No such file or directory"),
        ("--preset bad.yaml", "preset bad.yaml: unknown setting 'lerning_rate'…"),
    ],
    "compare --dataset karate --jobs 1": [
        ("--methods mcn,gta", f"--methods must be one of {METHODS}…, got 'gta'; did you mean 'gat'?"),
        ("--methods labelprop,lp,planetiod", "…got 'labelprop'…"),
        ("--methods ,", "--methods names no method…"),
        ("--metric acuracy", f"metric must be one of {METRICS}, got 'acuracy'; did you mean 'accuracy'?"),
        ("--seeds 0", "…--seeds…"),
        ("--jobs 0", "…--jobs…"),
        ("--set walk_lenght=3", "…unknown setting 'walk_lenght'; did you mean 'walk_length'?"),
        ("--set epsilon=2", "…epsilon must be a probability, got 2.0"),
    ],
    "search": [
        ("--space quik", "unknown space 'quik'; did you mean 'quick'?…"),
        ("--resume", "--resume needs --out or --ledger…"),
        ("--trials 0", "…'--trials'…"),
        ("--dataset karate --sampler random", "sampler must be one of tpe, grid, got 'random'…"),
        ("--dataset karate --engine dask", "engine must be one of local, ray, got 'dask'…"),
        ("--dataset karate --metric roc-acu", "…got 'roc-acu'; did you mean 'roc-auc'?"),
        ("--dataset karate --split 60/20/20", "--split: for a graph of one's own; give --graph and --nodes"),
    ],
    "reproduce": [
        ("table4", "…table3, figure1, figure2, figure3, figure4, got 'table4'; did you mean…"),
        ("table2 --methods mnc", "…got 'mnc'; did you mean 'mcn'?"),
        ("table2 --methods ,", "--methods names nothing, got ','…"),
        ("table2 --datasets dd6", "datasets must be one of cora, citeseer, pubmed, got 'dd6'…"),
        ("table3 --seeds 0", "…--seeds…"),
        ("figure1 --methods mcn", "--methods is for table2, table3; figure1…"),
        ("figure2 --seeds 3", "--seeds is for table2…"),
        ("figure4 --datasets karate", "--datasets: figure4 is about cora, got 'karate'…"),
        ("figure1 --datasets karate,cora", "--datasets: figure1 shows one graph, got karate, cora…"),
        ("table1 --datasets korate", "unknown data set 'korate'; did you mean 'karate'…"),
        ("table2 --sedes 2", "no option '--sedes'; did you mean '--seeds'?"),
        ("table2 --check 3", "--check needs --from: the folder of the runs to repeat"),
        ("figure1 --from folder.npz", "--from is for table2, table3; figure1 has none"),
        ("table2 --from folder.npz --out out", "…folder.npz/table2.csv…"),
    ],
}
GRAPHS = [
    ("--dataset kartae", "unknown data set 'kartae'; did you mean 'karate'?…"),
    ("--graph none.csv", "…none.csv: no such file…"),
    ("--dataset karate --graph e.csv", "give --dataset or --graph, not both…"),
    ("--nodes nodes.csv", "--nodes describes the nodes of --graph; give that too…"),
    ("--jsn", "no option '--jsn'; did you mean '--json'?"),
]
CASES = [(f"{start} {words}", message) for start, cases in WRONG.items() for words, message in cases]
CASES += [
    (f"{verb} {words}", message)
    for verb in ("check", "train", "compare", "search", "motifs")
    for words, message in GRAPHS
    if (verb, words[:7]) != ("motifs", "--nodes")  # counting takes no table of nodes
]


@pytest.mark.parametrize(("command", "message"), CASES)
def test_wrong_use(mcn: Run, command: str, message: str, here: Path) -> None:
    Path("folder.npz").mkdir()
    Path("bad.yaml").write_text("lerning_rate: 1\n")
    told = refused(mcn(*shlex.split(command)))
    assert re.fullmatch(re.escape(message).replace("…", ".*"), told), told
    assert {path.name for path in here.rglob("*")} == {"folder.npz", "bad.yaml"}


def test_an_extra_is_asked_for_before_the_work(mcn: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("matplotlib", "matplotlib.figure", "networkx"):
        monkeypatch.setitem(sys.modules, module, None)
    assert "need matplotlib: pip install 'mcn[viz]'" in refused(
        mcn("reproduce", "figure4", "--out", "figure")
    )
    assert list(here.iterdir()) == []  # no network was trained
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert "needs Optuna: pip install 'mcn[search]'" in refused(mcn("search", "--dataset", "karate"))


def test_help_names_what_is_taken(mcn: Run) -> None:
    text = " ".join(printed(mcn("train", "--help")).split())
    assert all(recipe in text for recipe in RECIPES)
    assert "eq:k" not in text  # --psi takes names alone
    assert "psi must be one of" in refused(mcn("train", "--dataset", "karate", "--psi", "eq:k2"))


def test_a_folder_that_cannot_be_written_is_named(mcn: Run, here: Path) -> None:
    edges, _ = write_graph(here)
    assert "/proc/packed" in refused(mcn("pack", edges, "--out", "/proc/packed"))
