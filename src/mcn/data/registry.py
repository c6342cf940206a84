"""The data sets that come by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcn._names import did_you_mean
from mcn.data.files import locate
from mcn.data.layout import (
    DD_FOLDERS,
    DD_SUMS,
    DD_WHOLE_FILES,
    DD_WHOLE_FOLDERS,
    PLANETOID_SUMS,
    planetoid_folders,
)

if TYPE_CHECKING:
    from torch_geometric.data import Data


@dataclass(frozen=True)
class DatasetInfo:
    """A line of `mcn datasets`: what there is and where it was found."""

    name: str
    nodes: int
    edges: int
    classes: int
    source: str
    found: Path | None
    embedded: bool

    @property
    def where(self) -> str:
        """Where it comes from when it is loaded now."""
        if self.embedded:
            return "built in"
        return str(self.found) if self.found else "not here; downloaded when first loaded"


_PLANETOID = "Planetoid files, github.com/kimiyoung/planetoid"
_TU = "TU files, graphkernels DD, www.chrsmrrs.com"
# nodes, undirected edges, classes, source
_FACTS: dict[str, tuple[int, int, int, str]] = {
    "strong-ties": (2000, 9048, 5, "generated, see mcn.data.strong_ties"),
    "karate": (34, 78, 2, "Zachary 1977"),
    "cora": (2708, 5278, 7, _PLANETOID),
    "citeseer": (3327, 4552, 6, _PLANETOID),
    "pubmed": (19717, 44324, 3, _PLANETOID),
    "dd6": (4152, 10320, 20, _TU),
    "dd7": (1396, 3455, 20, _TU),
}
_EMBEDDED = ("strong-ties", "karate")


def load_dataset(
    name: str,
    root: str | Path | None = None,
    *,
    dense: bool = False,
    seed: int = 0,
    download: bool = True,
) -> Data:
    """A data set by name, as a PyG `Data` with `x`, `y`, `edge_index`, the three masks and `name`.

    Edges are simple: no self-loops, no repeats, both directions, sorted. Features are as in the files, not
    row-normalised (training does that). The citation sets come with their public split.

    Args:
        name: strong-ties, karate, cora, citeseer, pubmed, dd6 or dd7.
        root: folder to look in first, before `$MCN_DATA` and the user's cache.
        dense: `x` as a dense tensor; otherwise it is a sparse CSR tensor.
        seed: decides what is drawn: the whole graph of strong-ties, the split of karate, dd6 and dd7.
        download: fetch missing files from their public home into the cache.

    Raises:
        ValueError: unknown name, or a file that is not what it should be.
        DatasetNotFound: the files are nowhere and cannot be downloaded.
    """
    if name not in _FACTS:
        hint = did_you_mean(str(name).lower(), _FACTS, most=3) or ";"
        raise ValueError(f"unknown data set {name!r}{hint} there are: {', '.join(_FACTS)}")
    data = _load(name, root, dense, seed, download)
    data.name = name
    return data


def datasets(root: str | Path | None = None) -> list[DatasetInfo]:
    """Every data set with its size, its source and where it would be read from."""
    return [
        DatasetInfo(name, nodes, edges, classes, source, _find(name, root), name in _EMBEDDED)
        for name, (nodes, edges, classes, source) in _FACTS.items()
    ]


# The loaders are imported when they are needed: a listing must not wait for torch.
def _load(name: str, root: str | Path | None, dense: bool, seed: int, download: bool) -> Data:
    if name == "strong-ties":
        from mcn.data.ties import strong_ties

        return strong_ties(seed, dense=dense)
    if name == "karate":
        from mcn.data.karate import load_karate

        return load_karate(dense=dense, seed=seed)
    if name in PLANETOID_SUMS:
        from mcn.data.planetoid import load_planetoid

        return load_planetoid(name, root, dense=dense, download=download)
    from mcn.data.tu import load_dd

    return load_dd(name, root, dense=dense, seed=seed, download=download)


def _find(name: str, root: str | Path | None) -> Path | None:
    if name in _EMBEDDED:
        return None
    if name in PLANETOID_SUMS:
        return locate(planetoid_folders(name), sorted(PLANETOID_SUMS[name]), root)
    return locate(DD_FOLDERS, sorted(DD_SUMS), root) or locate(DD_WHOLE_FOLDERS, DD_WHOLE_FILES, root)
