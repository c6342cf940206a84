"""Edges from files other than text: Matrix Market, NumPy, GraphML, GEXF and GML; damaged ones as well."""

import gzip
import io
import itertools
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas
import pytest
from scipy import io as scipy_io
from scipy import sparse

import mcn
from mcn.data import load_dataset, load_dataset_edges, load_edges, load_graph
from tests.conftest import python, refuses
from tests.payloads import Call

PATH = [[0, 1], [1, 2], [2, 3]]  # a path of four nodes
GENERAL, ARRAY = "%%MatrixMarket matrix coordinate real general\n", "%%MatrixMarket matrix array "


def _pairs(path: Path) -> list[list[int]]:
    return [[u, v] for u, v in load_graph(path).edge_index.T.tolist() if u < v]


@pytest.fixture
def matrix() -> sparse.csr_array:
    dense = np.zeros((5, 5))
    for u, v in PATH:
        dense[u, v] = dense[v, u] = 1
    return sparse.csr_array(dense)


VALUES = {
    "real": ["1", "0", "1.0", "2.5", "-1", "1e0", "10e-1", ".5", "0.0e5", "1.00000000000000000000", "nan"],
    "double": ["1", "0", "-inf"],
    "integer": ["1", "0", "-3"],
    "unsigned-integer": ["1", "0", "7"],
    "complex": ["1 0", "0 0", "1.0 -2", "0 1"],
    "pattern": [""],
}


