"""Training on a Ray cluster by Ray Train: what ``torchrun`` does, with workers that are replaced.

Every worker calls `mcn.train.train`, as every process of ``torchrun`` does. The first one writes
into the folder of the run, checkpoints included; when a worker dies, Ray Train starts all of them again, and
they go on from the last checkpoint. Folders, and a graph that stays on disk, must be under the same path on
every machine; a graph in memory is shipped to them.
"""

from __future__ import annotations

import copy
import json
import logging
import re
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphmotifs._files import write_text
from graphmotifs._ray import RETRIES, ClusterError, connect, import_ray
from mcn.motifs import MotifCounts
from mcn.store import GraphStore
from mcn.train.problem import prepare
from mcn.train.processes import backend, is_lost
from mcn.train.run import Run, train
from mcn.train.settings import Settings

if TYPE_CHECKING:
    from torch_geometric.data import Data

SCRATCH = ".ray"
"""In the folder of a run: what Ray Train keeps while it works."""
_ERROR = "error.json"


def import_ray_train() -> Any:
    """Import Ray Train, quietly.

    Raises:
        ValueError: it is not installed, or something that it needs.
    """
    import_ray("mcn[cluster]")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ray.train
            import ray.train.torch
    except ImportError:
        raise ValueError("training on Ray needs Ray Train: pip install 'mcn[cluster]'") from None
    return ray.train


def train_on_ray(
    data: Data | GraphStore,
    config: Settings,
    folders: Mapping[int, Path],
    *,
    source: dict[str, Any],
    workers: int,
    counts: MotifCounts | None = None,
    address: str | None = None,
) -> list[Run]:
    """Train a run per seed with several workers, each of which takes its share of every batch.

    A run in `folders` that was begun is gone on with: see to it before that this is meant.

    Args:
        data: the graph.
        config: the settings, but for the seed.
        folders: of the runs, by seed.
        source: where the graph came from.
        workers: how many; each takes a CPU, and a GPU where `config` says so.
        counts: the motif counts, if they are known already.
        address: of a running cluster; None starts one on this machine, which ends with the training.

    Raises:
        ValueError: Ray Train is not installed, the cluster is too small, or what training itself raises.
        OSError: no cluster at this address.
        ClusterError: the workers were lost again and again, or have no `mcn`.
    """
    train, ray = import_ray_train(), import_ray("mcn[cluster]")
    started = not ray.is_initialized()
    if started:
        connect(ray, workers, address)
    scratch = next(iter(folders.values())).absolute() / SCRATCH
    try:
        _check_room(ray, workers, config.device == "cuda")
        given = {
            "folders": {seed: str(folder.absolute()) for seed, folder in folders.items()},
            "config": config,
            "source": source,
            "error": str(scratch / _ERROR),
            # In a list the reference is handed on as it is, and each worker fetches the graph for itself.
            "graph": str(data.path.resolve()) if isinstance(data, GraphStore) else [ray.put((data, counts))],
        }
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        _fit(ray, train, scratch, given, workers, config.device)
        _raise_noted(scratch / _ERROR)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        if started:
            ray.shutdown()
    try:
        return [Run.load(folder) for folder in folders.values()]
    except ValueError as error:
        raise ClusterError(
            f"the workers are done, but {error}; every machine must see the folder under the same path"
        ) from None


def _check_room(ray: Any, workers: int, gpus: bool) -> None:
    """Refuse more workers than the cluster could ever start."""
    for kind in ("CPU", "GPU") if gpus else ("CPU",):
        found = int(ray.cluster_resources().get(kind, 0))
        if workers > found:
            raise ValueError(
                f"--workers {workers}: the cluster has {found} {kind}s, and each worker takes one"
            )


def _fit(ray: Any, train: Any, scratch: Path, given: dict[str, Any], workers: int, device: str) -> None:
    trainer = train.torch.TorchTrainer(
        work,
        train_loop_config=given,
        torch_config=train.torch.TorchConfig(backend=backend(device)),
        scaling_config=train.ScalingConfig(num_workers=workers, use_gpu=device == "cuda"),
        run_config=train.RunConfig(
            name="train",
            storage_path=str(scratch),
            failure_config=train.FailureConfig(max_failures=RETRIES, controller_failure_limit=RETRIES),
        ),
    )
    try:
        with _quiet():
            trainer.fit()
    except SystemExit:  # what Ray Train makes of Ctrl-C
        raise KeyboardInterrupt from None
    except (train.TrainingFailedError, ray.exceptions.RayError) as error:  # of workers, or of their leader
        _raise_noted(scratch / _ERROR)
        raise ClusterError(_words(error)) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Ray Train's own lines and warnings from the user's screen; restore the handler of Ctrl-C."""
    import signal
    import threading

    logger = logging.getLogger("ray")
    level, main = logger.level, threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
        if main:
            signal.signal(signal.SIGINT, handler)


def work(given: dict[str, Any]) -> None:
    """Do what one worker does; the others do the same at the same time."""
    note = Path(given["error"])
    if note.exists():  # what ended the try before would end this one as well
        return
    try:
        if isinstance(given["graph"], str):
            data, counts = GraphStore.open(given["graph"]), None
        else:
            import ray

            # A copy: what comes from the object store cannot be written to, and compiled kernels would tell.
            shared, counts = ray.get(given["graph"][0])
            data, counts = shared.clone(), copy.deepcopy(counts)
        config = given["config"]
        problem = prepare(data, config, counts)
        for seed, folder in given["folders"].items():
            train(
                data, config.replace(seed=seed), folder, source=given["source"], problem=problem, resume=True
            )
    except Exception as error:
        if not is_lost(error):
            kind = next((k for k in _KINDS if isinstance(error, _KINDS[k])), "other")
            text = str(error) if kind != "other" else f"{type(error).__name__}: {error}"
            write_text(note, json.dumps({"kind": kind, "text": text}))
        raise


_KINDS: dict[str, type[Exception]] = {"value": ValueError, "file": OSError, "memory": MemoryError}


def _raise_noted(note: Path) -> None:
    """Raise here what a worker raised, if it was not the loss of another one."""
    if note.exists():
        found = json.loads(note.read_text(encoding="utf-8"))
        raise _KINDS.get(found["kind"], ClusterError)(found["text"])


def _words(error: Any) -> str:
    """One line on why Ray Train gave up."""
    text = str(error)
    missing = re.search(r"No module named '(mcn|torch|torch_geometric|numba)[.\w]*'", text)
    if missing is not None:
        return f"a worker of the cluster has no {missing[1]}: every machine needs mcn installed"
    lost = getattr(error, "worker_failures", {})
    if lost:
        which = ", ".join(str(rank) for rank in sorted(lost))
        kind = type(next(iter(lost.values()))).__name__
        return f"workers of the run were lost {RETRIES + 1} times, at last number {which} ({kind})"
    last = [line.strip() for line in text.splitlines() if line.strip()][-1]
    return f"Ray Train could not start the workers ({last[:300]})"
