"""Turning a CSR pattern round."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mcn.nn._csr import transpose


@given(st.integers(0, 8), st.integers(1, 8), st.integers(0, 1000))
def test_entries_land_in_their_column_in_row_order(rows: int, columns: int, seed: int) -> None:
    dense = np.random.default_rng(seed).random((rows, columns)) < 0.4
    r, c = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(dense.sum(1))]).astype(np.int64)
    turned = transpose(indptr, c.astype(np.int32), columns)
    assert turned.indptr.tolist() == np.concatenate([[0], np.cumsum(dense.sum(0))]).tolist()
    for column in range(columns):
        part = slice(turned.indptr[column], turned.indptr[column + 1])
        assert turned.rows[part].tolist() == np.flatnonzero(dense[:, column]).tolist()
        assert (c[turned.entries[part]] == column).all()
        assert r[turned.entries[part]].tolist() == turned.rows[part].tolist()
