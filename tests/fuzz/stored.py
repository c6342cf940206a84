"""What the program itself writes and reads again, as targets: presets, spaces, runs, models, ledgers."""

import atexit
import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch

import mcn
from mcn.data import Treatment
from mcn.experiments import Ledger, compare
from mcn.experiments.search import load_space
from mcn.nn._parallel import one_torch_thread
from mcn.train import RECIPES, load_preset, load_run, prepare, train
from mcn.train.checkpoint import load_tensors, save_tensors
from mcn.train.folder import CONFIG, LAST, METRICS, MODEL, PREDICTIONS, SUMMARY
from mcn.train.predictions import read_predictions
from mcn.train.problem import Problem
from mcn.train.recipes import work_of
from mcn.train.run import _go_on
from mcn.viz.explanation import Predictor
from mcn.viz.page_data import training_curves
from tests.fuzz import mutate
from tests.fuzz.mutate import MARK
from tests.fuzz.target import Target, reading, register, written

SOURCE = Path(mcn.__file__).parent
SPACES = "experiments/search/spaces"
_SMALL = {"hidden": 2, "heads": 2, "max_epochs": 12}
CONFIGS = {
    "mcn": RECIPES["mcn"].config.from_dict(_SMALL),
    "paper": RECIPES["paper"].config.from_dict(_SMALL),
    "views": RECIPES["views"].config.from_dict({"max_epochs": 4, "steps_per_epoch": 2}),
    "auto": RECIPES["auto"].config.from_dict({"candidates": ["mlp", "gat"], "repeats": 2, "max_epochs": 6}),
}
YAML = [
    b"&a ", b"*a", b"<<: ", b"- ", b"? ", b": ", b"!!", b"!!python/name:os.system", b"!!binary x",
    b"!!set", b"!!timestamp x", b"2001-99-99", b"{", b"}", b"[", b"]", b"|\n", b">\n", b"---\n",
    b"%YAML 9\n", b".nan", b".inf", b"~", b"null", b"true", b"[[[[[[[[", b"motifs: ", b"hidden: ",
    b"low: 1", b"high: 2", b"subsets: ", b"recipe: views\n", b"settings: ", b"fixed: ", b"\n  ",
    b"edge", b"order=", b"random=",
]  # fmt: skip
JSON = b'{ } [ ] null true NaN Infinity -Infinity "" "a" {} [] 1e999 -1 "number" "category"'.split()
JSON += [*b'"count_scale" "classes" "in_channels" "columns" "F32" "I64"'.split(), b"[" * 30]


@cache
def _stored() -> Path:
    """A folder with a small run of every recipe, made once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="mcn-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    data = mcn.load_dataset("karate")
    for kind, config in CONFIGS.items():
        train(data, config, folder / kind)
    return folder


def _run_folder(folder: Path, kind: str) -> Path:
    """A stored run in the child's folder, made once."""
    own = folder / f"input-{kind}"
    if not own.exists():
        shutil.copytree(_stored() / kind, own)
    return own


def _in_run(name: str) -> Callable[[bytes, Path], None]:
    """Put the content in the place of one file of a stored run, and read the run."""

    def run(content: bytes, folder: Path) -> None:
        own = _run_folder(folder, "views")
        before = (_stored() / "views" / name).read_bytes()
        (own / name).write_bytes(content)
        try:
            found = load_run(own)
            assert isinstance(found.config.motifs, tuple)
            assert isinstance(found.summary, dict)
        finally:
            (own / name).write_bytes(before)

    return run


def _tensor(value: Any) -> torch.Tensor:
    """Ones of the kind and shape that a plan states, as far as there are such; never large."""
    kind, shape = value if isinstance(value, list) and len(value) == 2 else ("float32", [1])
    dtype = getattr(torch, kind, None) if isinstance(kind, str) else None
    sizes = [min(abs(size), 64) for size in shape if isinstance(size, int)] if isinstance(shape, list) else []
    try:
        return torch.ones(sizes[:3], dtype=dtype if isinstance(dtype, torch.dtype) else torch.float32)
    except (RuntimeError, TypeError):  # a kind without ones
        return torch.ones(1)


def _planned(content: bytes) -> tuple[str, dict[str, torch.Tensor], dict[str, Any]]:
    """A recipe, tensors by kind and shape, and plain values, as a plan in JSON states them."""
    try:
        plan = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("input: the plan is not JSON") from None
    if not isinstance(plan, dict) or not isinstance(plan.get("tensors"), dict):
        raise ValueError("input: no plan of a model")
    tensors = {name: _tensor(value) for name, value in list(plan["tensors"].items())[:200]}
    state = plan.get("state")
    kind = plan["kind"] if plan.get("kind") in tuple(CONFIGS) else "mcn"
    return kind, tensors, state if isinstance(state, dict) else {}


def _signed_model(content: bytes, folder: Path) -> None:
    """A model whose checksum fits, whatever it states."""
    kind, tensors, state = _planned(content)
    own = _run_folder(folder, kind)
    before = (own / MODEL).read_bytes()
    try:
        save_tensors(own / MODEL, tensors, state)
        found = load_run(own)
        assert all(torch.isfinite(value).all() for value in found.model.state_dict().values())
    finally:
        (own / MODEL).write_bytes(before)


