"""Writing a store: edges sorted externally, then features, labels and ids, the manifest last."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mcn.data.arrays import as_array, as_integer
from mcn.data.csr_graph import endpoints, made_simple
from mcn.data.limits import MAX_NODES
from mcn.data.sparse import check_csr
from mcn.store.arrays import ArrayWriter, Entry, write_array
from mcn.store.manifest import FILE, Manifest, is_store
from mcn.store.sorting import Runs, Tally, row_pointers

Progress = Callable[[float], object]
SCRATCH = ".packing"
"""The folder, inside the store's, for what is only needed while packing."""


def write_store(
    path: Path,
    edges: Iterable[Any],
    num_nodes: int | None,
    *,
    x: Any,
    y: Any,
    masks: Mapping[str, Any],
    ids: Sequence[Any] | NDArray[Any] | None,
    classes: Sequence[str] | None,
    memory: int,
    progress: Progress | None,
) -> None:
    """Write a graph that comes in pieces; see `GraphStore.write`."""
    n = None if num_nodes is None else as_integer(num_nodes, "num_nodes")
    if n is not None and not 0 <= n <= MAX_NODES:
        raise ValueError(f"num_nodes must be 0 to 2**31, got {n}")
    scratch = new_folder(path)
    try:
        runs = Runs(scratch, memory)
        _take(runs, edges, MAX_NODES if n is None else n)
        n = runs.tally.largest + 1 if n is None else n
        arrays, degree = write_rows(path, runs, n, progress)
        m = int(degree.sum()) // 2
        arrays |= write_ids(path, ids, n)
        made, width = write_features(path, x, n)
        arrays |= made
        for name, values in {"y": y, **masks}.items():
            if values is not None:
                arrays[name] = write_per_node(path, name, values, n, np.bool_ if name != "y" else np.int64)
        report = [describe(n, m, runs.tally)]
        Manifest(n, m, arrays, width, list(map(str, classes or [])), {"report": report}).write(path)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)  # it was empty, or not there
        raise
    shutil.rmtree(scratch)


def new_folder(path: Path) -> Path:
    """Make the folder of a store and the one for scratch inside it; returns the latter.

    Raises:
        OSError: it holds a store already, or other files.
    """
    if is_store(path):
        raise FileExistsError(f"{path}: holds a packed graph already ({FILE}); choose another folder")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(f"{path}: is not an empty folder; choose another")
    scratch = path / SCRATCH
    scratch.mkdir(parents=True, mode=0o700)
    return scratch


def _take(runs: Runs, edges: Iterable[Any], most: int) -> None:
    for place, piece in enumerate(edges):
        source, target = endpoints(piece)
        bad = runs.add(np.stack([source, target]), most)
        if bad >= 0:
            raise ValueError(
                f"edges, piece {place}: column {bad} is ({source[bad]}, {target[bad]}); "
                f"expected node numbers in 0..{most - 1}"
            )


def write_rows(
    path: Path,
    runs: Runs,
    n: int,
    progress: Progress | None = None,
    present: NDArray[np.bool_] | None = None,
) -> tuple[dict[str, Entry], NDArray[np.int64]]:
    """Merge the runs into `indices` and `indptr`; returns their entries and the degree of every node.

    Args:
        path: the store's folder.
        runs: the edges, sorted.
        n: node numbers are below this.
        progress: called with the finished fraction now and then.
        present: which of the numbers are nodes, if not all; the others are left out, and the order stays.
    """
    degree = np.zeros(n, np.int64)
    place = None if present is None else (np.cumsum(present) - 1).astype(np.int32)
    total, written = max(1, sum(runs.lengths)), 0
    writer = ArrayWriter(path, "indices", np.int32)
    try:
        for piece in runs.merged(degree):
            writer.append(piece if place is None else place[piece])
            written += len(piece)
            if progress is not None:
                progress(min(1.0, written / total))
        entries = {"indices": writer.close()}
    except BaseException:
        writer.abandon()
        raise
    degree = degree if present is None else degree[present]
    entries["indptr"] = _write_pieces(path, "indptr", np.int64, row_pointers(degree))
    return entries, degree


