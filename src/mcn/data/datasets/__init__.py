"""Data sets by name: the registry, and where raw files are looked for, checked and fetched.

Each set or family of sets has a file of its own. It is imported when it is needed, and needs torch only when
it loads: a listing must not wait for it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from graphmotifs._arguments import as_integer
from graphmotifs._files import atomic_write
from graphmotifs._messages import did_you_mean
from mcn.data.limits import read_bytes

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from graphmotifs.graph import SimpleGraph
    from mcn.data.edge_list import GraphEdges

_TIMEOUT = 30.0
_LARGEST = 256 * 1024 * 1024


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
_FAMILY = {
    **dict.fromkeys(("cora", "citeseer", "pubmed"), "planetoid"),
    **dict.fromkeys(("dd6", "dd7"), "tu"),
    **dict.fromkeys(("texas", "wisconsin", "chameleon-filtered", "actor", "minesweeper"), "heterophilous"),
    **dict.fromkeys(("amazon-photo", "airports-usa"), "amazon_airports"),
}
_WITH_ARCS = {"chameleon-filtered": "chameleon-filtered-directed"}
"""Sets that also have a file of arcs, and what that is called."""
_FAMILY["chameleon-filtered-directed"] = "heterophilous"
_OF_THE_PAPER = ("planetoid", "tu")
_BUILT_IN = ("strong-ties", "karate")
_READ_BY_OTHERS = ("pyg:", "ogb:")
_ADVICE = (
    "Put them into one of these folders; they are looked for in this order: the folder given as root, "
    "$MCN_DATA, the cache."
)


def load_dataset(
    name: str,
    root: str | Path | None = None,
    *,
    dense: bool = False,
    seed: int = 0,
    download: bool = True,
    split: int = 0,
    directed: bool = False,
    trust: bool = False,
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
        directed: give the arcs alone, where the set has some (chameleon-filtered, pyg:…, ogb:…), and say so
            in `data.directed`: training then uses direction.
        trust: let PyG or OGB unpickle files, which can run code. No other set needs it: their files are
            compared with known check sums, and nothing in them is unpickled.

    Raises:
        ValueError: unknown name, a split that is not there, or a file that is not what it should be.
        DatasetNotFound: the files are nowhere and cannot be downloaded.
    """
    number = as_integer(split, "split")
    if str(name).startswith(_READ_BY_OTHERS):
        from mcn.data.datasets.pyg_ogb import load_pyg_ogb

        data = load_pyg_ogb(name, root, split=number, dense=dense, directed=directed, trust=trust)
    else:
        _check(name, directed, number)
        if name == "strong-ties":
            from mcn.data.datasets.embedded import strong_ties

            data = strong_ties(seed, dense=dense)
        else:
            data = _read(name, root, directed, seed, download, number).to_data(dense)
        data.scaling = "rows"  # as in the paper, and for one-hot features no matter
        if _FAMILY.get(name) not in _OF_THE_PAPER:
            from mcn.data.sparse import feature_csr
            from mcn.data.treatment import row_scaling

            data.scaling = row_scaling(feature_csr(data.x)[data.train_mask.numpy()], int(data.num_nodes))
    data.name = name
    return data


def list_datasets(root: str | Path | None = None) -> list[DatasetInfo]:
    """Every data set with its size, its source and where it would be read from."""
    return [
        DatasetInfo(name, nodes, edges, classes, source, _find(name, root), name in _BUILT_IN)
        for name, (nodes, edges, classes, source) in _FACTS.items()
    ]


def load_dataset_edges(name: str, root: str | Path | None = None, directed: bool = False) -> GraphEdges:
    """Return the edges of a data set by name; of karate and of files with known check sums without torch."""
    from graphmotifs.graph import simple_graph
    from mcn.data.edge_list import GraphEdges

    if name == "strong-ties" or name.startswith(_READ_BY_OTHERS):
        data = load_dataset(name, root=root, directed=directed)
        return GraphEdges(simple_graph(data.edge_index, data.num_nodes), data.report)
    _check(name, directed)
    return GraphEdges(*_read(name, root, directed).graph_and_report())


