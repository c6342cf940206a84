"""One run per split: every candidate, the choice for the graph, the choice of the nodes, and controls."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn import __version__
from mcn._files import write_text
from mcn.data import load_dataset
from mcn.data.splits import random_split, share_split
from mcn.experiments.choice.others import AUTO, OTHERS, run_other
from mcn.train import MCNConfig, fit, prepare
from mcn.train.predictions import accuracy_on_test
from mcn.train.probes.choose import Ridge, as_logits, best_temperature, tempered
from mcn.train.probes.network import REFIT
from mcn.train.probes.trainer import ProbesTrainer
from mcn.train.problem import Problem
from mcn.train.recipes import work_of

SETS = (
    *("strong-ties", "texas", "texas-drawn", "wisconsin", "wisconsin-drawn", "chameleon-filtered"),
    *("chameleon-filtered-drawn", "actor", "minesweeper", "amazon-photo", "airports-usa", "cora"),
    *("cora-drawn", "citeseer", "citeseer-drawn", "pubmed", "pubmed-drawn", "dd7"),
)
"""The sets of the study. Settings are the defaults of `mcn.MCNConfig` on all of them."""
DRAWN = {
    f"{name}-drawn": name
    for name in ("texas", "wisconsin", "chameleon-filtered", "cora", "citeseer", "pubmed")
}
"""Sets with splits that are drawn anew, beside the given ones that everybody has looked at."""
DRAWN_SHARES = (48, 32, 20)  # of the given splits
DRAWN_COUNTS = {"train_per_class": 20, "val": 500, "test": 1000}  # of the public splits of the citation sets
FIRST = {"airports-usa": 10, "amazon-photo": 10, "strong-ties": 10, "dd7": 300}
"""The first split, for strong-ties the first graph, for dd7 the first draw; those before it were looked at in
development."""
COLUMNS = ("set", "split", "row", "test", "held_out", "seconds", "epochs", "note", "version")
RULE = "mcn"
METHODS = (RULE, *OTHERS)
"""What is run on a split: the rule, which gives most of the rows, and the methods beside it."""
KNOWN = (*METHODS, AUTO)
"""What can be run."""
_SEEDED = ("strong-ties", "dd6", "dd7")
_ONE = ("cora", "citeseer", "pubmed")


def load_split(name: str, split: int, root: str | os.PathLike[str] | None = None) -> Data:
    """Return a set with one of its splits; the citation sets have one, and the seed of training varies."""
    if name in DRAWN:
        return _drawn(DRAWN[name], split, root)
    if name in _SEEDED:
        return load_dataset(name, root, seed=split)  # type: ignore[arg-type]
    return load_dataset(name, root, split=0 if name in _ONE else split)  # type: ignore[arg-type]


def _drawn(name: str, seed: int, root: str | os.PathLike[str] | None) -> Data:
    data = load_dataset(name, root)  # type: ignore[arg-type]
    if name in _ONE:
        masks = random_split(data.y, seed=seed, **DRAWN_COUNTS)
        said = "20 per class, 500 for validation, 1000 for testing"
    else:
        parts = torch.from_numpy(share_split(data.y.numpy(), DRAWN_SHARES, seed=seed))
        masks = parts == 0, parts == 1, parts == 2
        said = f"{'/'.join(map(str, DRAWN_SHARES))}, stratified by class"
    data.train_mask, data.val_mask, data.test_mask = masks
    data.split_at_random = True
    data.report = [data.report[0], f"split: {said}, drawn with seed {seed}"]
    return data


def run_split(data: Data, seed: int, **changes: Any) -> list[dict[str, Any]]:
    """Train by the rule `probed` and read the test labels once, for every row of the study.

    Rows: every candidate for all nodes; `pick`, the candidate that validation nodes like best; `graph`, what
    the rule would predict by without choices per node, a blend of candidates or the pick; `nodes`, each
    node's own candidate by the fitted chooser, whether or not the rule would use it; `refit`, one network on
    the chosen rows, where it was trained; `rule`, what the rule predicts by; `mixture`, the mean of all
    candidates weighted by the softmax of their predicted rewards; `control`, the picked candidate with as
    many parameters fitted on validation labels as the chooser has, but nothing to choose: its classes' scores
    are shifted by what the same ridge regression makes of the state. `changes` are settings other than the
    defaults.
    """
    config = MCNConfig(seed=seed, **changes)
    problem = prepare(data, config)
    trainer = work_of(config).trainer(problem, config)
    if not isinstance(trainer, ProbesTrainer):
        raise ValueError(f"the study is about the rule probed, the default is {config.attention}")
    fit(trainer)
    model, inputs = trainer.model, problem.inputs
    by_name = {row["candidate"]: row for row in trainer.runs}
    each = {
        probe.name: work_of(probe.config).predict(only, inputs.of(probe)).probabilities
        for probe, (only,) in zip(model.probes, model.networks, strict=False)
    }
    for probe in model.probes:  # what others are compared with is trained to its own end
        if probe.name in _ALONE and by_name[probe.name]["outrun"]:
            alone = work_of(probe.config).trainer(Problem(inputs.of(probe), problem.known), probe.config)
            result = fit(alone)
            by_name[probe.name] |= {"seconds": result.seconds, "epochs": result.epochs}
            each[probe.name] = work_of(probe.config).predict(alone.model, inputs.of(probe)).probabilities
    choosing = trainer.notes().get("choosing", {})
    chosen: dict[str, NDArray[Any]] = dict(each)
    calibrated = np.stack(
        [tempered(as_logits(p), float(t)) for p, t in zip(each.values(), model.temperatures, strict=False)]
    )
    reward = model.chooser.predicted(inputs.node_state)
    nodes = np.arange(len(reward))
    chosen["pick"] = each[model.decision.winner]
    chosen["nodes"] = calibrated[reward.argmax(1), nodes]
    chosen["mixture"] = np.einsum("nc,cnk->nk", tempered(reward, 0.05), calibrated)
    blended = np.tensordot(model.shares.numpy(), calibrated, 1) if model.shares.any() else None
    chosen["graph"] = chosen["pick"] if blended is None else blended
    chosen["control"] = _control(each[model.decision.winner], inputs.node_state, problem)
    chosen["rule"] = work_of(config).predict(model, inputs).probabilities
    if model.decision.mode == REFIT:
        chosen["refit"] = chosen["rule"]
    rows = []
    for name, probabilities in chosen.items():
        own = by_name.get(name, {})
        note = ""
        if name == "rule":
            note = f"{choosing.get('mode', 'graph')} by {model.decision.winner}"
        elif name == "nodes":
            note = " ".join(f"{key}={choosing[key]:.4f}" for key in _FIGURES if choosing.get(key) is not None)
        rows.append(
            {
                "row": name,
                "test": accuracy_on_test(data, probabilities.argmax(1)),
                "held_out": own.get("held_out"),
                "seconds": own.get("seconds") if name != "rule" else trainer.seconds,
                "epochs": own.get("epochs"),
                "note": note,
            }
        )
    return rows


_ALONE = ("mlp", "gcn", "gat")
_FIGURES = ("gain", "gain_error", "high", "apparent_room", "chance_room", "bound")


def _control(probabilities: NDArray[Any], state: NDArray[np.float64], problem: Any) -> NDArray[np.float64]:
    """Return one candidate's predictions, improved by the validation labels without any choice.

    Its residuals (one-hot class less probability) on validation nodes are regressed on the state, as rewards
    are by the chooser, with the penalty 1; what the regression predicts is added.
    """
    labels = problem.val_labels.numpy()
    logits = as_logits(probabilities)
    own = tempered(logits, best_temperature(logits[problem.val], labels))
    residual = np.eye(own.shape[1])[labels] - own[problem.val]
    fitted = Ridge(state[problem.val], residual).chooser(1.0)
    return np.asarray(own + fitted.predicted(state))


def choice_study(
    out: str | os.PathLike[str],
    sets: Iterable[str] = SETS,
    splits: int = 10,
    root: str | os.PathLike[str] | None = None,
    report: Callable[[str], Any] | None = None,
    methods: Iterable[str] = METHODS,
) -> list[dict[str, Any]]:
    """Run the study into a CSV file; what it has already is not run again.

    `methods` are some of `KNOWN`: RULE stands for all rows that one run of the rule gives, each of the
    others for a row of its own. They can be run separately, in any order, into the same file.
    """
    path, wanted = Path(out), list(methods)
    rows = read_rows(path)
    for name in sets:
        for split in range(FIRST.get(name, 0), FIRST.get(name, 0) + splits):
            have = {row["row"] for row in rows if row["set"] == name and int(row["split"]) == split}
            missing = [method for method in wanted if ("rule" if method == RULE else method) not in have]
            data = load_split(name, split, root) if missing else None
            for method in missing:
                with torch.random.fork_rng(devices=[]):
                    if method == RULE:
                        found = run_split(data, split)
                    else:
                        found = [run_other(data, DRAWN.get(name, name), method, split)]
                rows = merged(
                    rows, [{"set": name, "split": split, **row, "version": __version__} for row in found]
                )
                write_rows(path, rows)
                if report is not None:
                    last = next(row for row in found if row["row"] in ("rule", method))
                    note = f" ({last['note']})" if last["note"] else ""
                    report(f"{name}, split {split}, {method}: {100 * last['test']:.1f}{note}")
    return rows


def merged(*parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all rows, one for each set, split and name of a row: the last of those that are given."""
    found = {(str(row["set"]), int(row["split"]), str(row["row"])): row for part in parts for row in part}
    order = {name: number for number, name in enumerate(SETS)}
    late = {name: number for number, name in enumerate((*OTHERS, AUTO), 1)}
    keys = sorted(found, key=lambda key: (late.get(key[2], 0), order.get(key[0], len(order)), key[1]))
    return [found[key] for key in keys]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of the study's file; none if there is none."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write the study's file."""
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for row in rows:
        table.writerow({key: f"{v:.6g}" if isinstance(v := row.get(key), float) else v for key in COLUMNS})
    write_text(path, text.getvalue())
