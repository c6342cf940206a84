"""Sets in which edges join unlike nodes (Platonov et al. 2023, Pei et al. 2020), with ten splits each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy import sparse

from mcn.data.datasets import NodeSet, RawFiles
from mcn.data.limits import Archive, reading

HOME = "https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/main/data"
_MASKS = ("train_masks", "val_masks", "test_masks")
# Of the file of each set, as in the repository that it comes from.
SUMS = {
    "texas": "b164b99e6c3d43e4ab07488ec59bd8c815f90cbc1bd4cf425ce587d2b534d844",
    "wisconsin": "2543c89838cfc75f737f7c4664cc1d097f8268602c20b2d1bd4f21407df9c074",
    "chameleon-filtered": "bf46f07e1fb5249280447e5fe3100f3e82fc4b93ad1e13ffcfdec924b6ac0bb5",
    "actor": "c350eef06b2c2a9bf8218be2b57cac6d4003d0922eb597a039e9123f75817816",
    "minesweeper": "e664c8dacf1e8ac466c2c09ed4b237bd2c5541f47a6eae9c6092cb87f16412b3",
}
_ARCS = {
    "chameleon-filtered-directed": "5a2d40701407188f1661d37a326484b49cc15251e0dedaa7bd380873dac80f21",
}
"""Files of the same sets with the arcs that their edges were made of."""


def raw_files(name: str) -> RawFiles:
    """The file of a set."""
    sums = {f"{name.replace('-', '_')}.npz": (SUMS | _ARCS)[name]}
    return RawFiles(("heterophilous", f"HeterophilousGraphDataset/{name}/raw"), sums, HOME)


def make(name: str, files: Mapping[str, bytes], split: int) -> NodeSet:
    """One of the sets with ten given splits, of which `split` chooses one."""
    ((file, content),) = files.items()
    with reading(file, "not the file of this data set"):
        arrays = Archive(Path(file), content).read(("node_features", "node_labels", "edges", *_MASKS))
    splits = len(arrays["train_masks"])
    if not 0 <= split < splits:
        raise ValueError(f"{name} has {splits} given splits, from 0 to {splits - 1}; got split {split}")
    return NodeSet(
        sparse.csr_array(arrays["node_features"]),
        arrays["node_labels"].astype(np.int64),
        np.ascontiguousarray(arrays["edges"].T),
        [arrays[mask][split].copy() for mask in _MASKS],
        notes=[f"split: number {split} of the {splits} given ones (0 to {splits - 1})"],
        directed=name in _ARCS,
    )
