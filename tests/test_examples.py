"""The scripts and the notebook of `examples` run and print what they promise."""

import json
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY

EXAMPLES = REPOSITORY / "examples"

# Arguments that make a script short, and what its output must hold.
SCRIPTS: dict[str, tuple[list[str], list[str]]] = {
    "own_graph": (
        ["--epochs", "20"],
        [
            "180 nodes, 619 undirected edges",
            "29 nodes had no label",
            r"  person \d+: (harbour|north|south) \(",
        ],
    ),
    "pyg_training_loop": (["--epochs", "12"], [r"choosing: test [\d.]+%", r"edges for all: test [\d.]+%"]),
    "motif_features": (
        ["--folds", "3"],
        [r"ties between known nodes", r"12 motif counts: [\d.]+% over 3 folds", r"  triangle: \+"],
    ),
    "compare_methods": (
        ["--dataset", "karate", "--seeds", "2", "--epochs", "10"],
        [r"mcn +[\d.]+ ± [\d.]+\n", r"mlp +[\d.]+ ± [\d.]+   [+-][\d.]+ ± [\d.]+ against mcn"],
    ),
    "what_nodes_chose": (
        ["--epochs", "20"],
        [r"nodes in a triangle: 1300, of which", r"  edge: 18 neighbours", r"  triangle: 9 neighbours"],
    ),
    "own_baseline": (["--seeds", "1"], [r"majority +test 18.7", r"smoothed-centroid +test \d\d"]),
}


def test_every_script_is_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SCRIPTS)


@pytest.mark.usefixtures("own_methods")  # own_baseline adds one
@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name: str, here: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Run as a script, in this process: importing torch takes longer than what most of them do."""
    if name in ("motif_features", "own_baseline"):
        pytest.importorskip("sklearn")
    arguments, expected = SCRIPTS[name]
    path = str(EXAMPLES / f"{name}.py")
    monkeypatch.setattr(sys, "argv", [path, *arguments])
    runpy.run_path(path, run_name="__main__")
    out = capsys.readouterr().out
    for pattern in expected:
        assert re.search(pattern, out), f"{pattern!r} is not in\n{out}"
    assert list(here.iterdir()) == []  # nothing is left behind
    if name == "motif_features":
        degrees, motifs = (float(x) for x in re.findall(r": ([\d.]+)% over 3 folds", out))
        assert motifs > degrees + 5
    assert len(Path(path).read_text(encoding="utf-8").splitlines()) < 80  # it can be read in one sitting


def test_the_notebook_is_stored_as_it_was_run() -> None:
    """A reader on the web sees results; nothing of the machine that made them."""
    text = (EXAMPLES / "tour.ipynb").read_text(encoding="utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
    assert "stderr" not in {output.get("name") for output in outputs}
    assert not re.search(r"/(tmp|home|work|Users)/", text)
    assert len(text) < 100_000


@pytest.mark.filterwarnings("ignore")  # of the notebook machinery
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "MPLCONFIGDIR", "TMPDIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    notebook = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    streams = [output for output in outputs if output.output_type == "stream"]
    text = "".join(output.text for output in streams if output.name == "stdout")
    assert "MotifCounts(2,000 nodes, 9,048 edges)" in text
    shares = re.search(r"layer 2: (\d+)% .* (\d+)% of the others", text).groups()
    with_triangles, without = map(int, shares)
    assert with_triangles > 80
    assert without < 40
    assert re.search(r"under triangle: \d+ neighbours, class \d with \d+%", text)
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
