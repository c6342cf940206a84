"""Whether anything has become slower: an earlier version beside this one, in turns, in processor seconds.

    git worktree add ../before ff9fab0
    python benchmarks/versions.py ../before [--rows train,motifs] [--rounds 3] [--large] [--data-root DATA]

Every measurement is a process of its own on one thread, of either version in turn. A row is a command, all of
whose processor time counts, that of the processes it starts included; or a call within a process that has
imported and compiled what it needs, of which the best of a few counts. Warm commands run once before they are
measured; for first ones the cache of compiled kernels is empty. Files and graphs are generated once, and the
same for both versions. `--rows` names the rows to measure, `--large` adds those of ten million edges.

The ratio is that of the least seconds of all rounds, this version over the earlier one; the ratios of the
rounds stand beside it. A version that lacks what a row measures shows "–", and why goes to stderr. Where the
versions do not do the same work, the row says so: `mcn train` of 0.2.0 tried fixed networks, this one selects
among MCN, trees and others.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import reading
from random_graphs import powerlaw_cluster, rmat
from scipy import io, sparse

HERE = Path(__file__).resolve().parents[1]
BESIDE = HERE.parent / "shared" / "data"
MCN = ["-c", "import sys; from mcn.cli.main import main; sys.exit(main())"]
PRELUDE = """
import shutil, sys, time
from pathlib import Path
benchmarks, data, folder, own = map(Path, sys.argv[1:])
sys.path.insert(0, str(benchmarks))
import torch
torch.set_num_threads(1)
import numpy

def best(call, times, prepare=lambda: None):
    found = []
    for _ in range(times + 1):
        given = prepare()
        began = time.process_time()
        call() if given is None else call(given)
        found.append(time.process_time() - began)
    print(min(found[1:]))  # the first one compiles

def saved(name):
    with numpy.load(name, allow_pickle=False) as file:
        return int(file["n"]), file["edge"].astype(numpy.int64).T.copy()
"""
COUNTED = """
from mcn.motifs import count_motifs
n, edges = saved({path})
"""


class Row(NamedTuple):
    """What is measured.

    words: of a command, in which {folder} has the files and {out} is new. code: of a call. input: the file
    that it needs. first: with no compiled kernels. large: asked for by a flag.
    """

    title: str
    words: list[str] | None = None
    code: str = ""
    input: str | None = None
    first: bool = False
    large: bool = False


def command(title: str, line: str, input: str | None = None, first: bool = False, large: bool = False) -> Row:
    """A verb of mcn."""
    return Row(title, [*MCN, *line.split()], input=input, first=first, large=large)


def epoch(name: str) -> Row:
    """An epoch on Cora by the version's own `benchmarks/epoch.py`."""
    code = f"import epoch\nbest(epoch.make({name!r}, epoch.load('cora', str(data)), 'cora'), 20)"
    return Row(f"Cora, an epoch: {name}", code=code)


def counted(graph: str, what: str) -> Row:
    """Counting a generated graph: the enumeration alone, or the whole call."""
    given = COUNTED.format(path=f"folder / '{graph}.npz'")
    if what == "enumerated":
        given += "from mcn.data import simple_graph\n"
        given += "try:\n    from graphmotifs.passes import enumerate_edges\n"  # since 0.4.0
        given += "except ImportError:\n    from mcn.motifs.enumerate import enumerate_edges\n"
        given += "graph = simple_graph(edges, n)\nbest(lambda: enumerate_edges(graph, 1), 5)"
    else:
        given += "best(lambda: count_motifs(edges, n, threads=1).per_edge, 5)"
    return Row(f"{graph}: {what}", code=given, input=f"{graph}.npz")


def read(name: str) -> Row:
    code = f"from mcn.data.edge_files import read_edges\nbest(lambda: read_edges(folder / {name!r}), 4)"
    return Row(f"reading {name}", code=code, input=name)


