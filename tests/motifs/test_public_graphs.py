"""Counts of public graphs are, bit for bit, those of 0.2.0, which other counters have confirmed.

A digest is the SHA-256 of all numbers, first of induced subgraphs and then of all. To compare with another
version, run its `count_motifs` on the same files.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import mcn

DIGESTS = {
    "ca-AstroPh": "843cf6db7fc832b673f3ac9494e57bb8",
    "ca-GrQc": "cb6446a5222f68a86d2429ee3c07276f",
    "coAuthorsDBLP": "74dcfc00bd606478928ed74c09b4d37b",
    "email-Enron": "44ab398e67a80f35e66778927fcb6c20",
    "facebook_combined": "aea306a42388782cfc74fe5a4167a088",
    "luxembourg_osm": "18b0d35dadf6f1998b48094ad8ca8ccb",
}
PAIR_DIGESTS = {
    "ca-GrQc": "9745baf4c0a7bd4b287afcb5be7af4ad",
    "facebook_combined": "a57d753c8544649e52e8e55eb80bdccc",
    "luxembourg_osm": "eb054ca2d2b28239e7f5172390cf9634",
}


def read(folder: Path, name: str) -> tuple[int, np.ndarray]:
    with np.load(folder / "graphs" / f"{name}.npz", allow_pickle=False) as file:
        return int(file["n"]), file["edge"].T


@pytest.mark.parametrize("name", DIGESTS)
def test_edges_and_nodes(name: str, data_root: Path) -> None:
    n, edges = read(data_root, name)
    sha = hashlib.sha256()
    for induced in (True, False):
        counts = mcn.count_motifs(edges, n, induced=induced)
        for numbers in (counts.pairs, counts.per_edge, counts.per_node):
            sha.update(np.ascontiguousarray(numbers, "<i8").tobytes())
    assert sha.hexdigest()[:32] == DIGESTS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIR_DIGESTS)
def test_pairs_of_nodes(name: str, data_root: Path) -> None:
    n, edges = read(data_root, name)
    sha = hashlib.sha256()
    for induced in (True, False):
        counts = mcn.count_motifs(edges, n, induced=induced)
        for graphlet in mcn.GRAPHLETS:
            matrix = counts.adjacency(graphlet, scope="pairs")
            for numbers in (matrix.indptr, matrix.indices, matrix.data):
                sha.update(np.ascontiguousarray(numbers, "<i8").tobytes())
    assert sha.hexdigest()[:32] == PAIR_DIGESTS[name]
