"""The motif adjacencies A_t of a stack: they are checked and laid below each other in one CSR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from mcn._names import spell_option
from mcn.data.sparse import checked_csr
from mcn.matrices.rows import Rows, below_each_other
from mcn.motifs import DirectedCounts
from mcn.motifs.neighbourhoods import directed_neighbourhood

if TYPE_CHECKING:
    from mcn.motifs import MotifCounts

    AnyCounts = MotifCounts | DirectedCounts


class Adjacencies(NamedTuple):
    """T matrices of N × N in one CSR: row i of A_t is row t·N + i, columns ascending, all values > 0.

    Indices are unsigned (uint32): numba need not wrap them around; values are float64. `symmetric` says that
    every A_t is; those of directed motifs need not be.
    """

    motifs: tuple[str, ...]
    num_nodes: int
    rows: Rows
    symmetric: bool = True

    def of(self, t: int) -> Rows:
        """A_t alone, as rows that share their entries with the stack."""
        return self.rows.part(t * self.num_nodes, (t + 1) * self.num_nodes)

    def matrix(self, t: int) -> csr_array:
        """A_t as a SciPy matrix."""
        indptr, indices, values = self.of(t)
        return Rows(indptr, indices.view(np.int32), values).matrix(self.num_nodes)


def check_matrix(matrix: Any, name: str) -> csr_array:
    """Check that `matrix` is square, finite and not negative; return it as float64 CSR without zeros."""
    csr: Any = checked_csr(matrix, name)
    if csr.shape[0] != csr.shape[1]:
        raise ValueError(f"{name} has shape {tuple(csr.shape)}; expected a square matrix [N, N].")
    result: csr_array = csr_array(csr, dtype=np.float64, copy=True)
    result.sum_duplicates()
    bad = np.flatnonzero(~(np.isfinite(result.data) & (result.data >= 0)))
    if bad.size:
        row = int(np.searchsorted(result.indptr, bad[0], side="right")) - 1
        raise ValueError(
            f"{name} has the value {result.data[bad[0]]} at ({row}, {result.indices[bad[0]]}); "
            "motif weights must be finite and not negative."
        )
    result.eliminate_zeros()
    return result


def adjacency_of(counts: AnyCounts, motif: str, scope: str = "edges") -> csr_array:
    """Return A_t of a motif as float64 CSR without zeros; counts are ours and are not checked again.

    Raises:
        ValueError: the motif is directed (see `directed_neighbourhood`), and the counts are not.
    """
    directed, found = directed_neighbourhood(motif), undirected(counts)
    if directed is None:
        matrix: csr_array = found.adjacency(motif, scope=scope).astype(np.float64)
    elif isinstance(counts, DirectedCounts):
        name, direction = directed
        matrix = counts.adjacency(name, direction=direction, scope=scope).astype(np.float64)
    else:
        raise without_direction(motif)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def without_direction(motif: str) -> ValueError:
    """Make the error for a directed motif of a graph whose directions are not used."""
    return ValueError(
        f"motif {motif!r} needs direction: read the graph with {spell_option('directed', True)}, or set "
        "data.directed = True where the columns of data.edge_index are arcs"
    )


def undirected(counts: AnyCounts) -> MotifCounts:
    """Return the counts of a graph without its directions."""
    return counts.undirected if isinstance(counts, DirectedCounts) else counts


def check_symmetric(matrix: csr_array, name: str) -> csr_array:
    """Check that `matrix` equals its transpose, and return it.

    Its pattern must be symmetric exactly, because row lengths are counted on it; values may be rounded.
    """
    other = csr_array(matrix.T)
    other.sort_indices()
    same = np.array_equal(matrix.indptr, other.indptr) and np.array_equal(matrix.indices, other.indices)
    if same and np.allclose(matrix.data, other.data, rtol=1e-9, atol=0.0):
        return matrix
    gap = abs(matrix - other).tocoo()
    worst = int(gap.data.argmax())
    i, j = int(gap.row[worst]), int(gap.col[worst])
    raise ValueError(
        f"{name} is not symmetric: entry ({i}, {j}) is {matrix[i, j]} but ({j}, {i}) is {matrix[j, i]}. "
        "Motif adjacencies are undirected; pass for example A + A.T."
    )


SELF = "self"


def lay_below(matrices: Mapping[str, csr_array]) -> Adjacencies:
    """Lay checked matrices below each other; all must have the same size."""
    n = next(iter(matrices.values())).shape[0]
    for name, matrix in matrices.items():
        if matrix.shape[0] != n:
            raise ValueError(
                f"adjacency {name!r} has {matrix.shape[0]} nodes but the first has {n}; all must be alike."
            )
    rows = below_each_other([Rows(m.indptr, m.indices, m.data) for m in matrices.values()])
    return Adjacencies(tuple(matrices), n, rows._replace(indices=rows.indices.astype(np.uint32)))


def adjacencies_from_counts(
    counts: AnyCounts,
    motifs: Sequence[str],
    scope: str = "edges",
    add_edges: bool = False,
    weights: csr_array | None = None,
    binary: bool = False,
) -> Adjacencies:
    """Take A_t of every motif from its counts; with `add_edges`, A + A_t for every motif but the edge.

    The name "self" stands for no neighbours at all: every row is empty, and so becomes a self-loop. With
    `weights` (see `check_edge_weights`), every entry is multiplied by the weight of its edge, after it was
    set to 1 if `binary`.
    """
    names = check_motifs(motifs)
    edge = adjacency_of(counts, "edge") if add_edges else None
    matrices = {}
    for name in names:
        if name == SELF:
            matrices[name] = csr_array((counts.num_nodes, counts.num_nodes), dtype=np.float64)
            continue
        matrix = adjacency_of(counts, name, scope)
        matrix = csr_array(matrix + edge) if edge is not None and name != "edge" else matrix
        matrices[name] = matrix if weights is None else weigh_edges(matrix, weights, binary)
    return lay_below(matrices)._replace(symmetric=not any(map(directed_neighbourhood, names)))


def check_edge_weights(weights: Any, counts: MotifCounts, scope: str) -> csr_array:
    """Check edge weights: a symmetric matrix with a positive entry for every edge, and no others."""
    if scope == "pairs":
        raise ValueError(
            'scope="pairs" joins nodes without an edge, for which there is no edge weight; use '
            'scope="edges", or leave out the weights'
        )
    matrix = check_symmetric(check_matrix(weights, "edge weights"), "edge weights")
    edge = adjacency_of(counts, "edge")
    if not (np.array_equal(matrix.indptr, edge.indptr) and np.array_equal(matrix.indices, edge.indices)):
        raise ValueError(
            f"edge weights: {matrix.nnz // 2} edges have one, the graph has {edge.nnz // 2}; expected a "
            "positive weight for every edge and for nothing else"
        )
    return matrix


def weigh_edges(matrix: csr_array, weights: csr_array, binary: bool = False) -> csr_array:
    """Multiply entry (u, v) by the weight of the edge (u, v), after it was set to 1 if `binary`."""
    if binary:
        ones = np.ones(len(matrix.data))
        matrix = csr_array((ones, matrix.indices, matrix.indptr), shape=matrix.shape)
    weighted = csr_array(matrix.multiply(weights))
    weighted.sort_indices()
    return weighted


def adjacencies_from_mapping(matrices: Mapping[str, Any]) -> Adjacencies:
    """Check matrices that the caller made and lay them below each other."""
    checked = {}
    for name in check_motifs(tuple(matrices)):
        what = f"adjacency {name!r}"
        checked[name] = check_symmetric(check_matrix(matrices[name], what), what)
    return lay_below(checked)


def check_magnitude(adj: Adjacencies, psi: str, steps: int, *, single: bool = True) -> None:
    """Refuse powers whose values would overflow: a ValueError names the motif and the step.

    No value of Ψ(A_t^k) exceeds twice the greatest row sum of A_t^k, which k products with a vector give.
    ``row-max`` and ``laplacian`` hand such values on in float32 if `single`, ``transition`` and ``symmetric``
    divide by them in float64.
    """
    if psi == "unweighted":
        return
    kind = np.float32 if single and psi in ("row-max", "laplacian") else np.float64
    most = float(np.finfo(kind).max)
    for t, motif in enumerate(adj.motifs):
        matrix, sums = adj.matrix(t), np.ones(adj.num_nodes)
        for k in range(1, steps + 1):
            with np.errstate(over="ignore", invalid="ignore"):
                sums = np.asarray(matrix @ sums)
            top = float(sums.max(initial=0.0))
            if not top <= most / 2:
                better = "smaller weights" if k == 1 else "fewer steps"
                other = "'unweighted'" if kind is np.float64 else "'transition' or 'unweighted'"
                raise ValueError(
                    f"psi={psi!r}: weights of motif {motif!r} at step {k} reach up to {top:.3g}, more than "
                    f"the {most / 2:.3g} allowed. Use {better}, or psi={other}."
                )


def check_motifs(motifs: Sequence[str]) -> tuple[str, ...]:
    """Check that `motifs` holds at least one name and none twice; return them as a tuple."""
    if isinstance(motifs, str):
        raise ValueError(
            f"motifs={motifs!r} is one string; expected a sequence of names such as ({motifs!r},)."
        )
    names = tuple(motifs)
    if not names:
        raise ValueError("motifs is empty; expected at least one motif name such as 'edge'.")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"motifs={names} names {name!r} more than once; name each motif once.")
    return names
