"""`GraphStore`: a graph on disk whose arrays are mapped into memory when they are used."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.store.arrays import Entry, check_sum, open_array
from mcn.store.counted import read_counts
from mcn.store.ids import TextIds
from mcn.store.manifest import read_manifest

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mcn.store.write import Progress

_ROWS = 2**20


class GraphStore:
    """A graph in a folder: the rows of its adjacency, features, labels, split, ids and motif counts.

    Opening one reads the manifest and looks at sizes and row pointers; everything else is read from disk when
    it is used, through pages that processes on one machine share. Arrays are read-only. Pickling a store
    sends its path.

    Attributes:
        path: the folder.
        num_nodes: N.
        num_edges: M, undirected edges, each counted once.
        num_features: F.
        classes: names of the classes, in the order of their numbers.

    >>> import tempfile
    >>> store = GraphStore.write(tempfile.mkdtemp() + "/graph", [[[0, 0, 1, 2], [1, 2, 2, 3]]])
    >>> store
    GraphStore(4 nodes, 4 edges)
    >>> store.indptr.tolist(), store.indices.tolist()
    ([0, 2, 4, 7, 8], [1, 2, 0, 2, 0, 1, 3, 2])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser()
        self._manifest = read_manifest(self.path)
        self.num_nodes = self._manifest.num_nodes
        self.num_edges = self._manifest.num_edges
        self.num_features = self._manifest.num_features
        self.classes = self._manifest.classes
        self._mapped = {
            name: open_array(self.path, name, entry) for name, entry in self._manifest.arrays.items()
        }
        self._check_pointers("indptr", 2 * self.num_edges)
        if "x_indptr" in self._mapped:
            self._check_pointers("x_indptr", len(self._mapped["x_values"]))
        if "ids_ptr" in self._mapped:
            self._check_pointers("ids_ptr", len(self._mapped["ids_text"]))

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, verify: bool = False) -> GraphStore:
        """Open the store in a folder.

        Args:
            path: the folder that `mcn pack` or `GraphStore.write` made.
            verify: also read every array from end to end, compare it with its SHA-256, and look at each row.

        Raises:
            ValueError: the folder holds no store, or one that is truncated, damaged or altered.
            OSError: it is not there or cannot be read.
        """
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
            memory: bytes that sorting may take; 16 bytes per node come on top.
            progress: called with the finished fraction now and then.

        Raises:
            ValueError: says what does not fit.
            OSError: the folder holds a store already, or the disk is full.
        """
        from mcn.store.write import write_store

        masks = {"train_mask": train_mask, "val_mask": val_mask, "test_mask": test_mask}
        write_store(
            Path(path).expanduser(), edges, num_nodes, x=x, y=y, masks=masks, ids=ids, classes=classes,
            memory=memory, progress=progress,
        )  # fmt: skip
        return GraphStore(path)

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Int64 [N + 1]: where the neighbours of each node begin in `indices`."""
        return self._mapped["indptr"]

    @property
    def indices(self) -> NDArray[np.int32]:
        """Int32 [2M]: the neighbours of each node in ascending order, every edge in both directions."""
        return self._mapped["indices"]

    @property
    def x(self) -> NDArray[np.float32] | None:
        """Float32 [N, F]: dense features; None if there are none, or sparse ones."""
        return self._mapped.get("x")

    @property
    def x_indptr(self) -> NDArray[np.int64] | None:
        """Int64 [N + 1]: row pointers of sparse features."""
        return self._mapped.get("x_indptr")

    @property
    def x_indices(self) -> NDArray[np.int32] | None:
        """Int32 [stored]: columns of sparse features."""
        return self._mapped.get("x_indices")

    @property
    def x_values(self) -> NDArray[np.float32] | None:
        """Float32 [stored]: values of sparse features."""
        return self._mapped.get("x_values")

    @property
    def y(self) -> NDArray[np.int64] | None:
        """Int64 [N]: class numbers, -1 where there is no label."""
        return self._mapped.get("y")

    @property
    def train_mask(self) -> NDArray[np.bool_] | None:
        """Bool [N]: the training nodes."""
        return self._mapped.get("train_mask")

    @property
    def val_mask(self) -> NDArray[np.bool_] | None:
        """Bool [N]: the validation nodes."""
        return self._mapped.get("val_mask")

    @property
    def test_mask(self) -> NDArray[np.bool_] | None:
        """Bool [N]: the test nodes."""
        return self._mapped.get("test_mask")

    @cached_property
    def ids(self) -> NDArray[np.int64] | TextIds:
        """What the user calls the nodes, in their order: integers, or text that is decoded when asked for."""
        if "ids_text" in self._mapped:
            return TextIds(self._mapped["ids_text"], self._mapped["ids_ptr"])
        return self._mapped["ids"] if "ids" in self._mapped else np.arange(self.num_nodes)

    @property
    def about(self) -> dict[str, Any]:
        """What else is known: report, scaling, feature_names, treatment; plain values."""
        return self._manifest.about

    @property
    def entries(self) -> dict[str, Entry]:
        """Type, shape and check sum of every array, by name."""
        return self._manifest.arrays

    @property
    def counts(self) -> Mapping[str, NDArray[Any]]:
        """Motif counts by motif, int32 or int64 [2M], an entry for each of `indices`; "edge" is always there.

        Others are there once `count_motifs(store, motifs=…)` has counted them.
        """
        return read_counts(self.path, self.entries["indices"])

    def check(self) -> None:
        """Look at every row once: neighbours in range and ascending, no self-loops.

        Compiled code follows these numbers without looking, so whatever hands them to a kernel asks first;
        the second time costs nothing.

        Raises:
            ValueError: names the row.
        """
        _ = self._rows_are_sound

    @cached_property
    def _rows_are_sound(self) -> bool:
        row = int(_unsound_row(np.asarray(self.indptr), np.asarray(self.indices), self.num_nodes))
        if row >= 0:
            raise ValueError(
                f"{self.path}/indices.npy: the neighbours of node {row} are not ascending node numbers other "
                "than its own; the file was altered: pack again"
            )
        if self.x_indices is not None and self.x_values is not None:
            from mcn.data.sparse import check_csr

            shape = (self.num_nodes, self.num_features)
            check_csr(
                self.x_indptr, self.x_indices, shape, f"{self.path}, the features", values=self.x_values
            )
        return True

    def verify(self) -> None:
        """Read everything: check sums, every row, and that each edge stands in both of its rows.

        Raises:
            ValueError: names the file or the row.
        """
        for name, entry in self.entries.items():
            check_sum(self.path, name, entry)
        self.check()
        edge = _one_way_entry(np.asarray(self.indptr), np.asarray(self.indices))
        if edge[0] >= 0:
            raise ValueError(
                f"{self.path}: node {edge[0]} has neighbour {edge[1]}, but not that one this; pack again"
            )
        read_counts(self.path, self.entries["indices"], verify=True)

    def to_data(self) -> Data:
        """Return the whole graph as a PyG `Data` in memory, as `mcn.load_graph` would have made it."""
        from mcn.store.to_data import to_data

        return to_data(self)

    def _check_pointers(self, name: str, last: int) -> None:
        pointers = self._mapped[name]
        sound = int(pointers[0]) == 0 and int(pointers[-1]) == last
        for start in range(0, len(pointers) - 1, _ROWS):
            piece = pointers[start : start + _ROWS + 1]
            sound = sound and bool((piece[1:] >= piece[:-1]).all())
        if not sound:
            raise ValueError(
                f"{self.path}/{name}.npy: row pointers must ascend from 0 to {last}; the file was altered: "
                "pack again"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphStore, (str(self.path),)

    def __repr__(self) -> str:
        features = f", {self.num_features:,} features" if self.num_features else ""
        return f"GraphStore({self.num_nodes:,} nodes, {self.num_edges:,} edges{features})"


@kernel
def _unsound_row(indptr: Any, indices: Any, n: int) -> Any:
    for u in range(n):
        last = -1
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if v <= last or v >= n or v == u:
                return u
            last = v
    return -1


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