def _plan(kind: str, path: Path) -> bytes:
    tensors, state = load_tensors(path)
    shapes = {
        name: [str(value.dtype).removeprefix("torch."), list(value.shape)]
        for name, value in sorted(tensors.items())
    }
    return json.dumps({"kind": kind, "tensors": shapes, "state": state}).encode()


def _model_seeds() -> list[bytes]:
    return [_plan(kind, _stored() / kind / MODEL) for kind in CONFIGS]


@cache  # the seconds in it are others each time
def _checkpoint_seeds() -> list[bytes]:
    plans = []
    for kind, config in CONFIGS.items():
        trainer = work_of(config).trainer(_problem(kind), config)
        with one_torch_thread():
            for _ in range(3):
                trainer.run_epoch()
        save_tensors(_stored() / LAST, trainer.tensors(), trainer.state())
        plans.append(_plan(kind, _stored() / LAST))
    return plans


@cache
def _problem(kind: str) -> Problem:
    return prepare(mcn.load_dataset("karate"), CONFIGS[kind])


def _checkpoint(content: bytes, folder: Path) -> None:
    """A checkpoint whose checksum fits: one that is loaded lets training go on, or says why not."""
    kind, tensors, state = _planned(content)
    path = folder / "input.safetensors"
    save_tensors(path, tensors, state)
    try:
        trainer = work_of(CONFIGS[kind]).trainer(_problem(kind), CONFIGS[kind])
        _go_on(trainer, path)
        with one_torch_thread():
            trainer.run_epoch()
    finally:
        path.unlink()


def _curves(path: Path) -> None:
    curves = training_curves(path, Predictor("network", {"MCN": 1.0}), {"best_epoch": 1}) or {}
    assert len({len(values) for values in curves.values() if isinstance(values, list)}) <= 1
    json.dumps(curves, allow_nan=False)


def _ledger(path: Path) -> None:
    for row in Ledger(path).rows():
        assert isinstance(row["settings"], dict | list | str | int | float | None)
        assert row["key"]


@cache
def _ledger_seeds() -> list[bytes]:
    path = _stored() / "ledger.sqlite"
    if not path.exists():
        compare(mcn.load_dataset("karate"), ("gcn", "mlp"), ledger=Ledger(path), settings={"max_epochs": 2})
    return [path.read_bytes(), b""]


def _treatment(content: bytes, folder: Path) -> None:
    """A treatment, as a model's file states it, and a table of nodes that it is applied to."""
    stated, _, table = content.partition(MARK)
    edges = folder / "edges.csv"
    edges.write_text("1,2\n2,3\n")
    try:
        given = json.loads(stated)
    except (ValueError, RecursionError):
        raise ValueError("input: the treatment is not JSON") from None
    try:
        with written(folder, "input.csv", table) as nodes:
            data = mcn.load_graph(edges, nodes, treatment=Treatment.from_dict(given))
    except ValueError as error:
        if "a feature treatment" in str(error):  # which has no file of its own
            raise ValueError(f"input: {error}") from None
        raise
    values = data.x.values() if data.x.layout == torch.sparse_csr else data.x
    assert torch.isfinite(values).all(), "features that are not finite"
    assert data.x.shape[0] == data.num_nodes


def _treatment_seeds() -> list[bytes]:
    columns: list[dict[str, Any]] = [
        {"name": "age", "kind": "number", "fill": 1.0, "mean": 2.0, "scale": 3.0, "indicator": True},
        {"name": "town", "kind": "category", "categories": ["a", "b"]},
        {"name": "ok", "kind": "boolean"},
    ]
    table = b"id,label,split,age,town,ok\n1,x,train,5,a,true\n2,y,val,,b,false\n3,x,test,7,c,1\n"
    stated = [{"scaling": kind, "columns": columns} for kind in ("raw", "rows", "unit")]
    return [json.dumps(each).encode() + MARK + table for each in stated]


def _packaged(folder: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for path in sorted((SOURCE / folder).glob("*.yaml"))]


def _of_run(name: str, kinds: tuple[str, ...] = ("views",)) -> Callable[[], list[bytes]]:
    return lambda: [(_stored() / kind / name).read_bytes() for kind in kinds]


_prediction_seeds = _of_run(PREDICTIONS, ("views", "mcn"))
_YAML, _JSON, _TEXT = mutate.anything(YAML), mutate.anything(JSON), mutate.anything(mutate.TEXT)
for _target in (
    Target("preset", _packaged("train/presets"), _YAML, reading("input.yaml", load_preset), "input"),
    Target("space", _packaged(SPACES), _YAML, reading("input.yaml", load_space), "input"),
    Target("run-settings", _of_run(CONFIG, ("views", "mcn")), _YAML, _in_run(CONFIG), "input"),
    Target("run-summary", _of_run(SUMMARY), _JSON, _in_run(SUMMARY), "input"),
    Target("run-model", _of_run(MODEL), _JSON, _in_run(MODEL), "input"),
    Target("signed-model", _model_seeds, _JSON, _signed_model, "input"),
    Target("checkpoint", _checkpoint_seeds, _JSON, _checkpoint, ""),
    Target("metrics", _of_run(METRICS, ("views", "mcn")), _JSON, reading(METRICS, _curves), METRICS),
    Target("predictions", _prediction_seeds, _TEXT, reading("input.csv", read_predictions), "input"),
    Target("ledger", _ledger_seeds, mutate.anything(), reading("input.sqlite", _ledger), "input"),
    Target("treatment", _treatment_seeds, mutate.parts(_JSON), _treatment, "input"),
):
    register(_target)
