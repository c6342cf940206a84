"""Files that are damaged, or small on disk and huge in memory."""

import gzip
import io
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

import mcn
from graphmotifs._messages import brief, shown, told
from mcn.data.limits import check_nodes, max_bytes, read_bytes, reading
from tests.conftest import refuses


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("MCN_MAX_BYTES", "100000")
    return 100_000


def test_the_limit_can_be_raised_and_lowered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("1,2\n")
    assert max_bytes() == 2**31
    monkeypatch.setenv("MCN_MAX_BYTES", "4")
    assert read_bytes(path) == b"1,2\n"
    monkeypatch.setenv("MCN_MAX_BYTES", "3")
    message = r"e\.csv: holds more than 3 bytes; raise the limit .* MCN_MAX_BYTES"
    refuses(message, mcn.load_graph, path)
    for wrong in ("0", "-1", "2G", "1e9", " ", "9" * 40, "٣"):
        monkeypatch.setenv("MCN_MAX_BYTES", wrong)
        refuses(r"MCN_MAX_BYTES is .*; expected a number of bytes", max_bytes)


@pytest.mark.parametrize("suffix", ["csv", "mtx", "npz", "graphml", "gexf", "gml"])
def test_a_gzip_bomb_is_refused(suffix: str, small: int, tmp_path: Path) -> None:
    path = tmp_path / f"bomb.{suffix}.gz"
    packer = zlib.compressobj(wbits=31)
    path.write_bytes(packer.compress(bytes(30_000_000)) + packer.flush())
    assert path.stat().st_size < small
    refuses(rf"bomb\.{suffix}\.gz: unpacks to more than 100,000 bytes", mcn.load_graph, path)


def _zip_bomb(path: Path, announced: int | None = None) -> None:
    """An archive whose `edge` holds 30 MB of zeros, with its own or another size announced."""
    member = io.BytesIO()
    np.lib.format.write_array(member, np.zeros((1_900_000, 2), np.int64))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("edge.npy", member.getvalue())
    if announced is not None:
        true = len(member.getvalue()).to_bytes(4, "little")
        path.write_bytes(path.read_bytes().replace(true, announced.to_bytes(4, "little")))


@pytest.mark.parametrize("announced", [None, 2000])
@pytest.mark.parametrize("load", [mcn.load_graph, mcn.MotifCounts.load])
def test_a_zip_bomb_is_refused(load: object, announced: int | None, small: int, tmp_path: Path) -> None:
    _zip_bomb(tmp_path / "bomb.npz", announced)
    assert (tmp_path / "bomb.npz").stat().st_size < small
    refuses(r"bomb\.npz: (unpacks to more than 100,000 bytes|not a )", load, tmp_path / "bomb.npz")


@pytest.mark.parametrize("name", ["e.csv.GZ", "e.CSV.gz", "e.csv.Gz"])
def test_packed_files_are_unpacked_whatever_the_case_of_their_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress("é,ü\n".encode()))
    assert mcn.load_graph(tmp_path / name).node_ids.tolist() == ["é", "ü"]


def test_a_declared_number_of_nodes_is_bounded(small: int) -> None:
    check_nodes("f", 1200)
    refuses(r"^f: 1,300 nodes take more than 100,000 bytes; number nodes", check_nodes, "f", 1300)
    refuses(r"^f: 2147483649 nodes; at most 2\*\*31 are supported", check_nodes, "f", 2**31 + 1)


def test_whatever_a_parser_raises_becomes_a_value_error_but_errors_that_name_a_file_pass() -> None:
    for error in (TypeError, LookupError, RecursionError, NotImplementedError):
        with pytest.raises(ValueError, match=r"^f\.x: not readable \(odd\)$"), reading("f.x", "not readable"):
            raise error("odd")
    with pytest.raises(ValueError, match=r"^n\.csv, line 3$"), reading("e.csv", "bad", "n.csv"):
        raise ValueError("n.csv, line 3")
    with pytest.raises(FileNotFoundError, match=r"e\.csv"), reading("e.csv", "bad"):
        Path("folder-of-nobody/e.csv").read_bytes()
    with pytest.raises(ValueError, match=r"^e\.csv: does not fit into memory$"), reading("e.csv", "bad"):
        raise MemoryError
    with pytest.raises(KeyboardInterrupt), reading("e.csv", "bad"):
        raise KeyboardInterrupt


def test_messages_stay_short_and_take_one_line(tmp_path: Path) -> None:
    assert told("a  b\n") == r"'a  b\n'"
    assert told(np.array([[1, 2], [3, 4]])) == "array([[1, 2], [3, 4]])"
    assert told("x" * 100) == "'" + "x" * 78 + "…"
    assert shown("ab") == "'ab'"
    assert len(shown("x" * 10**6)) == 82
    assert brief(ValueError()) == "ValueError"
    assert brief(ValueError("one\ntwo")) == "one"
    assert len(brief(ValueError("x" * 10**6))) == 200
    (tmp_path / "e.csv").write_text("1,2\n" + "x" * 100_000 + "\n")
    message = r"e\.csv, line 2: 1 fields, expected 2 as in line 1"
    assert len(refuses(message, mcn.load_graph, tmp_path / "e.csv")) < 1000