def _check(name: str, directed: bool, split: int = 0) -> None:
    """Refuse a set that is not known by name, arcs that it lacks, and a split that it lacks."""
    if name not in _FACTS:
        hint = did_you_mean(str(name).lower(), _FACTS, most=3) or ";"
        raise ValueError(
            f"unknown data set {name!r}{hint} there are: {', '.join(_FACTS)}, pyg:CLASS/NAME, ogb:NAME"
        )
    if directed and name not in _WITH_ARCS:
        known = ", ".join((*_WITH_ARCS, *(f"{prefix}…" for prefix in _READ_BY_OTHERS)))
        raise ValueError(f"{name}: its files are undirected; directed is for {known} and files of one's own")
    family = _FAMILY.get(name)
    if split != 0 and family not in ("heterophilous", "amazon_airports"):
        drawn = "" if family == "planetoid" else ", which seed draws"
        raise ValueError(f"{name} has one split, number 0{drawn}; got split {split}")


def _read(
    name: str, root: str | Path | None, directed: bool, seed: int = 0, download: bool = True, split: int = 0
) -> NodeSet:
    """Return the arrays of karate, or of a set that has files."""
    if name == "karate":
        from mcn.data.datasets.embedded import karate

        return karate(seed)
    module, name = _family(name), _WITH_ARCS[name] if directed else name
    files = obtain(name, module.raw_files(name), root, download)
    found: NodeSet = module.make(name, files, seed if _FAMILY[name] == "tu" else split)
    return found


def _family(name: str) -> Any:
    """The module of a family of sets: `raw_files` says which files a set has, `make` makes its arrays."""
    return import_module(f"{__name__}.{_FAMILY[name]}")


def _find(name: str, root: str | Path | None) -> Path | None:
    if name in _BUILT_IN:
        return None
    raw: RawFiles = _family(name).raw_files(name)
    found = locate(raw.folders, raw.sums, root)
    return found if found or raw.larger is None else locate(raw.larger.folders, raw.larger.files, root)


class NodeSet(NamedTuple):
    """A set as its reader gives it, in arrays; torch is needed only for the `Data` that is made of it.

    Features are a SciPy matrix, or a tensor as it is. `at_random` says whether chance decided the split,
    `directed` whether the edges are arcs whose direction is used; `more` has further entries of the `Data`.
    """

    x: Any
    y: Any
    edges: Any
    masks: Sequence[Any]
    notes: Sequence[str] = ()
    at_random: bool = True
    directed: bool = False
    more: Mapping[str, Any] = MappingProxyType({})

    def graph_and_report(self) -> tuple[SimpleGraph, list[str]]:
        """Make the edges simple; also say what that changed, and what there is to know of the set."""
        from graphmotifs.graph import simple_graph
        from mcn.data.edge_list import describe_graph

        graph = simple_graph(self.edges, len(self.y))
        return graph, [describe_graph(graph, self.directed), *self.notes]

    def to_data(self, dense: bool) -> Data:
        """Make the `Data`: edges made simple, features as a tensor, a report."""
        import torch
        from torch_geometric.data import Data

        from mcn.data.sparse import feature_tensor

        graph, report = self.graph_and_report()
        data = Data(
            x=self.x if isinstance(self.x, torch.Tensor) else feature_tensor(self.x, dense=dense),
            y=torch.as_tensor(self.y),
            edge_index=torch.from_numpy(graph.arcs if self.directed else graph.edge_index),
            num_nodes=len(self.y),
        )
        if self.directed:
            data.directed = True
        data.train_mask, data.val_mask, data.test_mask = map(torch.as_tensor, self.masks)
        if self.at_random:
            data.split_at_random = True
        data.report = report
        for name, value in self.more.items():
            data[name] = value
        return data


class DatasetNotFound(FileNotFoundError):
    """The raw files of a data set are in none of the places and could not be downloaded."""


