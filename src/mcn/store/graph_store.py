"""`GraphStore`: a graph on disk whose arrays are mapped into memory when they are used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._arguments import as_integer
from graphmotifs._jit import kernel
from graphmotifs.graph import endpoints
from graphmotifs.graph_rows import GraphRows, first_unsound_row
from mcn.data.limits import MAX_NODES, NO_MEMORY, reading
from mcn.store.manifest import Manifest, StoredArray, check_sum, is_store, open_array, read_manifest
from mcn.store.write import EdgeSorter, Progress, finish_store, new_store, write_rows

if TYPE_CHECKING:
    from torch_geometric.data import Data

_PER_NODE = {"y", "train_mask", "val_mask", "test_mask", "ids", "ids_text", "ids_ptr"}
_NOT_GIVEN = (None, "auto", "none", 0)


class GraphStore:
    """A graph in a folder: the rows of its adjacency, features, labels, split, ids and motif counts.

    Opening one reads the manifest and looks at sizes and row pointers; everything else is read from disk when
    it is used, through pages that processes on one machine share. Arrays are read-only; those that were not
    written are None. Pickling a store sends its path.

    Attributes:
        path: the folder.
        num_nodes: N.
        num_edges: M, undirected edges, each counted once.
        num_features: F.
        classes: names of the classes, in the order of their numbers.
        about: what else is known: report, scaling, feature_names, treatment; plain values.
        entries: type, shape and check sum of every array of the graph, by name.
        indptr: int64 [N + 1], where the neighbours of each node begin in `indices`.
        indices: int32 [2M], the neighbours of each node in ascending order, every edge in both directions.
        x: float32 [N, F], dense features; sparse ones are the CSR `x_indptr`, `x_indices`, `x_values`.
        y: int64 [N], class numbers, -1 where there is no label.
        train_mask: bool [N], the training nodes; `val_mask` and `test_mask` likewise.

    >>> import tempfile
    >>> store = GraphStore.write(tempfile.mkdtemp() + "/graph", [[[0, 0, 1, 2], [1, 2, 2, 3]]])
    >>> store
    GraphStore(4 nodes, 4 edges)
    >>> store.indptr.tolist(), store.indices.tolist()
    ([0, 2, 4, 7, 8], [1, 2, 0, 2, 0, 1, 3, 2])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser()
        manifest = read_manifest(self.path)
        if "indices" not in manifest.arrays:
            raise ValueError(f"{self.path}: holds motif counts alone; give the folder of the packed graph")
        self.num_nodes, self.num_edges = manifest.num_nodes, manifest.num_edges
        self.num_features, self.classes = manifest.num_features, manifest.classes
        self.about: dict[str, Any] = manifest.about
        self.entries: dict[str, StoredArray] = manifest.arrays
        arrays = {name: open_array(self.path, name, stored) for name, stored in manifest.arrays.items()}
        self.indptr: NDArray[np.int64] = arrays["indptr"]
        self.indices: NDArray[np.int32] = arrays["indices"]
        self.x: NDArray[np.float32] | None = arrays.get("x")
        self.x_indptr: NDArray[np.int64] | None = arrays.get("x_indptr")
        self.x_indices: NDArray[np.int32] | None = arrays.get("x_indices")
        self.x_values: NDArray[np.float32] | None = arrays.get("x_values")
        self.y: NDArray[np.int64] | None = arrays.get("y")
        self.train_mask: NDArray[np.bool_] | None = arrays.get("train_mask")
        self.val_mask: NDArray[np.bool_] | None = arrays.get("val_mask")
        self.test_mask: NDArray[np.bool_] | None = arrays.get("test_mask")
        self._ids = {name: arrays[name] for name in ("ids", "ids_text", "ids_ptr") if name in arrays}
        self._rows_are_sound = False
        for pointers, filled in (("indptr", "indices"), ("x_indptr", "x_indices"), ("ids_ptr", "ids_text")):
            starts, last = arrays.get(pointers), len(arrays.get(filled, ()))
            if starts is not None and (
                starts[0] != 0 or starts[-1] != last or (starts[1:] < starts[:-1]).any()
            ):
                raise ValueError(
                    f"{self.path}/{pointers}.npy: row pointers must ascend from 0 to {last}; the file was "
                    "altered: pack again"
                )

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, verify: bool = False) -> GraphStore:
        """Open the store that `mcn pack` or `GraphStore.write` made in a folder, and `verify` it if asked."""
        store = cls(path)
        if verify:
            store.verify()
        return store

    @staticmethod
    def write(
        path: str | os.PathLike[str],
        edges: Iterable[Any],
        num_nodes: int | None = None,
        *,
        x: Any = None,
        y: Any = None,
        train_mask: Any = None,
        val_mask: Any = None,
        test_mask: Any = None,
        ids: Sequence[Any] | NDArray[Any] | None = None,
        classes: Sequence[str] | None = None,
        memory: int = 2**30,
        progress: Progress | None = None,
    ) -> GraphStore:
        """Write a graph that comes in pieces, in bounded memory, and open it.

        Args:
            path: a folder that holds no store yet; it is made if it is not there.
            edges: arrays of node numbers [2, E], one after the other; direction, self-loops and repeats do
                not matter, within a piece or between them.
            num_nodes: number of nodes; the largest node number plus one if not given.
            x: features [N, F]: an array (a memory-mapped one too), pieces of rows, or a SciPy CSR matrix.
            y: class numbers [N], -1 where a node has no label.
            train_mask: bool [N]; `val_mask` and `test_mask` likewise.
            ids: names of the nodes, integers or text; their numbers if not given.
            classes: names of the classes.
            memory: bytes that sorting may take; 32 bytes per node come on top.
            progress: called with the finished fraction now and then.
        """
        folder = Path(path).expanduser()
        n = None if num_nodes is None else as_integer(num_nodes, "num_nodes")
        if n is not None and not 0 <= n <= MAX_NODES:
            raise ValueError(f"num_nodes must be 0 to 2**31, got {n}")
        per_node = {"y": y, "train_mask": train_mask, "val_mask": val_mask, "test_mask": test_mask}
        with new_store(folder) as scratch:
            sorter, most = EdgeSorter(scratch, memory), MAX_NODES if n is None else n
            for place, piece in enumerate(edges):
                source, target = endpoints(piece)
                bad = sorter.add(np.stack([source, target]), most)
                if bad >= 0:
                    raise ValueError(
                        f"edges, piece {place}: column {bad} is ({source[bad]}, {target[bad]}); "
                        f"expected node numbers in 0..{most - 1}"
                    )
            arrays, degree = write_rows(folder, sorter, sorter.largest + 1 if n is None else n, progress)
            about = {"report": [sorter.describe(degree)]}
            finish_store(folder, arrays, degree, ids, x, per_node, classes or [], about)
        return GraphStore(path)

    @cached_property
    def ids(self) -> NDArray[Any]:
        """What the user calls the nodes, in their order: int64, or Python strings that are decoded now."""
        if "ids_ptr" not in self._ids:
            return self._ids.get("ids", np.arange(self.num_nodes))
        text, starts = self._ids["ids_text"].tobytes(), self._ids["ids_ptr"].tolist()
        names = np.empty(self.num_nodes, object)
        for node in range(self.num_nodes):
            names[node] = text[starts[node] : starts[node + 1]].decode("utf-8", "replace")
        return names

    @property
    def counts(self) -> Mapping[str, NDArray[Any]]:
        """Motif counts by motif, int32 or int64 [2M], an entry for each of `indices`; "edge" is always there.

        Others are there once `count_motifs(store, motifs=…, out=store.path)` has counted them.
        """
        return self.counts_in(self.path)

    def counts_in(self, folder: Path) -> dict[str, NDArray[Any]]:
        """Map the counts of this graph in a folder by motif; "edge" is 1 everywhere and takes no room."""
        counts: dict[str, NDArray[Any]] = {"edge": np.broadcast_to(np.int32(1), self.indices.shape)}
        listed = self._counted(folder).counts
        return counts | {
            motif: open_array(folder, f"count.{motif}", stored) for motif, stored in listed.items()
        }

    def add_counts(self, folder: Path, counts: Mapping[str, StoredArray]) -> None:
        """Make arrays `count.MOTIF` that are complete known as this graph's counts in a folder."""
        manifest = self._counted(folder)
        manifest.counts.update(counts)
        manifest.write(folder)

    def _counted(self, folder: Path) -> Manifest:
        """The manifest of a folder of counts of this graph; one without any if nothing is there yet."""
        graph = self.entries["indices"].sha256
        if not is_store(folder):
            return Manifest(self.num_nodes, self.num_edges, counts_of=graph)
        manifest = read_manifest(folder)
        indices = manifest.arrays.get("indices")
        if (manifest.counts_of if indices is None else indices.sha256) != graph:
            raise ValueError(f"{folder}: these counts are of another graph; choose another folder")
        return manifest

    def check(self) -> None:
        """Look at every row once: neighbours in range and ascending, no self-loops.

        Compiled code follows these numbers without looking, so whatever hands them to a kernel asks first;
        the second time costs nothing.
        """
        if self._rows_are_sound:
            return
        row = int(first_unsound_row(np.asarray(self.indptr), np.asarray(self.indices), self.num_nodes))
        if row >= 0:
            raise ValueError(
                f"{self.path}/indices.npy: the neighbours of node {row} are not ascending node numbers other "
                "than its own; the file was altered: pack again"
            )
        if self.x_indices is not None:
            from graphmotifs._sparse import check_csr

            shape = (self.num_nodes, self.num_features)
            check_csr(self.x_indptr, self.x_indices, shape, f"{self.path}, the features")
        self._rows_are_sound = True

    def verify(self) -> None:
        """Read everything: check sums, every row, and that each edge stands in both of its rows."""
        for name, stored in self.entries.items():
            check_sum(self.path, name, stored)
        self.check()
        node, neighbour = _one_way_entry(np.asarray(self.indptr), np.asarray(self.indices))
        if node >= 0:
            raise ValueError(
                f"{self.path}: node {node} has neighbour {neighbour}, but not that one this; pack again"
            )
        for motif, stored in self._counted(self.path).counts.items():
            check_sum(self.path, f"count.{motif}", stored)

    def to_data(self) -> Data:
        """Return the whole graph as a PyG `Data` in memory, as `mcn.load_graph` would have made it."""
        import torch
        from scipy import sparse

        from mcn.data.sparse import feature_tensor

        self.verify()
        try:
            data = node_data(self)
            ends = np.empty((2, 2 * self.num_edges), np.int64)
            ends[0] = np.repeat(np.arange(self.num_nodes), np.diff(self.indptr))
            ends[1] = self.indices
            data.edge_index = torch.from_numpy(ends)
            data.node_ids = np.array(self.ids)
            if len(set(data.node_ids.tolist())) < self.num_nodes:
                raise ValueError(
                    f"{self.path}: two nodes have one id; the file of ids was altered: pack again"
                )
            if self.x is not None:
                data.x = torch.from_numpy(np.array(self.x))
            elif self.x_values is not None:
                parts = (np.array(self.x_values), np.array(self.x_indices), np.array(self.x_indptr))
                shape = (self.num_nodes, self.num_features)
                data.x = feature_tensor(sparse.csr_array(parts, shape=shape))
            return data
        except MemoryError as error:
            raise ValueError(f"{self.path}: {NO_MEMORY}; use mini-batches (batch_size)") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphStore, (str(self.path),)

    def __repr__(self) -> str:
        features = f", {self.num_features:,} features" if self.num_features else ""
        return f"GraphStore({self.num_nodes:,} nodes, {self.num_edges:,} edges{features})"


