"""Reading and packing a CSV edge list, each beside others that do so: CPU time, wall time, peak memory.

Run from the project's folder: ``python benchmarks/reading.py --lines 10000000``. Every measurement is a
process of its own, the best of `--repeats`. pyarrow makes a table of the two columns, of text also with a
dictionary for each ("numbered"); `mcn` finds out whether the ids are integers or text, numbers the distinct
ones of both columns together in ascending order and gives every edge two of these numbers.

Packing is `pack_graph`, on one thread, beside polars that reads and SciPy that makes a symmetric CSR, both of
whose arrays are saved: ids taken as places of rows, so that neither they nor the graph are checked, and then
numbered by NumPy, as `mcn` numbers them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

EDGES_PER_NODE = 10


def write_edges(path: Path, lines: int, kind: str) -> None:
    """Write random edges between a tenth as many nodes, named by integers or by text."""
    rng = np.random.default_rng(0)
    nodes = max(2, lines // EDGES_PER_NODE)
    prefix = "" if kind == "integers" else "user"
    with path.open("w") as file:
        file.write("source,target\n")
        for start in range(0, lines, 100_000):
            ends = rng.integers(0, nodes, (min(100_000, lines - start), 2)) * 7919 % nodes
            file.write("".join(f"{prefix}{u},{prefix}{v}\n" for u, v in ends.tolist()))


def numbered(path: Path) -> Any:
    """Read text into one dictionary per column, the part of the work that makes numbers of names."""
    from pyarrow import csv

    options = csv.ConvertOptions(auto_dict_encode=True, auto_dict_max_cardinality=2**31 - 1)
    return csv.read_csv(path, convert_options=options).unify_dictionaries()


def csr_of_polars(path: Path, number: bool) -> None:
    """Read with polars, make SciPy's CSR of both directions, and save its arrays."""
    import polars
    from scipy import sparse

    table = polars.read_csv(path)
    ends = np.stack([table["source"].to_numpy(), table["target"].to_numpy()])
    if number:
        ids, places = np.unique(ends, return_inverse=True)
        ends, nodes = places.reshape(2, -1), len(ids)
    else:
        nodes = int(ends.max()) + 1
    both = np.concatenate([ends, ends[::-1]], axis=1)
    matrix = sparse.coo_array((np.ones(both.shape[1], np.int8), tuple(both)), (nodes, nodes)).tocsr()
    matrix.sort_indices()
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "indptr.npy"), matrix.indptr)
        np.save(Path(folder, "indices.npy"), matrix.indices)


def packed(path: Path) -> None:
    from mcn.store.pack import pack_graph

    with tempfile.TemporaryDirectory() as folder:
        pack_graph(path, out=Path(folder, "graph"))


PACKERS: dict[str, Callable[[Path], None]] = {
    "polars + SciPy": lambda path: csr_of_polars(path, number=False),
    "the same, numbered": lambda path: csr_of_polars(path, number=True),
    "mcn pack": packed,
}


def measure(reader: str, path: Path) -> dict[str, float]:
    """Read a file in this process, after everything is imported and compiled."""
    small = path.with_name("small.csv")
    read: Callable[[Path], Any]
    if reader in PACKERS:
        small.write_text("source,target\n1,2\n3,4\n")
        read = PACKERS[reader]
        read(small)
    elif reader == "mcn":
        from mcn.data.edge_files import read_edges

        small.write_text("source,target\n1,2\n3,4\n")
        read_edges(small)
        read = read_edges
    else:
        from pyarrow import csv

        small.write_text("source,target\n1,2\n")
        csv.read_csv(small)
        read = csv.read_csv if reader == "pyarrow" else numbered
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, cpu = time.perf_counter(), time.process_time()
    found = read(path)
    taken = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - began}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    del found
    return taken | {"peak": peak / 1024, "more": (peak - before) / 1024}


def best(reader: str, path: Path, repeats: int) -> dict[str, float]:
    """The quickest of several processes."""
    words = [sys.executable, __file__, "--measure", reader, str(path)]
    threads = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS") if reader in PACKERS else ()
    environment = {**os.environ, **dict.fromkeys(threads, "1")}
    runs = [json.loads(subprocess.check_output(words, env=environment)) for _ in range(repeats)]
    return min(runs, key=lambda run: float(run["cpu"]))


def main() -> None:
    """Print a line per kind of ids and reader, and the ratios."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--lines", type=int, default=1_000_000)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--measure", nargs=2, metavar=("READER", "FILE"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure[0], Path(given.measure[1]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("integers", "text"):
            path = Path(folder) / f"{kind}.csv"
            write_edges(path, given.lines, kind)
            size = path.stat().st_size / 2**20
            print(f"{given.lines:,} lines of {kind}, {size:,.0f} MiB")
            show(["pyarrow", *(["pyarrow, numbered"] if kind == "text" else []), "mcn"], path, given.repeats)
            if kind == "integers":
                show(list(PACKERS), path, given.repeats)


def show(readers: list[str], path: Path, repeats: int) -> None:
    """Print what every reader takes, and the ratios of the last one to the others."""
    found = {reader: best(reader, path, repeats) for reader in readers}
    for reader, run in found.items():
        print(
            f"  {reader:18} {run['cpu']:6.2f} s CPU {run['wall']:6.2f} s wall, peak "
            f"{run['peak']:6,.0f} MiB ({run['more']:,.0f} MiB by it)"
        )
    *others, ours = readers
    for reader in others:
        ratio = {name: found[ours][name] / found[reader][name] for name in ("cpu", "wall")}
        print(f"  {ours} / {reader}: {ratio['cpu']:.2f} by CPU, {ratio['wall']:.2f} by wall", flush=True)


if __name__ == "__main__":
    main()