def cache_folder() -> Path:
    """The user's cache: `$XDG_CACHE_HOME/mcn` or `~/.cache/mcn`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "mcn"


def places(root: str | Path | None = None) -> list[Path]:
    """The folders to look in, in order: `root`, `$MCN_DATA`, the user's cache."""
    given = [root, os.environ.get("MCN_DATA")]
    return [Path(place).expanduser() for place in given if place] + [cache_folder()]


def locate(folders: Sequence[str], files: Iterable[str], root: str | Path | None = None) -> Path | None:
    """Find the first folder, place by place, that holds all of `files`."""
    for place in places(root):
        for folder in folders:
            if all((place / folder / name).is_file() for name in files):
                return place / folder
    return None


def check_sum(content: bytes, source: str, expected: str) -> bytes:
    """Return `content` if its SHA-256 is `expected`: what was hashed is what is used."""
    digest = hashlib.sha256(content).hexdigest()
    if digest != expected:
        raise ValueError(
            f"{source}: SHA-256 is {digest}, expected {expected}: the file is damaged or another version; "
            "remove it to have it downloaded again"
        )
    return content


def fetch(url: str) -> bytes:
    """Download `url` into memory, where it stays until it has been checked."""
    import urllib.request  # with ssl, which files that are there do not need

    request = urllib.request.Request(url, headers={"User-Agent": "mcn"})  # noqa: S310 - fixed https homes
    with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310
        content: bytes = answer.read(_LARGEST + 1)
        announced = answer.headers.get("Content-Length")
    if len(content) > _LARGEST:
        raise ValueError(f"{url}: larger than {_LARGEST} bytes, refused")
    if announced is not None and int(announced) != len(content):
        raise OSError(f"{url}: the connection broke after {len(content)} of {announced} bytes")
    return content


class LargerSet(NamedTuple):
    """A set of which a smaller one can be cut out: its folders and files, how to unpack it and how to cut."""

    folders: Sequence[str]
    files: Sequence[str]
    unpack: Callable[[bytes, str], dict[str, bytes]]
    cut: Callable[[Mapping[str, bytes], str], dict[str, bytes]]


class RawFiles(NamedTuple):
    """The files of a set: the folders that may hold them, their SHA-256, and where they are fetched from.

    Fetched files are stored in the first folder. `home` is the address that their names are appended to, or
    that of the packed `larger` set.
    """

    folders: Sequence[str]
    sums: Mapping[str, str]
    home: str
    larger: LargerSet | None = None


def obtain(dataset: str, raw: RawFiles, root: str | Path | None, download: bool) -> dict[str, bytes]:
    """Return the checked files of a data set: found in one of the places, else fetched into the cache."""
    names, larger, home = sorted(raw.sums), raw.larger, raw.home
    folder = locate(raw.folders, names, root)
    if folder is not None:
        paths = {name: folder / name for name in names}
        return {name: check_sum(read_bytes(path), str(path), raw.sums[name]) for name, path in paths.items()}
    folder = None if larger is None else locate(larger.folders, larger.files, root)
    if larger is not None and folder is not None:
        return larger.cut({name: read_bytes(folder / name) for name in larger.files}, str(folder))
    looked = ", ".join(str(place / raw.folders[0]) for place in places(root))
    nowhere = f"{dataset}: the files {', '.join(names)} are in none of {looked}, and"
    if not download:
        raise DatasetNotFound(f"{nowhere} downloading was not asked for. {_ADVICE}")
    try:
        if larger is not None:
            files = larger.cut(larger.unpack(fetch(home), home), home)
        else:
            urls = {name: f"{home}/{name}" for name in names}
            files = {name: check_sum(fetch(url), url, raw.sums[name]) for name, url in urls.items()}
    except OSError as error:
        raise DatasetNotFound(f"{nowhere} {home} could not be read ({error}). {_ADVICE}") from error
    folder = cache_folder() / raw.folders[0]
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        with atomic_write(folder / name) as file:
            file.write(content)
    return files
