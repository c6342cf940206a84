"""The edges alone are those of the whole graph, and need no torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mcn.data import load_dataset, load_graph
from mcn.data.bare import bare_dataset, bare_graph

PAIRS = "source,target,weight\n7,3,1\n3,7,1\n3,12,2\n12,7,1\n5,5,1\n"
MATRIX = "%%MatrixMarket matrix coordinate pattern general\n6 6 4\n1 2\n2 1\n3 3\n2 4\n"
GML = "graph [ node [ id 1 ] node [ id 2 ] node [ id 9 ] edge [ source 1 target 2 ] ]"


def written(folder: Path, name: str) -> Path:
    path = folder / name
    if name.endswith(".npz"):
        np.savez(path, edge=np.array([[0, 1], [1, 2], [2, 0], [2, 5]]), n=8)
    else:
        path.write_text({".csv": PAIRS, ".mtx": MATRIX, ".gml": GML}[path.suffix])
    return path


@pytest.mark.parametrize("name", ["edges.csv", "matrix.mtx", "arrays.npz", "graph.gml"])
def test_the_edges_and_notes_of_the_whole_graph(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, name)
    bare, whole = bare_graph(path), load_graph(path)
    assert bare.graph.num_nodes == whole.num_nodes
    np.testing.assert_array_equal(bare.graph.edge_index, whole.edge_index.numpy())
    assert bare.report == [line for line in whole.report if not line.startswith(("features:", "no labels"))]


@pytest.mark.parametrize("name", ["karate", "strong-ties"])
def test_data_sets(name: str) -> None:
    bare, whole = bare_dataset(name), load_dataset(name)
    np.testing.assert_array_equal(bare.graph.edge_index, whole.edge_index.numpy())
    assert (bare.graph.num_nodes, bare.report) == (whole.num_nodes, whole.report)


def test_errors_are_those_of_the_whole_graph(tmp_path: Path) -> None:
    bad = tmp_path / "edges.csv"
    bad.write_text("1,2\n3,4.5\n")
    for read in (bare_graph, load_graph):
        with pytest.raises(ValueError, match=r"edges\.csv, line 2: node id '4.5'"):
            read(bad)
        with pytest.raises(FileNotFoundError, match=r"nowhere\.csv: no such file"):
            read(tmp_path / "nowhere.csv")


COUNT = """
import sys
from mcn.cli.main import main
for words in (["--dataset", "karate"], ["--graph", sys.argv[1]]):
    assert main(["motifs", "--json", *words]) == 0
heavy = {"torch", "torch_geometric", "sklearn", "pandas", "pyarrow", "networkx", "matplotlib"}
print(sorted(heavy & sys.modules.keys()), file=sys.stderr)
"""


def test_counting_loads_nothing_heavy(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("0,1\n1,2\n2,0\n2,3\n")
    done = subprocess.run(
        [sys.executable, "-c", COUNT, path], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stderr.splitlines()[-1] == "[]"  # after lines of progress, on a slow machine
    first, _, second = done.stdout.partition("}\n{")
    assert (json.loads(first + "}")["edges"], json.loads("{" + second)["edges"]) == (78, 4)