PACK = """
from mcn.store.pack import pack_graph
def pack():
    shutil.rmtree(own / "packed", ignore_errors=True)
    pack_graph(folder / "integers-1m.csv", out=own / "packed")
best(pack, 4)
"""
EPOCH = """
import mcn, scale, training_stages as stages
path, (drawn, memory) = own / "blocks-{edges}", ({edges}, 10**9)
if not path.exists():
    scale.pack(path, "blocks", drawn, memory)
    scale.triangles(path, "blocks", drawn, memory)
config = stages.settings(stages.BATCH)
trainer = stages.work_of(config).trainer(stages.prepare(mcn.GraphStore.open(path), config), config)
best(trainer.run_epoch, 3)
"""
SUMMARY = COUNTED.format(path="data / 'graphs' / 'coAuthorsDBLP.npz'")
SUMMARY += "best(lambda counts: counts.summary(), 3, lambda: count_motifs(edges, n, threads=1))"
TRIANGLES = COUNTED.format(path="data / 'graphs' / 'luxembourg_osm.npz'")
TRIANGLES += "best(lambda: count_motifs(edges, n, motifs=('edge', 'triangle'), threads=1), 5)"
INTEGERS, MORE, EDGES = (f"{{folder}}/{name}.csv" for name in ("integers-1m", "integers-10m", "rmat-1m"))
POWER_LAW, RMAT = "power-law cluster, 100 k edges", "R-MAT, 249 k edges"
ROWS: dict[str, Row] = {
    "torch": Row("import torch (the yardstick)", ["-c", "import torch"]),
    "import": Row("first access of mcn.MCNClassifier", ["-c", "import mcn; mcn.MCNClassifier"]),
    "train-first": command("mcn train, first (not the same networks)", "train --out {out}", first=True),
    "train": command("mcn train, warm (not the same networks)", "train --out {out}"),
    "train-cora": command("mcn train --dataset cora, warm (other rule)", "train --dataset cora --out {out}"),
    "motifs-first": command("mcn motifs --dataset karate, first", "motifs --dataset karate", first=True),
    "motifs": command("mcn motifs --dataset karate, warm", "motifs --dataset karate"),
    "pack": command("mcn pack, 1 M edges", f"pack {INTEGERS} --out {{out}}", "integers-1m.csv"),
    "pack-10m": command("mcn pack, 10 M edges", f"pack {MORE} --out {{out}}", "integers-10m.csv", large=True),
    "approximate": command(
        "mcn motifs --approximate 0.01, 1 M edges",
        f"motifs --graph {EDGES} --approximate 0.01",
        "rmat-1m.csv",
    ),
    "exact": command("the same counted exactly", f"motifs --graph {EDGES}", "rmat-1m.csv"),
    "summary": Row("MotifCounts.summary(), coAuthorsDBLP", code=SUMMARY),
    "triangles": Row("edges and triangles, luxembourg_osm", code=TRIANGLES),
    "batches": Row("mini-batch epoch, 1 M edges", code=EPOCH.format(edges=1_000_000)),
    "batches-10m": Row("mini-batch epoch, 10 M edges", code=EPOCH.format(edges=10_000_000), large=True),
    "packing": Row("packing integers-1m.csv, imports left out", code=PACK, input="integers-1m.csv"),
    "gat": epoch("mcn edge (GAT)"),
    "paper": epoch("mcn edge+triangle, paper's rule"),
    "default": epoch("mcn edge+triangle, default rule"),
    "enumerate-cluster": counted(POWER_LAW, "enumerated"),
    "count-cluster": counted(POWER_LAW, "all columns"),
    "enumerate-rmat": counted(RMAT, "enumerated"),
    "count-rmat": counted(RMAT, "all columns"),
    "read-integers": read("integers-1m.csv"),
    "read-texts": read("texts-1m.csv"),
    "read-mtx": read("matrix-1m.mtx"),
}


def write_graph(path: Path, edges: Any) -> None:
    if path.suffix == ".npz":
        np.savez(path, n=int(edges.max()) + 1, edge=edges.T)
    else:
        np.savetxt(path, edges.T, fmt="%d", delimiter=",", header="source,target", comments="")


def write_matrix(path: Path) -> None:
    edges = np.random.default_rng(0).integers(0, 100_000, (2, 1_000_000))
    matrix = sparse.coo_array((np.ones(1_000_000), tuple(edges)), shape=(100_000, 100_000))
    io.mmwrite(path, matrix, field="pattern")


