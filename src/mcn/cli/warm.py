"""`mcn warm`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from mcn.cli import _options as options
from mcn.cli._terminal import compile_notice, plain_warnings, rough_time

NODES = 300
EDGES = "source,target\n0,1\n1,2\n2,0\n2,3\n"
MATRIX = "%%MatrixMarket matrix coordinate pattern general\n4 4 2\n1 2\n3 4\n"


def run(as_json: options.Json = False) -> None:
    """Compile the kernels now, so that no later command has to wait for it.

    Counts the motifs of small graphs and trains each recipe for two epochs; what is compiled is kept on disk.
    Useful once after an installation or an update, and in the recipe of a container.

    Example: mcn warm
    """
    with plain_warnings(), compile_notice() as compiled, tempfile.TemporaryDirectory() as folder:
        _count(Path(folder))
        _train(Path(folder))
    place = _place()
    if as_json:
        kept = None if place is None else str(place)
        print(json.dumps({"kernels": compiled.kernels, "seconds": compiled.taken, "kept": kept}, indent=2))
        return
    if compiled.kernels == 0:
        print(f"nothing to compile: all kernels are in {place}")
        return
    where = f"kept in {place}" if place else "kept nowhere: no folder can be written; set NUMBA_CACHE_DIR"
    print(f"compiled {compiled.kernels} kernels in {rough_time(compiled.taken)}; {where}")


def _count(folder: Path) -> None:
    """Use what reading and counting need, on one thread and on two."""
    from mcn.data import load_dataset_edges, load_edges
    from mcn.motifs import count_motifs

    for name, text in (("edges.csv", EDGES), ("matrix.mtx", MATRIX)):
        (folder / name).write_text(text)
        load_edges(folder / name)
    karate = load_dataset_edges("karate").graph
    for threads in (1, 2):
        counts = count_motifs(karate.edge_index, karate.num_nodes, threads=threads)
        counts.totals()


def _train(folder: Path) -> None:
    """Use what the recipes need, their special cases, and the page on a run."""
    from mcn.data import strong_ties
    from mcn.experiments import compare
    from mcn.train import RECIPES, train
    from mcn.viz import write_report

    data = strong_ties(num_nodes=NODES, val=NODES // 4, test=NODES // 4)
    for name, recipe in RECIPES.items():
        if name == "auto":  # it trains the others
            continue
        config = recipe.config(max_epochs=2)
        run = train(data, config, folder / name)
        write_report(run, data)
    compare(data, ("gat", "gcn"), (0,), settings={"max_epochs": 2})


def _place() -> Path | None:
    """Where compiled kernels are kept; None if they cannot be."""
    from mcn.data import csr_graph

    path = csr_graph._build.stats.cache_path  # type: ignore[attr-defined]
    if path is None:
        return None
    folder = Path(path).parent  # each file of the package has a folder of its own in a cache
    return folder.parent if Path(path).name == "__pycache__" else folder
