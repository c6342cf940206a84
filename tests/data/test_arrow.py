"""Parquet and Feather files from strangers: small on disk and huge in memory, or with offsets that lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcn.data.tables import read_arrow

pa = pytest.importorskip("pyarrow")
feather, parquet = pytest.importorskip("pyarrow.feather"), pytest.importorskip("pyarrow.parquet")
LIMIT = 1_000_000


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCN_MAX_BYTES", str(LIMIT))


def _write(path: Path, table: Any, packing: str) -> Path:
    if path.suffix == ".parquet":
        parquet.write_table(table, path, compression=packing)
    else:
        feather.write_feather(table, path, compression="uncompressed" if packing == "none" else packing)
    return path


TABLE = {"a": [1, 2, None], "b": ["x", "y", "x"], "c": [[1, 2], [], None], "d": [{"e": 1}] * 3}


@pytest.mark.parametrize("packing", ["none", "lz4", "zstd"])
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_every_packing_is_read(suffix: str, packing: str, tmp_path: Path) -> None:
    table = pa.table(TABLE).append_column("f", pa.array(["p", "q", "p"]).dictionary_encode())
    found = read_arrow(_write(tmp_path / f"t{suffix}", table, packing))
    assert found.to_pydict() == table.to_pydict()


def _zeros() -> Any:
    return pa.table({"a": np.zeros(2**20, np.int64)})


def _long_text() -> Any:
    rows = pa.array(np.zeros(2000, np.int32))
    return pa.table({"a": pa.DictionaryArray.from_arrays(rows, pa.array(["x" * 10_000]))})


def _nulls() -> Any:
    return pa.table({"a": pa.nulls(10**6)})


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("make", [_zeros, _long_text])
def test_a_small_file_that_is_huge_in_memory_is_refused(make: Any, suffix: str, tmp_path: Path) -> None:
    path = _write(tmp_path / f"t{suffix}", make(), "zstd")
    assert path.stat().st_size < LIMIT / 20
    with pytest.raises(ValueError, match=rf"t\{suffix}: .* more than 1,000,000 bytes; raise the limit"):
        read_arrow(path)


def test_rows_without_values_are_counted(tmp_path: Path) -> None:
    path = _write(tmp_path / "t.feather", _nulls(), "none")
    assert path.stat().st_size < LIMIT / 20
    with pytest.raises(ValueError, match=r"t\.feather: holds rows that take more than 1,000,000 bytes"):
        read_arrow(path)


def test_lists_of_nothing_are_counted(tmp_path: Path) -> None:
    lists = pa.FixedSizeListArray.from_arrays(pa.nulls(10**8), 10**8)
    path = _write(tmp_path / "t.feather", pa.table({"a": lists}), "none")
    with pytest.raises(ValueError, match=r"t\.feather: has values in column 'a' that take more than"):
        read_arrow(path)


def test_offsets_that_point_outside_are_refused(tmp_path: Path) -> None:
    """pyarrow reads such a file without a word, and follows the offset when the text is asked for."""
    texts = ["only", "a", "few", "words"]
    path = _write(tmp_path / "t.feather", pa.table({"a": texts}), "none")
    offsets = np.cumsum([0, *map(len, texts)]).astype("<i4").tobytes()
    content = path.read_bytes()
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets, np.array([0, 4, 5, 8, 2**30], "<i4").tobytes()))
    with pytest.raises(ValueError, match=r"t\.feather: not a readable \.feather file \(.*offset"):
        read_arrow(path)


def test_other_files(tmp_path: Path) -> None:
    for content in (b"", b"ARROW1", b"FEA1" + bytes(20), b"1,2\n"):
        (tmp_path / "t.feather").write_bytes(content)
        with pytest.raises(
            ValueError, match=r"t\.feather: .* \(not a Feather file of version 2, or truncated"
        ):
            read_arrow(tmp_path / "t.feather")