INPUTS: dict[str, Callable[[Path], None]] = {
    "integers-1m.csv": lambda path: reading.write_edges(path, 1_000_000, "integers"),
    "integers-10m.csv": lambda path: reading.write_edges(path, 10_000_000, "integers"),
    "texts-1m.csv": lambda path: reading.write_edges(path, 1_000_000, "text"),
    "matrix-1m.mtx": write_matrix,
    "rmat-1m.csv": lambda path: write_graph(path, rmat(17, 1_000_000, seed=1)),
    f"{POWER_LAW}.npz": lambda path: write_graph(path, powerlaw_cluster(20_000, 5, 0.5, seed=1)),
    f"{RMAT}.npz": lambda path: write_graph(path, rmat(15, 249_000, seed=1)),
}


class Version(NamedTuple):
    """A checkout, a folder of its own for what it writes, the files of all, and the data sets."""

    checkout: Path
    own: Path
    folder: Path
    data: Path

    def seconds(self, row: Row) -> float | None:
        """Measure a row; None if this version cannot."""
        kernels = self.own / "kernels"
        if row.words is None:
            arguments = [str(self.checkout / "benchmarks"), str(self.data), str(self.folder), str(self.own)]
            _, printed = self._run(["-c", PRELUDE + row.code, *arguments], kernels)
            return float(printed.split()[-1]) if printed else None
        out = tempfile.mkdtemp(dir=self.own)  # where nothing is yet: no compiled kernel, and no run
        words = [word.format(folder=self.folder, out=f"{out}/out") for word in row.words]
        return self._run(words, Path(out, "kernels") if row.first else kernels)[0]

    def _run(self, words: list[str], kernels: Path) -> tuple[float | None, str]:
        """Run Python to its end: its processor seconds, None if it fails, and what it printed."""
        one = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        own = {"PYTHONPATH": str(self.checkout / "src"), "MCN_DATA": str(self.data)}
        environment = {**os.environ, **one, **own, "NUMBA_CACHE_DIR": str(kernels)}
        with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as said:
            command = [sys.executable, "-W", "ignore", *words]
            process = subprocess.Popen(command, stdout=printed, stderr=said, env=environment, cwd=self.own)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            for file in (printed, said):
                file.seek(0)
            if process.returncode:
                print(f"{self.checkout}: {(said.read().splitlines() or ['?'])[-1]}", file=sys.stderr)
                return None, ""
            return used.ru_utime + used.ru_stime, printed.read()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, help="a checkout of the earlier version")
    parser.add_argument("--rows", help=f"the rows to measure: {', '.join(ROWS)}")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each version")
    parser.add_argument("--large", action="store_true", help="also the rows of ten million edges")
    parser.add_argument("--data-root", type=Path, default=BESIDE, help="folder of the data sets")
    options = parser.parse_args()
    usual = [name for name, row in ROWS.items() if options.large or not row.large]
    wanted = options.rows.split(",") if options.rows else usual
    if unknown := [name for name in wanted if name not in ROWS]:
        parser.error(f"--rows: unknown {', '.join(unknown)}; there are {', '.join(ROWS)}")
    print(f"{'processor seconds, one thread':50s}{'before':>9s}{'now':>9s}{'ratio':>8s}{'of rounds':>13s}")
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            measure(ROWS[name], options, Path(folder))


def measure(row: Row, options: argparse.Namespace, folder: Path) -> None:
    """Measure a row by both versions in turns, and print it."""
    if row.input is not None and not (folder / row.input).exists():
        INPUTS[row.input](folder / row.input)
    found: list[list[float]] = [[], []]
    warming = row.words is not None and not row.first
    for number in range(options.rounds + warming):
        for seconds, checkout in zip(found, (options.before.resolve(), HERE), strict=True):
            own = folder / ("now" if checkout == HERE else "before")
            own.mkdir(exist_ok=True)
            measured = Version(checkout, own, folder, options.data_root.resolve()).seconds(row)
            if measured is not None and number >= warming:
                seconds.append(measured)
    before, now = (f"{min(seconds):9.4f}" if seconds else f"{'–':>9s}" for seconds in found)
    print(f"{row.title:50s}{before}{now}", end="", flush=True)
    if all(found):
        ratios = sorted(b / a for a, b in zip(*found, strict=False))
        print(f"{min(found[1]) / min(found[0]):8.3f}{ratios[0]:8.2f}–{ratios[-1]:.2f}", end="")
    print(flush=True)


if __name__ == "__main__":
    main()
