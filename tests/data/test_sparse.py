from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from mcn.data import feature_csr, feature_tensor


@given(
    hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.sampled_from([0, 1, -2.5]))
)
def test_values_survive_in_both_layouts(array: np.ndarray) -> None:
    matrix = sparse.csr_array(array)
    tensor = feature_tensor(matrix)
    assert tensor.layout == torch.sparse_csr
    assert tensor.dtype == torch.float32
    assert torch.equal(tensor.to_dense(), torch.from_numpy(array))
    assert torch.equal(feature_tensor(matrix, dense=True), torch.from_numpy(array))
    np.testing.assert_array_equal(feature_csr(tensor).toarray(), array)
    np.testing.assert_array_equal(feature_csr(torch.from_numpy(array)).toarray(), array)


def test_columns_are_sorted_and_repeats_summed() -> None:
    matrix = sparse.csr_array((np.ones(3), [2, 0, 2], [0, 3]), shape=(1, 3))
    tensor = feature_tensor(matrix)
    assert tensor.col_indices().tolist() == [0, 2]
    assert tensor.values().tolist() == [1.0, 2.0]
