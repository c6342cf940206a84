"""Sets that PyG or OGB read, `pyg:CLASS/NAME` and `ogb:NAME`: they unpickle, so they must be trusted."""

from __future__ import annotations

import inspect
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from graphmotifs._messages import brief, did_you_mean, shown
from mcn.data.checks import unused_of_edges
from mcn.data.datasets import DatasetNotFound, NodeSet, cache_folder, places
from mcn.data.limits import check_size
from mcn.data.sparse import as_tensor, feature_csr, feature_tensor, thin_or_dense
from mcn.data.splits import share_split
from mcn.data.structure_features import degree_features

_MASKS = ("train_mask", "val_mask", "test_mask")


def load_pyg_ogb(
    name: str,
    root: str | Path | None = None,
    *,
    split: int = 0,
    dense: bool = False,
    directed: bool = False,
    trust: bool = False,
) -> Data:
    """A set that PyG or OGB reads, with simple edges and one split."""
    if not trust:
        raise ValueError(
            f"{name}: its reader unpickles files, which can run code; if you trust their source, "
            "say so with trust=True (--trust)"
        )
    read = _read_pyg if name.startswith("pyg:") else _read_ogb
    return _plain(name, read(name, root), split, dense, directed)


def _read_pyg(name: str, root: str | Path | None) -> Any:
    import torch_geometric.datasets as known

    kind, _, which = name.removeprefix("pyg:").partition("/")
    made = getattr(known, kind, None) if kind in known.__all__ else None
    if not inspect.isclass(made):
        near = did_you_mean(kind, known.__all__)
        raise ValueError(f"{name}: torch_geometric.datasets has no class {shown(kind)}{near}")
    parameters = inspect.signature(made).parameters
    if which and "name" not in parameters:
        raise ValueError(f"{name}: torch_geometric.datasets.{kind} takes no name; write pyg:{kind}")
    if not which and "name" in parameters and parameters["name"].default is inspect.Parameter.empty:
        raise ValueError(f"{name}: torch_geometric.datasets.{kind} needs a name; write pyg:{kind}/NAME")
    options: dict[str, Any] = {"name": which} if which else {}
    if "root" in parameters:
        home = cache_folder() / "pyg" / kind
        _bring(kind, which, home, root)
        options["root"] = str(home)
    reader = _with_download(made, name) if "root" in parameters else made
    try:
        return reader(**options)
    except DatasetNotFound:
        raise
    except (AssertionError, KeyError, ValueError, TypeError) as error:
        doubt = f"does not know the name {shown(which)}" if which else "cannot be made without more options"
        raise ValueError(
            f"{name}: torch_geometric.datasets.{kind} {doubt}, or its files are damaged "
            f"({type(error).__name__}: {brief(error)})"
        ) from error
    except Exception as error:  # whatever a reader raises about its files
        raise ValueError(f"{name}: torch_geometric.datasets.{kind} failed ({brief(error)})") from error


def _bring(kind: str, which: str, home: Path, root: str | Path | None) -> None:
    """Copy raw files that lie in a data folder to where PyG reads and writes, unless they are there."""
    for place in places(root):
        for folder in (place / kind).iterdir() if which and (place / kind).is_dir() else [place / kind]:
            raw = folder / "raw"
            if (which and folder.name.lower() != which.lower()) or not raw.is_dir():
                continue
            target = home / (folder.name if which else "") / "raw"
            for file in raw.iterdir():
                if file.is_file() and not (target / file.name).exists():
                    check_size(file, file.stat().st_size)
                    target.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, target / file.name)


def _with_download(made: Any, name: str) -> Any:
    """The class, with a download that says what is missing where it fails."""

    def download(self: Any) -> None:
        try:
            made.download(self)
        except Exception as error:
            files = self.raw_file_names
            wanted = [files] if isinstance(files, str) else list(files)
            raise DatasetNotFound(
                f"{name}: torch_geometric.datasets.{made.__name__} could not download its files "
                f"({brief(error)}); put {', '.join(map(str, wanted))} into {self.raw_dir}"
            ) from error

    return type(made.__name__, (made,), {"download": download})