def _file(form: str, field: str, symmetry: str, rng: np.random.Generator) -> str:
    n = 4
    values = VALUES[field]
    if form == "array":
        count = {"general": n * n, "skew-symmetric": n * (n - 1) // 2}.get(symmetry, n * (n + 1) // 2)
        lines = [str(rng.choice(values)) for _ in range(count)]
        size = f"{n} {n}"
    else:
        least = {"general": -n, "skew-symmetric": 1}.get(symmetry, 0)  # of i - j
        places = [(i, j) for i, j in itertools.product(range(1, n + 1), repeat=2) if i - j >= least]
        chosen = rng.permutation(places)[:5].tolist()
        lines = [f"{i} {j} {rng.choice(values)}".strip() for i, j in chosen]
        size = f"{n} {n} {len(chosen)}"
    return "\n".join([f"%%MatrixMarket matrix {form} {field} {symmetry}", "% a comment", size, *lines, ""])


SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
KINDS = [
    (form, field, symmetry)
    for form, field, symmetry in itertools.product(("coordinate", "array"), VALUES, SYMMETRIES)
    if (form, field) != ("array", "pattern") and (field, symmetry) != ("unsigned-integer", "skew-symmetric")
]


@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
def test_every_kind_of_matrix_market(kind: tuple[str, str, str], tmp_path: Path) -> None:
    """Whatever blanks and line ends there are, the edges are the entries that are not zero."""
    for seed, change in enumerate([("", ""), ("\n", "\r\n"), (" ", "\t  "), ("\n", "\n\n"), ("\n", "  \n")]):
        text = _file(*kind, np.random.default_rng(seed))
        dense = sparse.coo_array(scipy_io.mmread(io.BytesIO(text.encode()))).toarray()
        first, rest = text.split("\n", 1)
        path = tmp_path / "a.mtx"
        path.write_text(first + "\n" + rest.replace(*change) if change[0] else text, newline="")
        data = load_graph(path)
        entries = (dense != 0) | (dense.T != 0)
        np.fill_diagonal(entries, False)
        assert data.edge_index.tolist() == np.stack(entries.nonzero()).tolist()
        assert data.num_nodes == 4
        weighted = bool((dense[dense != 0] != 1).any())
        assert any("values of the matrix are not used" in line for line in data.report) == weighted


def test_matrix_market_with_stored_zeros_and_a_blank_as_the_end(tmp_path: Path, matrix: Any) -> None:
    scipy_io.mmwrite(tmp_path / "a.mtx", matrix)
    assert _pairs(tmp_path / "a.mtx") == PATH
    assert load_graph(tmp_path / "a.mtx").node_ids.tolist() == [1, 2, 3, 4, 5]
    (tmp_path / "b.mtx.gz").write_bytes(gzip.compress((tmp_path / "a.mtx").read_bytes()))
    assert _pairs(tmp_path / "b.mtx.gz") == PATH
    (tmp_path / "a.mtx").write_text(GENERAL + "4 4 3\n1 2 0.5\n2 3 0\n3 4 2\n")
    assert "1 stored zeros are no edges" in load_graph(tmp_path / "a.mtx").report
    # SciPy's reader alone ends the process on this file.
    (tmp_path / "a.mtx").write_bytes(b"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3 ")
    data = load_graph(tmp_path / "a.mtx")
    assert data.node_ids.tolist() == [1, 2, 3]
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "line 1 is ''"),
        ("%%MatrixMarket matrix coordinate real\n", "line 1 is '%%MatrixMarket matrix coordinate real'"),
        ("%%MatrixMarket matrix coordinate rael general\n", "line 1 is '.* rael general'"),
        ("%%MatrixMarket matrix array pattern general\n2 2\n", "Array matrices may not be pattern"),
        (GENERAL, "line 2 is ''"),
        (GENERAL + "% c\n2 2\n", "Invalid integer value"),
        (GENERAL + "2 2 -1\n", "line 2 is '2 2 -1'"),
        (GENERAL + "2 2 1\n1 1\n", "line 3 is '1 1': Invalid floating-point value"),
        (GENERAL + "2 2 1\n1 1 x\n", "line 3 is '1 1 x'"),
        (GENERAL + "2 2 1\n\n0 1 1\n", "line 4 is '0 1 1': Row index out of bounds"),
        (GENERAL + "2 2 1\n1 9 1\n", "line 3 is '1 9 1': Column index out of bounds"),
        (GENERAL + "2 2 1\n1 99999999999999999999 1\n", "line 3 is .*: Integer out of range"),
        (GENERAL + "2 2 1\n1 1 1\n1 2 1\n", "line 4 is '1 2 1': Too many lines"),
        (GENERAL + "2 2 3\n1 1 1\n1 2 1\n", "Truncated file. Expected another 1 lines"),
        (GENERAL + "2 2 99999999999\n1 1 1\n", "99,999,999,999 entries are declared, in a file of 68 bytes"),
        ("%%MatrixMarket matrix array integer general\n2 2\n1\n1.5\n", "Truncated file"),
    ],
)
def test_matrix_market_errors_name_the_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.mtx").write_text(text)
    refuses(rf"a\.mtx: not a readable Matrix Market file \(.*{message}", load_graph, tmp_path / "a.mtx")


