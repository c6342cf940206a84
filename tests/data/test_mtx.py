"""Our reader of Matrix Market files beside SciPy's, and the files that SciPy's does not survive."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

import mcn
from mcn.data.mtx import read_mtx

VALUES = {
    "real": [
        "1",
        "0",
        "1.0",
        "2.5",
        "-1",
        "1e0",
        "10e-1",
        ".5",
        "0.0e5",
        "1.00000000000000000000",
        "nan",
    ],
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
        places = [
            (i, j)
            for i, j in itertools.product(range(1, n + 1), repeat=2)
            if symmetry == "general" or i > j or (i == j and symmetry != "skew-symmetric")
        ]
        chosen = rng.permutation(places)[:5].tolist()
        lines = [f"{i} {j} {rng.choice(values)}".strip() for i, j in chosen]
        size = f"{n} {n} {len(chosen)}"
    return "\n".join([f"%%MatrixMarket matrix {form} {field} {symmetry}", "% a comment", size, *lines, ""])


KINDS = [
    (form, field, symmetry)
    for form, field, symmetry in itertools.product(
        ("coordinate", "array"), VALUES, ("general", "symmetric", "skew-symmetric", "hermitian")
    )
    if (form, field) != ("array", "pattern") and (field, symmetry) != ("unsigned-integer", "skew-symmetric")
]


@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
def test_every_kind_equals_scipy(kind: tuple[str, str, str], tmp_path: Path) -> None:
    for seed, change in enumerate([("", ""), ("\n", "\r\n"), (" ", "\t  "), ("\n", "\n\n"), ("\n", "  \n")]):
        text = _file(*kind, np.random.default_rng(seed))
        head, rest = text.split("\n", 1)
        text = head + "\n" + rest.replace(*change) if change[0] else text
        expected = sparse.coo_array(scipy_io.mmread(io.BytesIO(text.encode())))
        (tmp_path / "a.mtx").write_text(text, newline="")
        found = read_mtx(tmp_path / "a.mtx")
        kept = expected.data != 0
        assert found.n == 4
        assert sorted(zip(found.rows[found.nonzero], found.columns[found.nonzero], strict=True)) == sorted(
            zip(expected.coords[0][kept], expected.coords[1][kept], strict=True)
        )
        assert found.weighted == bool((expected.data[kept] != 1).any())
        assert (~found.nonzero).sum() == (~kept).sum()


def test_a_blank_at_the_end_without_a_line_end(tmp_path: Path) -> None:
    """SciPy's reader ends the process on this file."""
    (tmp_path / "a.mtx").write_bytes(b"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3 ")
    data = mcn.load_graph(tmp_path / "a.mtx")
    assert data.node_ids.tolist() == [1, 2, 3]
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]


def test_a_small_file_that_declares_a_huge_matrix(tmp_path: Path) -> None:
    text = "%%MatrixMarket matrix coordinate pattern general\n2147483647 2147483647 1\n1 2\n"
    assert len(text) == 77
    (tmp_path / "a.mtx").write_text(text)
    with pytest.raises(ValueError, match=r"a\.mtx: 2,147,483,647 nodes take more than .* MCN_MAX_BYTES"):
        mcn.load_graph(tmp_path / "a.mtx")


GENERAL = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "line 1 is ''; expected '%%MatrixMarket matrix'"),
        ("%%MatrixMarket matrix coordinate real\n", "line 1 is '%%MatrixMarket matrix coordinate real'"),
        ("%%MatrixMarket matrix coordinate rael general\n", "line 1 has 'rael'; expected one of real"),
        ("%%MatrixMarket matrix array pattern general\n", "a pattern has no values"),
        (GENERAL, "no line with the sizes"),
        (GENERAL + "% c\n2 2\n", "line 3 is '2 2'; expected 3 sizes"),
        (GENERAL + "2 2 -1\n", "line 2 is '2 2 -1'; expected 3 sizes"),
        (GENERAL + "2 2 1\n1 1\n", "line 3 is '1 1'; expected a row, a column and 1 number"),
        (GENERAL + "2 2 1\n1 1 x\n", "line 3 is '1 1 x'"),
        (GENERAL + "2 2 1\n1 1 1 1\n", "line 3 is '1 1 1 1'"),
        (GENERAL + "2 2 1\n1 1 1e\n", "line 3 is '1 1 1e'"),
        (GENERAL + "2 2 1\n\n0 1 1\n", "line 4 is '0 1 1'; expected a row and a column in 1..2"),
        (GENERAL + "2 2 1\n1 99999999999999999999 1\n", "line 3 is .*; expected a row and a column in 1..2"),
        (GENERAL + "2 2 1\n1 1 1\n1 2 1\n", "line 4 is one entry more than the 1 that are declared"),
        (GENERAL + "2 2 3\n1 1 1\n1 2 1\n", "2 entries, but 3 are declared"),
        (GENERAL + "2 2 999999999999999999\n1 1 1\n", "1 entries, but 999,999,999,999,999,999 are declared"),
        ("%%MatrixMarket matrix array integer general\n2 2\n1\n1.5\n", "line 4 is '1.5'; expected 1 number"),
    ],
)
def test_errors_name_the_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.mtx").write_text(text)
    with pytest.raises(ValueError, match=rf"a\.mtx: not a readable Matrix Market file \(.*{message}"):
        mcn.load_graph(tmp_path / "a.mtx")