class StoreRows(GraphRows):
    """The rows of a store as the motif engine takes them; pickled are its path and what tells the graph."""

    def __init__(self, store: GraphStore) -> None:
        super().__init__(store.indptr, store.indices, f"{store.path}/indices.npy")
        self.check = store.check  # type: ignore[method-assign]
        self._opened_by = (str(store.path.resolve()), store.entries["indices"].sha256)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rows_of, self._opened_by


def _rows_of(path: str, sha256: str) -> StoreRows:
    """Open the rows of a store, in another process for instance, if it still holds the same graph."""
    store = GraphStore.open(path)
    if store.entries["indices"].sha256 != sha256:
        raise ValueError(f"{path}: another graph than the one to be counted")
    return StoreRows(store)


def node_data(store: GraphStore) -> Data:
    """Return labels, split, ids and names of a store as a `Data` without edges and features."""
    import torch
    from torch_geometric.data import Data

    from mcn.data.treatment import Treatment

    for name in store.entries.keys() & _PER_NODE:
        check_sum(store.path, name, store.entries[name])
    labels, count = store.y, len(store.classes)
    if labels is not None and count and not ((labels >= -1) & (labels < count)).all():
        node = int(((labels < -1) | (labels >= count)).argmax())
        raise ValueError(
            f"{store.path}/y.npy: node {node} has class {labels[node]} of {count}; pack the graph again"
        )
    data, about = Data(num_nodes=store.num_nodes), store.about
    with reading(store.path, "its manifest was altered: pack again"):
        data.node_ids = store.ids
        for name in ("y", "train_mask", "val_mask", "test_mask"):
            values = getattr(store, name)
            if values is not None:
                setattr(data, name, torch.from_numpy(np.array(values)))
        if store.train_mask is not None and store.test_mask is None:
            data.test_mask = torch.zeros_like(data.train_mask)
        if store.classes:
            data.classes = list(store.classes)
        data.report = [str(line) for line in about.get("report", [])]
        if about.get("scaling") in ("rows", "unit", "raw"):
            data.scaling = about["scaling"]
        if about.get("treatment") is not None:
            data.treatment = Treatment.from_dict(about["treatment"])
        if about.get("feature_names") is not None:
            data.feature_names = [str(name) for name in about["feature_names"]]
    return data