@pytest.mark.parametrize(
    "text, message",
    [
        (GENERAL + "2 3 1\n1 2 1\n", r"a matrix of shape \[2, 3\]; expected a square"),
        (GENERAL + "2147483647 2147483647 1\n1 2 1\n", "2,147,483,647 nodes take more than .* MCN_MAX_BYTES"),
        (ARRAY + "real general\n3000 3000\n1\n", "reading it takes more than 1,000,000 bytes"),
    ],
)
def test_matrices_too_large_or_not_square(text: str, message: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MCN_MAX_BYTES", "1000000")
    (tmp_path / "a.mtx").write_text(text)
    refuses(rf"a\.mtx: {message}", load_graph, tmp_path / "a.mtx")


def test_npz_also_with_a_pickle_which_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", edge=np.array(PATH, np.int32), n=np.int64(6))
    np.savez(tmp_path / "b.npz", edge_index=np.array(PATH).T)
    for name, nodes in (("a.npz", 6), ("b.npz", 4)):
        assert (_pairs(tmp_path / name), load_graph(tmp_path / name).num_nodes) == (PATH, nodes)
    marker = tmp_path / "ran"
    touch = np.array([Call(os.system, f"touch {marker}")], dtype=object)
    np.savez(tmp_path / "a.npz", edge=touch, allow_pickle=True)
    refuses("without pickles", load_graph, tmp_path / "a.npz")
    assert not marker.exists()


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"edge": [[0, 1], [2, -3]]}, r"negative node id in edge 1: \[2, -3\]"),
        ({"edge": [[0, 1], [2, 9]], "n": 5}, r"edge 1 is \[2, 9\], but n is 5"),
        ({"edge": [[0.0, np.nan]]}, "edges of shape .* dtype float64; expected integer pairs"),
        ({"edge": [[0, 1, 2]]}, r"edges of shape \[1, 3\]"),
        ({"edge": [[0, 1]], "n": 2.5}, "n is .*; expected one integer"),
        ({"edge": [[0, 2**31]]}, "2147483649 nodes; at most"),
        ({"edge": np.array([[0, 2**64 - 1]], np.uint64)}, r"18446744073709551616 nodes; at most 2\*\*31"),
        ({"edge": [[0, 2**31 - 2]]}, "2,147,483,647 nodes take more than"),
        ({"other": np.arange(3)}, "has 'other'; expected 'edge'"),
    ],
)
def test_bad_npz(arrays: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    refuses(rf"a\.npz: {message}", load_graph, path)
    for damaged in (path.read_bytes()[:-40], b""):
        path.write_bytes(damaged)
        refuses(r"a\.npz: not a readable .npz file", load_graph, path)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_every_form_of_a_sparse_matrix(kind: Any, form: str, matrix: Any, tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "a.npz", kind(matrix).asformat(form))
    data = load_graph(tmp_path / "a.npz")
    assert (_pairs(tmp_path / "a.npz"), data.num_nodes) == (PATH, 5)
    assert not any("weights" in line or "zeros" in line for line in data.report)


def test_blocks_and_diagonals_that_are_not_symmetric(tmp_path: Path) -> None:
    blocks = sparse.bsr_array(np.kron([[0, 1], [0, 0]], np.array([[1, 2], [0, 1]])), blocksize=(2, 2))
    sparse.save_npz(tmp_path / "a.npz", blocks)
    assert _pairs(tmp_path / "a.npz") == [[0, 2], [0, 3], [1, 3]]
    report = load_graph(tmp_path / "a.npz").report
    assert "values of the matrix are not used: each that is not zero is an edge" in report
    assert "1 stored zeros are no edges" in report
    diagonals = sparse.dia_array((np.ones((3, 4)), [2, -3, 9]), shape=(4, 4))
    sparse.save_npz(tmp_path / "a.npz", diagonals)
    assert _pairs(tmp_path / "a.npz") == [[0, 2], [0, 3], [1, 3]]


POINTERS, ENTRIES = "row pointers from", "expected 0 to 6, the number of entries"
BACK = "expected row pointers that do not go back"
OUTSIDE: dict[str, tuple[dict[str, Any], str]] = {
    "row pointers past the end": ({"indptr": [0, 1, 3, 5, 6, 600]}, f"{POINTERS} 0 to 600; {ENTRIES}"),
    "row pointers far outside": ({"indptr": [0, 10**9, 3, 5, 6, 6]}, "row 1 runs from entry 1000000000 to 3"),
    "row pointers that start late": ({"indptr": [1, 1, 3, 5, 6, 6]}, f"{POINTERS} 1 to 6"),
    "negative row pointers": ({"indptr": [0, -5, 3, 5, 6, 6]}, f"row 0 runs from entry 0 to -5; {BACK}"),
    "too few row pointers": ({"indptr": [0, 6]}, "2 row pointers for a matrix of shape"),
    "a column outside": ({"indices": [1, 0, 2, 1, 3, 5]}, r"entry 5 \(in row 3\) is in column 5; .* 0\.\.4"),
    "a column far outside": ({"indices": [1, 0, 2, 1, 3, 2**40]}, "is in column 1099511627776"),
    "a negative column": ({"indices": [-1, 0, 2, 1, 3, 2]}, r"entry 0 \(in row 0\) is in column -1"),
    "columns that are no integers": ({"indices": [1.0, 0, 2, 1, 3, 2]}, "'indices' holds float64"),
    "too few values": ({"data": [1.0, 1]}, "2 values for 6 columns"),
    "values that are text": ({"data": ["a"] * 6}, "'data' holds <U1"),
    "values in a matrix": ({"data": [[1.0]] * 6}, "'data' has shape"),
    "a shape that is not square": ({"shape": [5, 6]}, r"a matrix of shape \[5, 6\]; expected a square"),
    "a negative shape": ({"shape": [-4, -4]}, r"a matrix of shape \[-4, -4\]"),
    "a huge shape": ({"shape": [2**31 - 1] * 2}, "2,147,483,647 nodes take more than"),
    "another format": ({"format": "lil"}, "its format is 'lil'; expected one of csr"),
    "a format that is a number": ({"format": 3}, "its format is an array of int64"),
    "a part missing": ({"indptr": None}, "there is no 'indptr' in it"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_sparse_matrix_that_points_outside(name: str, matrix: Any, tmp_path: Path) -> None:
    """SciPy's `load_npz` does not look: the process then reads and writes elsewhere."""
    changes, message = OUTSIDE[name]
    sparse.save_npz(tmp_path / "a.npz", matrix)
    with np.load(tmp_path / "a.npz") as archive:
        content = dict(archive) | changes
    np.savez(tmp_path / "a.npz", **{key: value for key, value in content.items() if value is not None})
    refuses(rf"a\.npz: .*{message}", load_graph, tmp_path / "a.npz")


def _header(shape: str, dtype: str = "<i8", room: int = 118) -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (room - len(text) - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "header",
    [
        *(_header(shape) for shape in ("(10000000000000, 2)", "(-1, 2)", "(3, 2)", "(1, 2", "(1e3, 2)")),
        *(_header("(1, 2)", dtype) for dtype in ("<U0", "|O")),
        _header("(" * 900, room=4096),
        b"\x93NUMPY\x09\x00" + _header("(1, 2)")[8:],
        b"PUMPY",
        b"",
    ],
)
def test_headers_that_lie(header: bytes, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("edge.npy", header + bytes(16))
    for load in (load_graph, mcn.MotifCounts.load):
        refuses(r"a\.npz: not a ", load, tmp_path / "a.npz")


def test_damage_anywhere_is_a_value_error_or_harmless(tmp_path: Path) -> None:
    """zlib.error, NotImplementedError, AttributeError and others used to come out."""
    whole = io.BytesIO()
    np.savez_compressed(whole, edge=np.array(PATH))
    path = tmp_path / "a.npz"
    for place in range(len(whole.getvalue())):
        for value in (0x00, 0xFF, 0x63):
            changed = bytearray(whole.getvalue())
            changed[place] = value
            path.write_bytes(changed)
            said = ""
            try:
                assert _pairs(path) == PATH
            except ValueError as error:
                said = str(error)
            assert not said or said.startswith(str(path))


@pytest.mark.parametrize("suffix", ["graphml", "gexf", "gml"])
def test_networkx_formats(suffix: str, tmp_path: Path) -> None:
    graph = networkx.Graph(PATH)
    graph.add_node(9)
    networkx.set_node_attributes(graph, {node: {"team": "ab"[node % 2], "size": node / 2} for node in graph})
    path = tmp_path / f"a.{suffix}"
    getattr(networkx, f"write_{suffix}")(graph, path)
    assert (_pairs(path), load_graph(path).num_nodes) == (PATH, 5)
    with_labels = load_graph(path, label="team", features=["size"], scaling="raw")
    assert [with_labels.classes[y] for y in with_labels.y] == ["a", "b", "a", "b", "b"]
    assert with_labels.x.reshape(-1).tolist() == [0, 0.5, 1, 1.5, 4.5]
    (tmp_path / f"b.{suffix}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert _pairs(tmp_path / f"b.{suffix}.gz") == PATH


def test_directed_weighted_graphml(tmp_path: Path) -> None:
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from([("b", "a", 2.0), ("a", "b", 2.0), ("b", "c", 1.0)])
    networkx.write_graphml(graph, tmp_path / "a.graphml")
    data = load_graph(tmp_path / "a.graphml")
    assert data.node_ids.tolist() == ["a", "b", "c"]
    assert _pairs(tmp_path / "a.graphml") == [[0, 1], [1, 2]]
    assert any("weights" in line for line in data.report)


XML = '<?xml version="1.0" encoding="{}"?>\n'
BOMB = XML + '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><x>&b;</x>'
UNREADABLE = "(, line 1)?: not (well-formed|a readable)"
BROKEN: list[tuple[str, bytes, str]] = [
    *(("graphml gexf", BOMB.format(code).encode(code), ".*refused, the XML declares a document type")
      for code in ("utf-8", "utf-16")),
    *(("graphml gexf", (XML.format(code) + "<graphml></graphml>").encode(), UNREADABLE)
      for code in ("klingon", "utf-7x", "idna", "base64")),
    ("graphml gexf", b"<graph><node", UNREADABLE),
    ("gml", b"graph [ node [ id", UNREADABLE),
    ("gml", b"graph [ " + b"a [ " * 100_000, r": not a readable \.gml file"),
    ("gml", b'graph [ node [ id 1 ] node [ id "1" ] node [ id 2 ] ]',
     ": node id '1' occurs twice, as text and as a number"),
    ("doc", b"", r": unknown format '\.doc'; expected one of \.csv"),
]  # fmt: skip


@pytest.mark.parametrize("suffixes, content, message", BROKEN)
def test_graph_files_that_are_refused(suffixes: str, content: bytes, message: str, tmp_path: Path) -> None:
    for suffix in suffixes.split():
        (tmp_path / f"a.{suffix}").write_bytes(content)
        refuses(rf"a\.{suffix}{message}", load_graph, tmp_path / f"a.{suffix}")


@pytest.mark.parametrize("weight", ["[ a 1 ]", '"heavy"', "1" * 400, "2", '""'])
def test_odd_gml_weights_are_weights(weight: str, tmp_path: Path) -> None:
    edge = f"edge [ source 0 target 1 weight {weight} ]"
    (tmp_path / "a.gml").write_text(f"graph [ node [ id 0 ] node [ id 1 ] {edge} ]")
    data = load_graph(tmp_path / "a.gml")
    assert any(line.startswith("attributes of the edges that are not used: 'weight'") for line in data.report)
    assert data.edge_index.tolist() == [[0, 1], [1, 0]]


def test_attributes_that_make_a_huge_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = networkx.Graph()
    for node in range(1000):
        graph.add_node(node, **{f"k{node}": node})
    networkx.write_graphml(graph, tmp_path / "a.graphml")
    monkeypatch.setenv("MCN_MAX_BYTES", "7000000")
    message = r"a\.graphml: has node attributes that make a table of more than"
    refuses(message, load_graph, tmp_path / "a.graphml", label="k1")


PAIRS = "source,target,weight\n7,3,1\n3,7,1\n3,12,2\n12,7,1\n5,5,1\n"
MATRIX = "%%MatrixMarket matrix coordinate pattern general\n6 6 4\n1 2\n2 1\n3 3\n2 4\n"
GML = "graph [ node [ id 1 ] node [ id 2 ] node [ id 9 ] edge [ source 1 target 2 ] ]"


ARRAYS = {"edge": np.array([[0, 1], [1, 2], [2, 0], [2, 5]]), "n": 8}


@pytest.mark.parametrize("suffix, content", [("csv", PAIRS), ("mtx", MATRIX), ("npz", ARRAYS), ("gml", GML)])
def test_the_edges_and_notes_of_the_whole_graph(suffix: str, content: Any, tmp_path: Path) -> None:
    path = tmp_path / f"edges.{suffix}"
    np.savez(path, **content) if suffix == "npz" else path.write_text(content)
    bare, whole = load_edges(path), load_graph(path)
    assert bare.graph.num_nodes == whole.num_nodes
    np.testing.assert_array_equal(bare.graph.edge_index, whole.edge_index.numpy())
    assert bare.report == [line for line in whole.report if not line.startswith(("features:", "no labels"))]


@pytest.mark.parametrize("name", ["karate", "strong-ties", "cora", "dd6", "texas", "amazon-photo"])
def test_data_sets(name: str, shared: Path) -> None:
    bare, whole = load_dataset_edges(name, shared), load_dataset(name, shared)
    np.testing.assert_array_equal(bare.graph.edge_index, whole.edge_index.numpy())
    assert (bare.graph.num_nodes, bare.report) == (whole.num_nodes, whole.report)


def test_errors_are_those_of_the_whole_graph(tmp_path: Path) -> None:
    bad = tmp_path / "edges.csv"
    bad.write_text("1,2\n3,4.5\n")
    for read in (load_edges, load_graph):
        refuses(r"edges\.csv, line 2: node id '4.5'", read, bad)
        refuses(r"nowhere\.csv: no such file", read, tmp_path / "nowhere.csv", error=FileNotFoundError)


COUNT = """
import sys
from mcn.cli.main import main
edges, packed, data = sys.argv[1:]
sets = (["--dataset", name, "--data-root", data] for name in ("karate", "cora", "dd6", "texas"))
for words in (*sets, ["--graph", edges]):
    assert main(["motifs", "--json", *words]) == 0
assert main(["pack", edges, "--out", packed, "--json"]) == 0
heavy = {"torch", "torch_geometric", "sklearn", "pandas", "networkx", "matplotlib"}
print(sorted(heavy & sys.modules.keys()), file=sys.stderr)
"""


def test_counting_and_packing_load_nothing_heavy(tmp_path: Path, shared: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("0,1\n1,2\n2,0\n2,3\n")
    done = python("-c", COUNT, path, tmp_path / "packed", shared, timeout=120)
    assert done.stderr.splitlines()[-1] == "[]"  # after lines of progress, on a slow machine
    answers = done.stdout.replace("}\n{", "}\n\n{").split("\n\n")
    assert [json.loads(answer)["edges"] for answer in answers] == [78, 5278, 10320, 279, 4, 4]


@pytest.mark.parametrize("mark", [",", "\t", " "])
@pytest.mark.parametrize(
    ("header", "first", "ids", "ends"),
    [
        ("id,who,whom", 1, "56 67 75", (1, 2)),
        ("id,who,whom", 0, "01 12 20", (1, 2)),  # numbers that are ids too: the name decides
        ("key,who,whom", 100, "ab bc ca", (1, 2)),
        ("", 100, "ab bc ca", (1, 2)),
        ("key,who,whom", 0, "12 20 01", (0, 1)),  # nothing decides
        ("one,two,count", 4, "17 18 19", (0, 1)),  # the others have no id in common
        ("id,source,target", 0, "01 12 20", (1, 2)),
    ],
)
def test_a_column_that_numbers_the_rows_is_no_end(
    tmp_path: Path, mark: str, header: str, first: int, ids: str, ends: tuple[int, int]
) -> None:
    rows = [[str(first + at), *pair] for at, pair in enumerate(ids.split())]
    path = tmp_path / "edges.txt"
    titles = [header.split(",")] if header else []
    path.write_text("".join(mark.join(row) + "\n" for row in [*titles, *rows]))
    expected = {frozenset(row[end] for end in ends) for row in rows}
    columns = dict(zip(titles[0], zip(*rows, strict=True), strict=True)) if header else {}
    for edges in [path, *([pandas.DataFrame(columns)] if header else [])]:
        data = mcn.load_graph(edges)
        names = [str(name) for name in data.node_ids.tolist()]
        assert {frozenset((names[u], names[v])) for u, v in data.edge_index.T.tolist()} == expected
        told = "columns 2 and 3" if not header else " and ".join(repr(titles[0][end]) for end in ends)
        (note,) = (line for line in data.report if f"an edge is {told}" in line)
        assert ("source= and target=" in note) == (header != "id,source,target")
    packed = mcn.store.pack_graph(path, out=tmp_path / "packed").to_data()
    assert packed.edge_index.shape[1] == 2 * len(expected)
