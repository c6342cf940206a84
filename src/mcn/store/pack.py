"""`mcn pack`: an edge list and a node table become a graph on disk, within a bounded buffer.

Text edge lists of any size are read block by block, by the reader that `mcn.load_graph` uses too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._arguments import as_integer
from graphmotifs._messages import one_of, shown
from mcn._names import spell_option
from mcn.data.edge_files import TEXT, edge_format
from mcn.data.edge_list import IdIndex, Layout, bad_number, isolated_note, sorted_ids, text_note
from mcn.data.edge_text import EdgeText, Ends, NamedEnds
from mcn.data.graph import SKIPPED, UNKNOWN_IDS, FeatureRequest, load_graph, node_values, refuse_unknown
from mcn.data.limits import MAX_NODES, existing_file, reading
from mcn.data.node_table import NodeTable, node_table, read_table
from mcn.data.sparse import feature_csr
from mcn.data.splits import SplitRequest
from mcn.data.targets import read_targets, target_kind
from mcn.data.text import is_integer
from mcn.store.graph_store import GraphStore
from mcn.store.write import EdgeSorter, finish_store, new_store, write_rows

LEAST_MEMORY = 2**20
BLOCK_BYTES = 2**24
"""The most of a text file that is read at a time."""
_NODE_BYTES = 64  # generously: of the marks, pointers and numbers of a node
_GAPS = 4  # numbers per node up to which gaps are closed after sorting, not before


def pack_graph(
    edges: Any,
    nodes: Any = None,
    *,
    out: Any,
    memory: int = 2**30,
    id: str | None = None,
    label: str | None = None,
    task: str | None = None,
    split: str | Sequence[str] | None = None,
    split_index: int = 0,
    split_by: str | None = None,
    folds: int | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    scaling: str = "auto",
    source: str | None = None,
    target: str | None = None,
    unknown_ids: str = "error",
    seed: int = 0,
    delimiter: str | None = None,
    header: bool | None = None,
    progress: Callable[[float], object] | None = None,
) -> GraphStore:
    """Pack the graph that `mcn.load_graph` would read from the same files, without holding its edges.

    Text edge lists are read block by block; files of other formats must fit into memory, and so must edges
    with `unknown_ids="add"`. The node table must fit into memory too.

    Args:
        edges: a file of edges, in any format that `mcn.load_graph` reads.
        nodes: a table of the nodes.
        out: a folder that holds nothing yet, or a packing that was killed, which is begun anew.
        memory: bytes of the buffer; about 40 per node come on top, and the node table.
        id, label, task, split, split_index, split_by, folds, features, drop, scaling, source, target,
            unknown_ids, seed, delimiter, header: as in `mcn.load_graph`.
        progress: called with the finished fraction now and then.
    """
    if as_integer(memory, "memory") < LEAST_MEMORY:
        raise ValueError(f"memory must be at least {LEAST_MEMORY:,} bytes, got {memory}")
    path, folder = existing_file(edges), Path(out).expanduser()
    table_path = None if nodes is None else existing_file(nodes)
    columns = {"id": id, "label": label, "task": task, "split_by": split_by, "features": features}
    request = SplitRequest(split, split_by, folds, split_index, seed)
    one_of("unknown_ids", unknown_ids, UNKNOWN_IDS)
    layout = Layout(delimiter, header, source, target)
    with new_store(folder) as scratch, reading(path, "not a readable graph", table_path or "nodes", folder):
        if edge_format(path) in TEXT and unknown_ids != "add":
            table = _read_nodes(path, table_path, delimiter, columns, drop, request)
            tell = progress or (lambda share: None)
            reader = _EdgeReader(path, table, unknown_ids, scratch, memory, layout, tell)
            numbers = len(reader.ids if reader.present is None else reader.present)
            arrays, degree = write_rows(
                folder,
                reader.sorter,
                numbers,
                lambda share: reader.progress(0.6 + 0.4 * share),
                reader.present,
            )
            ids = reader.ids
            report = [reader.sorter.describe(degree), *reader.notes]
            if table is None and reader.first is not None and len(degree) > 2:
                first, places = reader.first
                report += reader.text.first_line_note(first, degree[places])
            report += isolated_note(len(degree) - int(np.count_nonzero(degree)))
            wanted = FeatureRequest(features, scaling, None, False)
            values = node_values(table, wanted, request, report, degree, drop=drop)
            x = values["x"]
        else:
            drawn = {"split": split, "folds": folds, "split_index": split_index, "seed": seed}
            treated = {"drop": drop, "scaling": scaling, "unknown_ids": unknown_ids}
            options: dict[str, Any] = {**columns, **drawn, **treated, **asdict(layout)}
            data = load_graph(path, table_path, **options)
            _check_targets(path, data.y)
            sorter, ids = EdgeSorter(scratch, memory), data.node_ids
            sorter.add(data.edge_index.numpy(), data.num_nodes)
            arrays, degree = write_rows(folder, sorter, data.num_nodes, progress)
            x = data.x.numpy() if str(data.x.layout) == "torch.strided" else feature_csr(data.x)
            values = data.to_dict()
        per_node = {name: values.get(name) for name in ("y", "train_mask", "val_mask", "test_mask")}
        about = {name: values.get(name) for name in ("report", "scaling", "feature_names", "treatment")}
        if about["treatment"] is not None:
            about["treatment"] = about["treatment"].to_dict()
        finish_store(folder, arrays, degree, ids, x, per_node, values.get("classes") or [], about)
    return GraphStore(folder)


def _read_nodes(
    path: Path,
    table_path: Path | None,
    delimiter: str | None,
    columns: dict[str, Any],
    drop: Sequence[str],
    request: SplitRequest,
) -> NodeTable | None:
    """The node table, if there is one, as `load_graph` has it."""
    if table_path is not None:
        raw = read_table(table_path, delimiter).without(drop)
        table = node_table(raw, **columns, splits=request.columns)
        targets = read_targets(table)
        _check_targets(table_path, None if targets is None else targets.y)
        return table
    if any(columns.values()) or request.columns or drop:
        raise ValueError(
            f"{path}: columns were named, but there is no node table; give one by {spell_option('nodes')}"
        )
    return None


def _check_targets(path: Path, y: Any) -> None:
    if y is not None and target_kind(y) != "classes":
        raise ValueError(
            f"{path}: a packed graph holds one class per node; numeric and several targets need the graph in "
            "memory"
        )


class _EdgeReader:
    """Sorts the edges of a text file into runs, and finds out what its nodes are called."""

    def __init__(
        self,
        path: Path,
        table: NodeTable | None,
        unknown: str,
        scratch: Path,
        memory: int,
        layout: Layout,
        progress: Callable[[float], object],
    ) -> None:
        self._path, self._table, self._unknown, self._scratch = path, table, unknown, scratch
        self._memory, self.progress = memory, progress
        self.present: NDArray[np.bool_] | None = None  # which of the numbers are nodes, if not all
        self.first: tuple[list[Any], NDArray[np.int64]] | None = None  # ids of the first edge, their places
        self.text = EdgeText.open(path, layout)
        self._size = min(BLOCK_BYTES, max(2**15, memory // 32))
        notes: list[str] = []
        if table is not None:
            self.ids = table.ids  # in the nodes' order
            self._take(IdIndex(self.ids))
            notes += [f"{SKIPPED}{self.skipped:,}"] if self.skipped else []
        elif self._take(None):
            present = self.sorter.present()
            self.ids = np.flatnonzero(present)
            self.present = None if len(self.ids) == len(present) else present
        else:  # large numbers, wide gaps or names: all ids have to be known first
            self.ids, notes = self._all_ids()
            self._take(IdIndex(self.ids))
        self.notes = [*self.text.notes(self._comments), *notes]  # lines for the report

    def _take(self, known: IdIndex | None) -> bool:
        """Sort all edges into runs; False if integers were expected (`known` is None) and not found."""
        self.sorter, self.skipped, self._comments = EdgeSorter(self._scratch, self._memory), 0, 0
        size = max(1, self._path.stat().st_size)
        for block in self.text.blocks(self._size):
            ends = block.ends()
            codes = ends.codes if isinstance(ends, NamedEnds) else ends
            self._comments += block.comments
            if known is not None:
                numbers, most = _places(ends, known), len(self.ids)
                if self.first is None and numbers.size:
                    self.first = _spelled(ends, codes[:, 0]), numbers[:, 0]
            elif isinstance(ends, NamedEnds) or self._too_wide(ends, min(1.0, block.end / size)):
                return False
            else:
                numbers, most = ends, MAX_NODES
            pairs = numbers
            if self._table is not None and self._unknown == "skip":
                known_ends = (pairs >= 0).all(axis=0)
                self.skipped += int((~known_ends).sum())
                pairs = pairs[:, known_ends]
            bad = self.sorter.add(np.ascontiguousarray(pairs), most)
            if bad >= 0:
                where = f"{self._path}, line {block.line_of(bad)}"
                value = str(_spelled(ends, codes[:, bad])[int(numbers[0, bad] >= 0)])
                if self._table is None:
                    raise ValueError(
                        f"{where}: node id {shown(value)}; expected a non-negative integer or a name"
                    )
                strangers = list(dict.fromkeys(_spelled(ends, codes.T[numbers.T < 0])))
                refuse_unknown(where, value, self._table, strangers, every=bool((numbers < 0).all()))
            self.progress(min(0.6, 0.6 * block.end / size))
        return True

    def _too_wide(self, ids: NDArray[np.int64], share: float) -> bool:
        """Whether numbers are so large, or so far apart, that a place for each of them takes too much memory.

        `share` is how much of the file has been read: the rest is expected to hold as many edges per byte.
        """
        largest = int(ids.max(initial=-1))
        edges = (self.sorter.taken + ids.shape[1]) / share
        return largest >= MAX_NODES or largest > max(_GAPS * 2 * edges + 1024, self._memory // _NODE_BYTES)

    def _all_ids(self) -> tuple[NDArray[Any], list[str]]:
        """All ids in ascending order, and a note if one of them makes all of them text.

        Where all are numbers but some no integers, those that are none are left out, and so refused later on.
        """
        numbers: NDArray[np.int64] = np.empty(0, np.int64)
        waiting: list[NDArray[np.int64]] = []
        names: dict[str, None] = {}
        for block in self.text.blocks(self._size):
            ends = block.ends()
            if isinstance(ends, NamedEnds):
                names.update(dict.fromkeys(ends.names))
                continue
            waiting.append(np.unique(ends))
            if sum(map(len, waiting)) > len(numbers) + 2**20:
                numbers = np.unique(np.concatenate([numbers, *waiting]))
                waiting.clear()
        numbers = np.unique(np.concatenate([numbers, *waiting]))
        if all(map(is_integer, names)):
            return np.unique(np.concatenate([numbers, np.array(list(names), np.int64)])), []
        every = list(dict.fromkeys([*map(str, numbers.tolist()), *names]))
        if bad_number(every) is not None:
            every = [name for name in every if name.isdigit()]
        return sorted_ids(every, as_text=True)[0], text_note(names)


def _places(ends: Ends, known: IdIndex) -> NDArray[np.int64]:
    """The places of the ends of edges [2, E] among the known ids, -1 for one that is not known."""
    if isinstance(ends, NamedEnds):
        return np.asarray(known.find(ends.names)[ends.codes])
    return known.find(ends.ravel()).reshape(2, -1)


def _spelled(ends: Ends, codes: NDArray[Any]) -> list[Any]:
    """The ids that some numbers in a block stand for."""
    numbers = codes.tolist()
    return [ends.names[number] for number in numbers] if isinstance(ends, NamedEnds) else numbers