def _read_ogb(name: str, root: str | Path | None) -> Any:
    try:
        reader: Any = import_module("ogb.nodeproppred").PygNodePropPredDataset
    except ImportError as error:
        raise ValueError(f"{name}: this needs the package ogb; pip install ogb") from error
    own = name.removeprefix("ogb:")
    folder = own.replace("-", "_")
    home = next((place for place in places(root) if (place / folder).is_dir()), cache_folder() / "ogb")
    try:
        return reader(own, root=str(home))
    except OSError as error:
        raise DatasetNotFound(
            f"{name}: ogb.nodeproppred.PygNodePropPredDataset could not download its files ({brief(error)}); "
            f"put the folder {folder} into {home}"
        ) from error
    except Exception as error:  # whatever a reader raises about names and files
        raise ValueError(
            f"{name}: ogb.nodeproppred.PygNodePropPredDataset does not know the name {shown(own)}, "
            f"or its files are damaged ({brief(error)})"
        ) from error


def _plain(name: str, found: Any, split: int, dense: bool, directed: bool) -> Data:
    """One graph with a class per node, its edges made simple and one of its splits."""
    if len(found) != 1 or not isinstance(found[0], Data):
        what = f"{len(found):,} graphs" if len(found) != 1 else "a graph with several kinds of nodes"
        raise ValueError(f"{name} holds {what}; expected one graph whose nodes have classes")
    given = found[0]
    n, y = given.num_nodes, given.get("y")
    if not isinstance(y, Tensor) or given.get("edge_index") is None or y.numel() != n:
        raise ValueError(f"{name}: its graph has no edges or not one class per node; expected both")
    y = torch.nan_to_num(y.reshape(-1).double(), nan=-1.0).long()
    x: Any = _features(given.get("x"), n, dense)
    notes = []
    if x is None:
        x = degree_features(given)
        notes.append("features: one-hot size of the degree (the set has none)")
    if hasattr(found, "get_idx_split"):
        parts = found.get_idx_split()
        for mask, part in zip(_MASKS, ("train", "valid", "test"), strict=True):
            given[mask] = torch.zeros(n, dtype=torch.bool).index_fill_(0, parts[part].long(), True)
    notes += unused_of_edges(given, n)
    masks, note, drawn = _split(given, y, name, split)
    how: dict[str, Any] = {"notes": [*notes, note], "at_random": drawn, "directed": directed}
    return NodeSet(x, y, given.edge_index, masks, **how).to_data(dense)


def _features(x: Any, n: int, dense: bool) -> Tensor | None:
    if not isinstance(x, Tensor) or x.dim() != 2 or x.shape[0] != n or x.shape[1] == 0:
        return None
    if x.layout != torch.strided:
        return feature_tensor(feature_csr(x.to_sparse_csr()), dense=dense)
    return as_tensor(thin_or_dense(x.float().numpy(), dense))


def _split(given: Data, y: Tensor, name: str, split: int) -> tuple[list[Tensor], str, bool]:
    """The masks of one of the given splits, or of a drawn one; what to say of it; whether it was drawn."""
    masks, n = [given.get(mask) for mask in _MASKS], len(y)
    if all(isinstance(mask, Tensor) and mask.dtype == torch.bool and len(mask) == n for mask in masks):
        table = [mask.reshape(n, -1) for mask in masks if mask is not None]
        splits = table[0].shape[1]
        if not 0 <= split < splits:
            many = "split" if splits == 1 else "splits"
            raise ValueError(f"{name} has {splits} given {many}, from 0 to {splits - 1}; got split {split}")
        chosen = [(mask[:, min(split, mask.shape[1] - 1)] & (y >= 0)).contiguous() for mask in table]
        note = f"split: number {split} of the {splits} given" if splits > 1 else "split: as given"
        return chosen, note, False
    if split < 0:
        raise ValueError(f"{name}: splits are drawn with the seeds 0, 1, 2, …; got split {split}")
    part = torch.from_numpy(share_split(y.numpy(), seed=split))
    note = f"split: 60/20/20, stratified by class, drawn with seed {split} (the set has none)"
    return [part == place for place in range(3)], note, True
