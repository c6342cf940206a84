from __future__ import annotations

import base64
import zlib

import numpy as np
import pytest

from mcn.viz.explorer import payload
from mcn.viz.explorer.payload import pack, trimmed
from mcn.viz.neighbours import Neighbourhood


def rows(lengths: list[int]) -> Neighbourhood:
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    values = np.linspace(1, 0, indptr[-1], dtype=np.float32)
    indices, none = np.arange(indptr[-1], dtype=np.int32), np.zeros((0, 2), np.bool_)
    return Neighbourhood("edge", 1, indptr, indices, values, [values], np.diff(indptr), none)


def test_pack() -> None:
    arrays = {
        "a": np.arange(3, dtype=np.uint8),
        "b": np.array([1.5, -2], np.float32),
        "none": np.zeros(0, np.int32),
        "big": np.array([1, 65535], ">u2"),
    }
    directory, text = pack(arrays)
    raw = zlib.decompress(base64.b64decode(text))
    assert directory == [
        ["a", "uint8", 0, 3],
        ["b", "float32", 8, 2],
        ["none", "int32", 16, 0],
        ["big", "uint16", 16, 2],
    ]
    assert raw[:3] == b"\0\1\2"
    assert np.frombuffer(raw, "<f4", 2, 8).tolist() == [1.5, -2]
    assert np.frombuffer(raw, "<u2", 2, 16).tolist() == [1, 65535]


def test_few_neighbours_are_all_kept() -> None:
    cap, kept = trimmed([rows([3, 1, 30])])
    assert cap == 30
    assert np.diff(kept[0].indptr).tolist() == [3, 1, 30]


@pytest.mark.parametrize(("budget", "expected"), [(34, 30), (33, 20), (24, 20), (14, 8), (3, 1), (0, 1)])
def test_many_are_trimmed(monkeypatch: pytest.MonkeyPatch, budget: int, expected: int) -> None:
    monkeypatch.setattr(payload, "_BUDGET", budget)
    cap, (kept,) = trimmed([rows([3, 1, 30])])
    assert cap == expected
    assert np.diff(kept.indptr).tolist() == [min(3, cap), 1, min(30, cap)]
    assert kept.total.tolist() == [3, 1, 30]
    assert kept.indices[kept.row(2)].tolist() == list(range(4, 4 + min(30, cap)))