def _write_pieces(
    path: Path, name: str, dtype: Any, pieces: Iterator[NDArray[Any]], columns: int | None = None
) -> Entry:
    writer = ArrayWriter(path, name, dtype, columns)
    try:
        for piece in pieces:
            writer.append(piece)
        return writer.close()
    except BaseException:
        writer.abandon()
        raise


def write_ids(path: Path, ids: Sequence[Any] | NDArray[Any] | None, n: int) -> dict[str, Entry]:
    """Write names of the nodes; nothing if they are their numbers."""
    if ids is None:
        return {}
    if len(ids) != n:
        raise ValueError(f"{len(ids):,} ids for {n:,} nodes; expected one for each")
    array = ids if isinstance(ids, np.ndarray) else np.array(ids, object)
    if array.dtype != object and array.dtype.kind in "iu":
        if np.array_equal(array, np.arange(n)):
            return {}
        return {"ids": write_array(path, "ids", array, np.int64)}
    encoded = [str(name).encode("utf-8", "replace") for name in array.tolist()]
    lengths = np.fromiter(map(len, encoded), np.int64, n)
    return {
        "ids_ptr": _write_pieces(path, "ids_ptr", np.int64, row_pointers(lengths)),
        "ids_text": write_array(path, "ids_text", np.frombuffer(b"".join(encoded), np.uint8), np.uint8),
    }


def write_features(path: Path, x: Any, n: int) -> tuple[dict[str, Entry], int]:
    """Write features: dense, in pieces of rows, or sparse; returns the entries and the number of columns."""
    if x is None:
        return {}, 0
    if sparse.issparse(x):
        return _write_sparse(path, x, n)
    pieces = (as_array(piece, "x", "[rows, F]") for piece in ([x] if hasattr(x, "shape") else x))
    first = next(pieces, np.empty((0, 0), np.float32))
    if first.ndim != 2:
        raise ValueError(f"x has shape {list(first.shape)}; expected [N, F], or pieces of such rows")
    entry = _write_pieces(path, "x", np.float32, _rows(chain([first], pieces)), first.shape[1])
    if entry.shape[0] != n:
        raise ValueError(f"x has {entry.shape[0]:,} rows for {n:,} nodes; expected one for each")
    return {"x": entry}, int(first.shape[1])


def _rows(pieces: Iterable[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """Cut pieces into smaller ones: a mapped array may be larger than memory."""
    for piece in pieces:
        for start in range(0, len(piece), 2**16):
            yield piece[start : start + 2**16]


def _write_sparse(path: Path, x: Any, n: int) -> tuple[dict[str, Entry], int]:
    csr: Any = sparse.csr_array(x)
    csr.sum_duplicates()
    check_csr(csr.indptr, csr.indices, (n, csr.shape[1]), "x", values=csr.data)
    parts = (
        ("x_indptr", csr.indptr, np.int64),
        ("x_indices", csr.indices, np.int32),
        ("x_values", csr.data, np.float32),
    )
    entries = {name: write_array(path, name, part, dtype) for name, part, dtype in parts}
    return entries, int(csr.shape[1])


def write_per_node(path: Path, name: str, values: Any, n: int, dtype: Any) -> Entry:
    """Write a number or a truth value per node."""
    array = as_array(values, name, "[N]")
    whole = array.dtype.kind in "iu" if dtype == np.int64 else array.dtype == np.bool_
    if array.shape != (n,) or not whole:
        raise ValueError(
            f"{name} has shape {list(array.shape)}, dtype {array.dtype}; expected "
            f"{np.dtype(dtype).name} of shape [{n}]"
        )
    return write_array(path, name, array, dtype)


def describe(n: int, m: int, tally: Tally) -> str:
    """One line on the graph and on what was made simple."""
    return made_simple(n, m, tally.self_loops, tally.duplicates, tally.one_way)
