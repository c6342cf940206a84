"""Powers of counts grow fast: refusing those whose values no longer fit."""

from __future__ import annotations

import numpy as np

from mcn.matrices.adjacencies import Adjacencies


def check_magnitude(adj: Adjacencies, psi: str, steps: int) -> None:
    """ValueError where Ψ(A_t^k) would overflow.

    No value exceeds twice the greatest row sum of A_t^k, which k products with a vector give. ``row-max`` and
    ``laplacian`` hand such values on in float32, ``transition`` and ``symmetric`` divide by them in float64.
    """
    if psi == "unweighted":
        return
    most = float(np.finfo(np.float32 if psi in ("row-max", "laplacian") else np.float64).max)
    for t, motif in enumerate(adj.motifs):
        matrix, sums = adj.of(t), np.asarray(np.ones(adj.num_nodes))
        for k in range(1, steps + 1):
            with np.errstate(over="ignore", invalid="ignore"):
                sums = np.asarray(matrix @ sums)
            top = float(sums.max(initial=0.0))
            if not top <= most / 2:
                raise ValueError(
                    f"psi={psi!r}: weights of motif {motif!r} at step {k} reach up to {top:.3g}, more than "
                    f"{most:.3g} allows. Use fewer steps, or psi='transition' or 'unweighted'."
                )
