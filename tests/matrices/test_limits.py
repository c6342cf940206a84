"""Values that would overflow are refused before anything is built."""

from __future__ import annotations

import numpy as np
import pytest

from mcn.matrices import MotifStack

HEAVY = np.array([[0, 1e15], [1e15, 0]])


@pytest.mark.parametrize("psi", ["row-max", "laplacian"])
def test_what_float32_cannot_hold(psi):
    MotifStack.from_adjacencies({"edge": HEAVY}, steps=2, psi=psi)
    with pytest.raises(
        ValueError, match=rf"psi='{psi}': weights of motif 'edge' at step 3 reach up to 1e\+45"
    ):
        MotifStack.from_adjacencies({"edge": HEAVY}, steps=3, psi=psi)


@pytest.mark.parametrize("psi", ["unweighted", "transition", "symmetric"])
def test_relative_weights_are_fine(psi):
    stack = MotifStack.from_adjacencies({"edge": HEAVY}, steps=4, psi=psi)
    assert np.isfinite(stack.select(np.array([3, 3])).values).all()


def test_what_float64_cannot_hold():
    with pytest.raises(ValueError, match="step 21 reach up to inf"):
        MotifStack.from_adjacencies({"edge": HEAVY}, steps=30, psi="transition", materialize=False)
