"""`mcn pack`: an edge list and a node table become a graph on disk, within a bounded buffer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mcn._files import atomic_write
from mcn.data.arrays import as_integer
from mcn.data.csr_graph import isolated_note
from mcn.data.edge_files import TEXT, edge_format, read_edges
from mcn.data.edge_list import further_note
from mcn.data.graph import FeatureRequest, add_nodes, table_positions
from mcn.data.limits import MAX_NODES, existing_file, reading, shown
from mcn.data.node_table import NodeTable, node_table, read_table
from mcn.data.splits import SplitRequest
from mcn.store.edge_blocks import Block, TextEdges
from mcn.store.graph_store import GraphStore
from mcn.store.manifest import FILE, Manifest, is_store
from mcn.store.naming import Naming, collect, naming
from mcn.store.sorting import Runs, Tally
from mcn.store.write import (
    SCRATCH,
    describe,
    new_folder,
    write_features,
    write_ids,
    write_per_node,
    write_rows,
)

if TYPE_CHECKING:
    from torch_geometric.data import Data

LEAST_MEMORY = 2**20
_STATE = "state.json"
_PRESENT = "present.npy"
_PLACE = 64  # bytes, generously: of the marks, pointers and numbers of a node
_GAPS = 4  # numbers per node up to which gaps are closed after sorting, not before


def pack_graph(
    edges: Any,
    nodes: Any = None,
    *,
    out: Any,
    memory: int = 2**30,
    resume: bool = False,
    id: str | None = None,
    label: str | None = None,
    split: str | Sequence[str] | None = None,
    split_index: int = 0,
    split_by: str | None = None,
    folds: int | None = None,
    features: Sequence[str] | None = None,
    scaling: str = "auto",
    seed: int = 0,
    delimiter: str | None = None,
    header: bool | None = None,
    progress: Callable[[float], object] | None = None,
) -> GraphStore:
    """Pack the graph that `mcn.load_graph` would read from the same files, without holding its edges.

    Text edge lists are read block by block; files of other formats must fit into memory. The node table must
    fit into memory too.

    Args:
        edges: a file of edges, in any format that `mcn.load_graph` reads.
        nodes: a table of the nodes.
        out: a folder that holds nothing yet.
        memory: bytes of the buffer; about 40 per node come on top, and the node table.
        resume: go on with what an interrupted call with the same files left in `out`.
        id, label, split, split_index, split_by, folds, features, scaling, seed, delimiter, header: as in
            `mcn.load_graph`.
        progress: called with the finished fraction now and then.

    Raises:
        ValueError: names the file, the line and the value.
        OSError: a file is not there, the folder is not free, or the disk is full.
    """
    if as_integer(memory, "memory") < LEAST_MEMORY:
        raise ValueError(f"memory must be at least {LEAST_MEMORY:,} bytes, got {memory}")
    path, target = existing_file(edges), Path(out).expanduser()
    table_path = None if nodes is None else existing_file(nodes)
    request = SplitRequest(split, split_by, folds, split_index, seed)
    table = None
    with reading(path, "not a readable graph", table_path or "nodes", target):
        if table_path is not None:
            raw = read_table(table_path, delimiter)
            table = node_table(
                raw, id=id, label=label, splits=request.columns, split_by=split_by, features=features
            )
        elif id or label or request.columns or split_by or features:
            raise ValueError(f"{path}: columns were named, but there is no node table; give one with nodes=")
        if resume and is_store(target) and (target / SCRATCH).is_dir():
            shutil.rmtree(target / SCRATCH)  # killed when all was packed, while this was being removed
            return GraphStore(target)
        scratch = _folder(target, _key(path, table_path, delimiter, header), resume)
        work = _Reading(path, table, scratch, memory, (delimiter, header), progress)
        arrays, degree = work.arrays(target)
        arrays |= write_ids(target, work.ids, len(degree))
        report = [describe(len(degree), int(degree.sum()) // 2, work.runs.tally), *work.notes]
        report += isolated_note(len(degree) - int(np.count_nonzero(degree)))
        data = _nodes(table, FeatureRequest(features, scaling, None, False), request, report, degree)
        _finish(target, arrays, data, degree)
    shutil.rmtree(scratch)
    return GraphStore(target)


def _nodes(
    table: NodeTable | None,
    wanted: FeatureRequest,
    request: SplitRequest,
    report: list[str],
    degree: NDArray[np.int64],
) -> Data:
    from torch_geometric.data import Data

    data = Data(num_nodes=len(degree))
    add_nodes(data, table, wanted, request, report, degree)
    return data


def _finish(target: Path, arrays: dict[str, Any], data: Data, degree: NDArray[np.int64]) -> None:
    """Write what belongs to the nodes, and the manifest."""
    from mcn.data.sparse import feature_csr

    x = data.x.numpy() if str(data.x.layout) == "torch.strided" else feature_csr(data.x)
    made, width = write_features(target, x, len(degree))
    arrays |= made
    for name in ("y", "train_mask", "val_mask", "test_mask"):
        if data.get(name) is not None:
            kind = np.int64 if name == "y" else np.bool_
            arrays[name] = write_per_node(target, name, data[name].numpy(), len(degree), kind)
    treatment = data.get("treatment")
    about = {
        "report": data.report,
        "scaling": data.scaling,
        "treatment": None if treatment is None else treatment.to_dict(),
        "feature_names": data.get("feature_names"),
    }
    classes = [str(name) for name in data.get("classes") or []]
    Manifest(len(degree), int(degree.sum()) // 2, arrays, width, classes, about).write(target)


def _key(path: Path, table: Path | None, delimiter: str | None, header: bool | None) -> dict[str, Any]:
    """What an interrupted reading must have in common with the one that goes on with it."""
    files = [str(each.resolve()) for each in (path, table) if each is not None]
    stats = [each.stat() for each in (path, table) if each is not None]
    return {
        "files": files,
        "sizes": [each.st_size for each in stats],
        "times": [each.st_mtime_ns for each in stats],
        "text": [delimiter, header],
    }


def _folder(target: Path, key: dict[str, Any], resume: bool) -> Path:
    """The scratch folder: a new one, or the one of an interrupted call."""
    scratch = target / SCRATCH
    if is_store(target) or not scratch.is_dir():
        if resume and is_store(target):
            raise FileExistsError(f"{target}: this graph is packed already ({FILE}); nothing to go on with")
        scratch = new_folder(target)
        _save(scratch, {"key": key})
        return scratch
    if not resume:
        raise FileExistsError(
            f"{target}: holds an interrupted packing; go on with --resume, or remove the folder"
        )
    if _load(scratch).get("key") != key:
        raise ValueError(
            f"{target}: the interrupted packing was of other files, or they have changed; remove the folder"
        )
    return scratch


def _save(scratch: Path, state: dict[str, Any]) -> None:
    with atomic_write(scratch / _STATE) as file:
        file.write(json.dumps(state).encode())


def _load(scratch: Path) -> dict[str, Any]:
    try:
        state = json.loads((scratch / _STATE).read_bytes())
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


class _Reading:
    """Reads the edges of a file into sorted runs, and knows the ids of their nodes."""

    def __init__(
        self,
        path: Path,
        table: NodeTable | None,
        scratch: Path,
        memory: int,
        layout: tuple[str | None, bool | None],
        progress: Callable[[float], object] | None,
    ) -> None:
        self._path, self._table, self._scratch = path, table, scratch
        self._memory, self._layout, self._progress = memory, layout, progress
        self.notes: list[str] = []
        self.ids: NDArray[Any] | None = None if table is None else table.ids
        self._present: NDArray[np.bool_] | None = None
        self.runs: Runs

    def arrays(self, target: Path) -> tuple[dict[str, Any], NDArray[np.int64]]:
        """Sort the edges and write the rows; returns their entries and the degrees."""
        n = self._read_text() if edge_format(self._path) in TEXT else self._read_whole()
        self.runs.flush()
        return write_rows(target, self.runs, n, lambda share: self._report(0.6 + 0.4 * share), self._present)

    def _report(self, share: float) -> None:
        if self._progress is not None:
            self._progress(share)

    def _read_whole(self) -> int:
        """Formats that are read into memory; `MCN_MAX_BYTES` bounds them."""
        delimiter, header = self._layout
        as_text = self._table is not None and self._table.ids.dtype == object
        found = read_edges(self._path, delimiter=delimiter, header=header, as_text=as_text)
        self.notes, ends = found.notes, found.ends
        if self._table is None:
            self.ids = found.ids
        else:
            ends = table_positions(
                found, self._table.ids, str(self._path), self._table.raw.name, header, delimiter
            )
        self.runs = Runs(self._scratch, self._memory)
        n = len(found.ids if self._table is None else self._table.ids)
        self.runs.add(ends, n)
        return n

    def _read_text(self) -> int:
        block = int(np.clip(self._memory // 32, 2**15, 2**24))
        text = TextEdges(self._path, *self._layout, size=block)
        if self._table is not None:
            self._take(text, naming(self._table.ids))
            n = len(self._table.ids)
        elif not _load(self._scratch).get("named") and self._take(text, None):
            n = self._close_gaps()
        else:  # large numbers, wide gaps or names: all ids have to be known first
            self.ids, odd, bad = collect(text.blocks())
            if bad is not None:
                self._refuse(text, bad)
            if odd is not None:
                self.notes.append(f"node ids are read as text (for instance {shown(odd)})")
            self._take(text, naming(self.ids))
            n = len(self.ids)
        self.notes = [*further_note(text.width - 2), *self.notes]
        return n

    def _take(self, text: TextEdges, names: Naming | None) -> bool:
        """Sort all edges into runs; False if integers were expected (`names` is None) and not found."""
        state = _load(self._scratch)
        start, line, present = 0, 0, np.zeros(0, np.bool_)
        if state.get("named") == (names is not None):
            self.runs = Runs(self._scratch, self._memory, state["runs"])
            self.runs.tally = Tally(**state["tally"])
            start, line, text.width = state["start"], state["line"], state["width"]
            present = self._load_present() if names is None else present
        else:
            self.runs = Runs(self._scratch, self._memory)
        size = max(1, self._path.stat().st_size)
        for block in text.blocks(start, line):
            if names is None:
                if block.ids is None or self._too_wide(block, min(1.0, block.end / size)):
                    return False
                ends, most = block.ids, MAX_NODES
                present = _marked(present, ends)
            else:
                ends, most = names.positions(block), len(names.ids)
            if not self.runs.fits(block.num_edges):
                self.runs.flush()
                self._checkpoint(start, line, text.width, present if names is None else None)
            bad = self.runs.add(ends, most)
            if bad >= 0:
                self._refuse_unknown(text, block, bad, ends)
            start, line = block.end, block.next_line
            self._report(min(0.6, 0.6 * start / size))
        self._present = present if names is None else None
        return True

    def _too_wide(self, block: Block, share: float) -> bool:
        """Whether numbers are so large, or so far apart, that a place for each of them takes too much memory.

        `share` is how much of the file has been read: the rest is expected to hold as many edges per byte.
        """
        largest = int(block.ids.max(initial=-1))  # type: ignore[union-attr]
        edges = (self.runs.taken + block.num_edges) / share
        return largest >= MAX_NODES or largest > max(_GAPS * 2 * edges + 1024, self._memory // _PLACE)

    def _checkpoint(self, start: int, line: int, width: int, present: NDArray[np.bool_] | None) -> None:
        if present is not None:
            with atomic_write(self._scratch / _PRESENT) as file:
                np.save(file, present, allow_pickle=False)
        state = {"key": _load(self._scratch)["key"], "named": present is None, "runs": self.runs.lengths}
        tally = asdict(self.runs.tally)
        _save(self._scratch, state | {"tally": tally, "start": start, "line": line, "width": width})

    def _load_present(self) -> NDArray[np.bool_]:
        present: NDArray[np.bool_] = np.load(self._scratch / _PRESENT, allow_pickle=False)
        return present

    def _close_gaps(self) -> int:
        """Number the nodes in the order of their ids, if not every integer below the largest is one."""
        present = self._present
        assert present is not None  # they are made while integers are read
        n = self.runs.tally.largest + 1
        present = present[:n]
        self.ids = np.flatnonzero(present)
        self._present = None if len(self.ids) == n else present
        return n

    def _refuse(self, text: TextEdges, bad: str) -> None:
        for block in text.blocks():
            if block.ids is None and bad in block.names:
                line = text.line_of(block, block.names.index(bad) // 2)
                raise ValueError(
                    f"{self._path}, line {line}: node id {shown(bad)}; expected a non-negative integer "
                    "or a name"
                )

    def _refuse_unknown(self, text: TextEdges, block: Block, edge: int, ends: NDArray[np.int64]) -> None:
        side = int(ends[0, edge] >= 0)
        value = block.names[2 * edge + side] if block.ids is None else block.ids[side, edge]
        table = "" if self._table is None else self._table.raw.name
        raise ValueError(
            f"{self._path}, line {text.line_of(block, edge)}: node id {shown(str(value))} is not in the node "
            f"table {table}; add it there"
        )


def _marked(present: NDArray[np.bool_], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The same marks with those of further nodes; room grows by doubling."""
    largest = int(ends.max(initial=-1))
    if largest >= len(present):
        present = np.concatenate([present, np.zeros(max(largest + 1, len(present)), np.bool_)])
    present[ends.reshape(-1)] = True
    return present
