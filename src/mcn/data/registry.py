"""The data sets that come by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcn._names import did_you_mean
from mcn.data.arrays import as_integer
from mcn.data.files import locate
from mcn.data.layout import (
    DD_FOLDERS,
    DD_SUMS,
    DD_WHOLE_FILES,
    DD_WHOLE_FOLDERS,
    DRAWN_FOLDERS,
    DRAWN_SUMS,
    HETEROPHILOUS_SUMS,
    PLANETOID_SUMS,
    heterophilous_folders,
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
_TEN_SPLITS = "ten splits, github.com/yandex-research/heterophilous-graphs"
# nodes, undirected edges, classes, source
_FACTS: dict[str, tuple[int, int, int, str]] = {
    "strong-ties": (2000, 9048, 5, "generated, see mcn.data.strong_ties"),
    "karate": (34, 78, 2, "Zachary 1977"),
    "cora": (2708, 5278, 7, _PLANETOID),
    "citeseer": (3327, 4552, 6, _PLANETOID),
    "pubmed": (19717, 44324, 3, _PLANETOID),
    "dd6": (4152, 10320, 20, _TU),
    "dd7": (1396, 3455, 20, _TU),
    "texas": (183, 279, 5, _TEN_SPLITS),
    "wisconsin": (251, 450, 5, _TEN_SPLITS),
    "chameleon-filtered": (890, 8854, 5, _TEN_SPLITS),
    "actor": (7600, 26659, 5, _TEN_SPLITS),
    "minesweeper": (10000, 39402, 2, _TEN_SPLITS),
    "amazon-photo": (7650, 119081, 8, "github.com/shchur/gnn-benchmark"),
    "airports-usa": (1190, 13599, 4, "github.com/leoribeiro/struc2vec"),
}
_OF_THE_PAPER = ("cora", "citeseer", "pubmed", "dd6", "dd7")
_EMBEDDED = ("strong-ties", "karate")
_OUTSIDE = ("pyg:", "ogb:")


def load_dataset(
    name: str,
    root: str | Path | None = None,
    *,
    dense: bool = False,
    seed: int = 0,
    download: bool = True,
    split: int = 0,
    trust: bool = False,
    structure: str = "none",
) -> Data:
    """A data set by name, as a PyG `Data` with `x`, `y`, `edge_index`, the three masks and `name`.

    Edges are simple: no self-loops, no repeats, both directions, sorted. Features are as in the files, not
    row-normalised (training does that). The citation sets come with their public split.

    Args:
        name: one that `mcn datasets` lists; or pyg:CLASS/NAME (pyg:Amazon/Computers) for what the classes of
            `torch_geometric.datasets` read, or ogb:NAME (ogb:ogbn-arxiv) where ogb is installed.
        root: folder to look in first, before `$MCN_DATA` and the user's cache.
        dense: `x` as a dense tensor; otherwise it is a sparse CSR tensor.
        seed: decides what is drawn: the whole graph of strong-ties, the split of karate, dd6 and dd7.
        download: fetch missing files from their public home into the cache.
        split: which of several given splits (texas, wisconsin, chameleon-filtered, actor and minesweeper have
            ten). Sets without one (amazon-photo, airports-usa) get a stratified 60/20/20 split, drawn with
            this number as its seed. The others have one split, number 0.
        trust: let PyG or OGB unpickle files, which can run code. No other set needs it: their files are
            compared with known check sums, and nothing in them is unpickled.
        structure: "add" lets training add degree and motif counts to the features; see `mcn.load_graph`.

    Raises:
        ValueError: unknown name, a split that is not there, or a file that is not what it should be.
        DatasetNotFound: the files are nowhere and cannot be downloaded.
    """
    number = as_integer(split, "split")
    if str(name).startswith(_OUTSIDE):
        from mcn.data.outside import load_outside

        data = load_outside(name, root, split=number, dense=dense, trust=trust)
    elif name not in _FACTS:
        hint = did_you_mean(str(name).lower(), _FACTS, most=3) or ";"
        raise ValueError(
            f"unknown data set {name!r}{hint} there are: {', '.join(_FACTS)}, pyg:CLASS/NAME, ogb:NAME"
        )
    else:
        data = _load(name, root, dense, seed, download, number)
        data.scaling = "rows"  # as in the paper, and for one-hot features no matter
        if name not in _OF_THE_PAPER:
            from mcn.data.sparse import feature_csr
            from mcn.data.treatment import row_scaling

            data.scaling = row_scaling(feature_csr(data.x)[data.train_mask.numpy()], int(data.num_nodes))
    if structure != "none":
        from mcn.data.graph import add_structure

        add_structure(data, structure)
    data.name = name
    return data


def datasets(root: str | Path | None = None) -> list[DatasetInfo]:
    """Every data set with its size, its source and where it would be read from."""
    return [
        DatasetInfo(name, nodes, edges, classes, source, _find(name, root), name in _EMBEDDED)
        for name, (nodes, edges, classes, source) in _FACTS.items()
    ]


# The loaders are imported when they are needed: a listing must not wait for torch.
def _load(name: str, root: str | Path | None, dense: bool, seed: int, download: bool, split: int) -> Data:
    if name in HETEROPHILOUS_SUMS:
        from mcn.data.heterophilous import load_heterophilous

        return load_heterophilous(name, root, split=split, dense=dense, download=download)
    if name in DRAWN_SUMS:
        from mcn.data.drawn import load_drawn

        return load_drawn(name, root, split=split, dense=dense, download=download)
    if split != 0:
        drawn = "" if name in PLANETOID_SUMS else ", which seed draws"
        raise ValueError(f"{name} has one split, number 0{drawn}; got split {split}")
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
    if name in HETEROPHILOUS_SUMS:
        return locate(heterophilous_folders(name), sorted(HETEROPHILOUS_SUMS[name]), root)
    if name in DRAWN_SUMS:
        return locate(DRAWN_FOLDERS[name], sorted(DRAWN_SUMS[name]), root)
    return locate(DD_FOLDERS, sorted(DD_SUMS), root) or locate(DD_WHOLE_FOLDERS, DD_WHOLE_FILES, root)
