"""An install that nothing can be written to, not even compiled kernels, still counts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mcn

COUNT = """
import mcn
counts = mcn.count_motifs([[0, 0, 1, 2, 3], [1, 2, 2, 3, 0]])
print(mcn.__file__)
print(*(counts.column(name).tolist() for name in ("triangle", "chordal-cycle")), counts.per_node[0].tolist())
"""


@pytest.mark.slow
def test_a_read_only_install_counts(tmp_path: Path) -> None:
    source = Path(mcn.__file__).parent
    package = tmp_path / "mcn"
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("in the way, for root too")
    nowhere = "/proc/nowhere"
    places = ("HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "IPYTHONDIR", "MPLCONFIGDIR")
    environment = os.environ | dict.fromkeys(places, nowhere)
    environment |= {"PYTHONPATH": str(tmp_path), "NUMBA_OPT": "0"}  # that it compiles, not how well
    done = subprocess.run(
        [sys.executable, "-c", COUNT],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    where, numbers = done.stdout.splitlines()
    assert Path(where).parent == package
    # The 4-cycle 0-1-2-3 with the chord 0-2; pairs 01 02 03 12 23.
    assert numbers == "[1, 2, 1, 1, 1] [1, 1, 1, 1, 1] [3, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]"
    assert not list(tmp_path.rglob("*.nb[ci]"))