def as_data(graph: Any) -> Any:
    """Return a store as a `Data` in memory, and anything else as it is."""
    return graph.to_data() if isinstance(graph, GraphStore) else graph


def read_graph(
    path: str | os.PathLike[str],
    nodes: Any = None,
    on_disk: Callable[[GraphStore], bool] | None = None,
    **options: Any,
) -> Any:
    """Read a packed graph, or whatever else `mcn.load_graph` reads: a `Data`.

    Args:
        path: a folder that `mcn pack` made, or a file of edges.
        nodes: a table of the nodes; a packed graph has its own.
        on_disk: asked whether a packed graph is to stay on disk; the `GraphStore` is then returned.
        options: of `mcn.load_graph`; those on columns, split and features were decided when packing.
    """
    from mcn.data.graph import load_graph

    if not is_store(Path(path).expanduser()):
        return load_graph(path, nodes=nodes, **options)
    given = [name for name, value in {"nodes": nodes, **options}.items() if value not in _NOT_GIVEN]
    if given:
        raise ValueError(
            f"{path}: {', '.join(given)} cannot be given for a packed graph; it was decided when packing"
        )
    store = GraphStore.open(path)
    return store if on_disk is not None and on_disk(store) else store.to_data()


@kernel
def _one_way_entry(indptr: Any, indices: Any) -> Any:
    """The first (u, v) without (v, u): rows are walked upwards, and with them each node's own row."""
    at = indptr[:-1].copy()
    for u in range(len(at)):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if at[v] >= indptr[v + 1] or indices[at[v]] != u:
                return u, np.int64(v)
            at[v] += 1
    return -1, -1
