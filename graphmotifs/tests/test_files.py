"""Files that appear complete or not at all, and locks."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphmotifs._files import atomic_write, naming, try_claim, write_text

HOLDER = """
import sys
from pathlib import Path
from graphmotifs._files import atomic_write, try_claim
what, path = sys.argv[1:]
if what == "claim":
    held = try_claim(Path(path))
    print("held" if held else "refused", flush=True)
    sys.stdin.read()
else:
    with atomic_write(path) as file:
        file.write(b"half")
        file.flush()
        print("writing", flush=True)
        sys.stdin.read()
"""


def holder(what: str, path: Path) -> subprocess.Popen[str]:
    """Start a process that holds a claim, or is in the middle of writing, until its input ends."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = subprocess.Popen([sys.executable, "-c", HOLDER, what, str(path)], **pipes)
    assert started.stdout.readline().strip() in ("held", "writing")
    return started


def end(started: subprocess.Popen[str], how: int | None = None) -> None:
    if how is not None:
        started.send_signal(how)
    started.communicate()


def test_a_file_appears_complete_and_an_error_leaves_the_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    with atomic_write(path) as file:
        file.write(b"new")
        assert not path.exists()
        assert len(list(tmp_path.iterdir())) == 1
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    write_text(path, "old")

    def fail() -> None:
        with atomic_write(path) as file:
            file.write(b"new")
            raise KeyError("mid-way")

    with pytest.raises(KeyError):
        fail()
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]


def test_what_a_killed_process_left_goes_with_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    end(holder("write", path), signal.SIGKILL)
    (leftover,) = tmp_path.iterdir()
    assert leftover.read_bytes() == b"half"
    (tmp_path / ".out.txt.swp").write_text("an editor's")
    (tmp_path / ".out.txt.abcdefgh.part.bak").write_text("someone's")
    write_text(path, "whole")
    assert path.read_text() == "whole"
    kept = {each.name for each in tmp_path.iterdir()}
    assert kept == {".out.txt.abcdefgh.part.bak", ".out.txt.swp", "out.txt"}


def test_a_file_that_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    other = holder("write", path)
    write_text(path, "ours")
    assert len(list(tmp_path.iterdir())) == 2
    end(other)
    assert path.read_text() == "half"  # it ended later, and whole
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_for_real(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to("/dev/full")

    def append() -> None:
        with naming(tmp_path / "log"), (tmp_path / "log").open("a") as file:
            file.write("line\n")

    with pytest.raises(OSError, match="No space left on device") as caught:
        append()
    assert caught.value.filename == str(tmp_path / "log")


def test_a_missing_file_or_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write_text(tmp_path / "no" / "out.txt", "")
    assert caught.value.filename == str(tmp_path / "no" / "out.txt")
    with pytest.raises(FileNotFoundError) as caught, naming(tmp_path / "out"):
        (tmp_path / "in").read_bytes()
    assert caught.value.filename == str(tmp_path / "in")  # another file keeps its name


def test_a_claim_is_for_one(tmp_path: Path) -> None:
    path = tmp_path / "claim"
    other = holder("claim", path)
    assert try_claim(path) is None
    end(other, signal.SIGKILL)
    assert path.exists()  # what a dead process left is no hindrance
    own = try_claim(path)
    assert try_claim(path) is None
    own.release()
    assert not path.exists()
