"""Rows of a truncated personalised PageRank, which say whom a node hears on short random walks, and how much.

A view is such a matrix for one motif. The motif re-weights the neighbours of a node and removes none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array, hstack, vstack

from graphmotifs._arguments import as_array, as_integer, limit_threads
from graphmotifs._jit import kernel
from graphmotifs._messages import told
from graphmotifs._threads import available_threads, run_chunks
from mcn.matrices.adjacencies import adjacency_of, check_edge_weights, check_matrix, check_motifs, weigh_edges
from mcn.matrices.rows import Rows, check_numbers
from mcn.matrices.size import MAX_STEPS

if TYPE_CHECKING:
    from mcn.motifs import MotifCounts


@dataclass(frozen=True, eq=False)
class PageRankRows:
    """The largest entries of every row of ``Π = Σ_n c_n P^n``, for T matrices P.

    indices: int32 [T, N, top], the nodes of each row by falling weight.
    weights: float32 [T, N, top]; 0 where a row has fewer than `top` entries.
    Memory: 8·T·N·top bytes.
    """

    indices: NDArray[np.int32]
    weights: NDArray[np.float32]

    def __post_init__(self) -> None:
        shape: tuple[int, ...] = getattr(self.indices, "shape", ())
        if len(shape) != 3 or getattr(self.weights, "shape", ()) != shape:
            raise ValueError("indices and weights must be arrays of one shape [T, N, top]")
        if self.indices.dtype != np.int32 or self.weights.dtype != np.float32:
            kinds = f"{self.indices.dtype} and {self.weights.dtype}"
            raise ValueError(f"indices and weights hold {kinds}; expected int32 and float32")
        # Seen as unsigned, a negative id is larger than any that is not.
        if self.indices.size and int(self.indices.view(np.uint32).max()) >= shape[1]:
            t, i, q = np.argwhere((self.indices < 0) | (self.indices >= shape[1]))[0]
            raise ValueError(
                f"indices[{t}, {i}, {q}] = {self.indices[t, i, q]} is not a node; ids are 0 … {shape[1] - 1}"
            )
        if not np.isfinite(self.weights.max(initial=0)) or not self.weights.min(initial=0) >= 0:
            raise ValueError("weights must be finite and not negative")

    @property
    def num_views(self) -> int:
        """T, the number of views."""
        return int(self.indices.shape[0])

    @property
    def num_nodes(self) -> int:
        """N, the number of nodes."""
        return int(self.indices.shape[1])

    def matrix(self, t: int) -> csr_array:
        """Return view t as an N × N matrix."""
        n, top = self.indices.shape[1:]
        kept = self.weights[t] > 0
        rows = np.repeat(np.arange(n), top).reshape(n, top)[kept]
        return csr_array((self.weights[t][kept], (rows, self.indices[t][kept])), shape=(n, n))

    def only(self, t: int) -> PageRankRows:
        """Return the rows of view t alone."""
        return PageRankRows(self.indices[t : t + 1], self.weights[t : t + 1])

    @cached_property
    def _stored(self) -> Rows:
        """All T·N rows in one CSR, each made to sum to one."""
        rows = _float32_rows(vstack([self.matrix(t) for t in range(self.num_views)], format="csr"))
        shares = rows.values / np.repeat(rows.sums(), rows.lengths)
        return rows._replace(values=shares.astype(np.float32))

    def select(self, views: NDArray[np.int64]) -> Rows:
        """Return row i of view ``views[i]`` for every node i, each row made to sum to one."""
        views = check_numbers(views, "views", self.num_views)
        if len(views) != self.num_nodes:
            raise ValueError(
                f"views has {len(views)} numbers; expected one for each of {self.num_nodes} nodes"
            )
        numbers = views * self.num_nodes + np.arange(self.num_nodes)
        return self._stored.take(numbers)

    @cached_property
    def mean(self) -> Rows:
        """The mean of all views, after every row of every view was made to sum to one."""
        share = eye_array(self.num_nodes) / self.num_views
        every_view = hstack([share] * self.num_views, format="csr")
        return _float32_rows(csr_array(every_view @ self._stored.matrix(self.num_nodes)))


def _float32_rows(matrix: csr_array) -> Rows:
    matrix.sort_indices()
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    return Rows(indptr, indices, matrix.data.astype(np.float32))


def walk_weights(order: int, alpha: float | None) -> NDArray[np.float64]:
    """Return c_0 … c_order: ``α (1 - α)^n``, the chance to stop after n steps, or equal weights for None."""
    if order < 0:
        raise ValueError(f"order must be 0 or more, got {order!r}")
    if alpha is None:
        return np.full(order + 1, 1.0 / (order + 1))
    if not 0.0 < alpha <= 1.0:
        raise ValueError(f"alpha must be above 0 and at most 1, got {alpha!r}")
    return np.asarray(alpha * (1.0 - alpha) ** np.arange(order + 1), np.float64)


def pagerank_rows(
    matrices: Sequence[Any],
    weights: Sequence[NDArray[np.float64]] | NDArray[np.float64],
    top: int,
    *,
    symmetric: bool = False,
    tolerance: float = 1e-4,
    threads: int | None = None,
) -> PageRankRows:
    """Find the `top` largest entries of every row of ``Σ_n c_n P^n``, for P = ``D^-1 (M + I)``.

    Args:
        matrices: T matrices [N, N] of weights, none negative.
        weights: c_0 … c_order (see `walk_weights`), one array for all matrices or one for each.
        symmetric: divide the weight of node j by the root of its degree, so that hubs are heard less: up to
            the scale of a row, this is the same sum with ``P = D^-1/2 (M + I) D^-1/2``.
        tolerance: walks that can add no more than this to a row are not followed. A row of Π loses less
            than `tolerance` times the number of walks given up; 0 follows all of them.
        threads: cores to use; all by default.
    """
    if as_integer(top, "top") < 1:
        raise ValueError(f"top must be 1 or more, got {top!r}")
    if not tolerance >= 0:
        raise ValueError(f"tolerance must not be negative, got {tolerance!r}")
    given = [weights] * len(matrices) if isinstance(weights, np.ndarray) else list(weights)
    coefficients = [_check_walk_weights(c) for c in given]
    checked = [check_matrix(matrix, "matrix") for matrix in matrices]
    if not checked or len({matrix.shape for matrix in checked}) > 1 or len(given) != len(checked):
        shapes = [matrix.shape for matrix in checked]
        raise ValueError(
            f"matrices of shapes {shapes} with {len(given)} weights; expected at least one matrix, all of "
            "one size, and as many weights"
        )
    n = checked[0].shape[0]
    shape = (len(checked), n, min(top, n))
    indices, values = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
    workers = limit_threads(threads) or available_threads()
    bounds = np.linspace(0, n, max(2, n // 64 + 1)).astype(np.int64)
    for t, (matrix, c) in enumerate(zip(checked, coefficients, strict=True)):
        scale = 1.0 / np.sqrt(1.0 + np.asarray(matrix.sum(1)).ravel()) if symmetric else np.ones(n)
        rest = np.concatenate([np.cumsum(c[::-1])[::-1][1:], [0.0]])
        step = _with_loops(matrix)
        walk = Rows(step.indptr.astype(np.int64), step.indices.astype(np.int32), step.data)
        fixed = (walk, c, rest, scale, float(tolerance), indices[t], values[t])
        run_chunks(partial(_walk_chunk, fixed), bounds, workers)
    return PageRankRows(indices, values)


def _check_walk_weights(given: Any) -> NDArray[np.float64]:
    c = as_array(given, "weights", "[order + 1]")
    if c.ndim != 1 or not len(c) or c.dtype.kind not in "biuf" or not np.isfinite(c).all() or (c < 0).any():
        raise ValueError(f"weights must be c_0 … c_order, finite and not negative, got {told(given)}")
    return np.ascontiguousarray(c, np.float64)


def _with_loops(matrix: csr_array) -> csr_array:
    """Return ``D^-1 (M + I)``, the steps of a random walk along the weights of M that may also stay."""
    looped = csr_array(matrix + eye_array(matrix.shape[0]))
    with np.errstate(over="ignore"):
        sums = np.asarray(looped.sum(1)).ravel()
    if not np.isfinite(sums).all():
        raise ValueError("matrix: the sum of a row is beyond what float64 holds; scale its weights down")
    return csr_array(diags_array(1.0 / sums) @ looped)


@kernel
def _walk_chunk(fixed: Any, _worker: int, start: int, stop: int) -> None:
    """Follow the walks from nodes start … stop − 1; `rest[n]` is what the steps after n can still add."""
    walk, c, rest, scale, tolerance, out_indices, out_weights = fixed
    indptr, columns, values = walk
    n = len(indptr) - 1
    total, now, then = np.zeros(n), np.zeros(n), np.zeros(n)
    seen = np.zeros(n, np.bool_)
    touched, front, beyond = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(start, stop):
        touched[0] = front[0] = i
        seen[i], now[i], total[i] = True, 1.0, c[0]
        num_touched = width = 1
        for step in range(1, len(c)):
            reached = 0
            for q in range(width):
                j = front[q]
                mass, now[j] = now[j], 0.0
                if mass * rest[step - 1] <= tolerance and tolerance > 0.0:
                    continue
                for e in range(indptr[j], indptr[j + 1]):
                    k, more = columns[e], mass * values[e]
                    if more == 0.0:  # too small for a number: it would be listed again and again
                        continue
                    if then[k] == 0.0:
                        beyond[reached] = k
                        reached += 1
                    then[k] += more
            for q in range(reached):
                k = beyond[q]
                if not seen[k]:
                    seen[k] = True
                    touched[num_touched] = k
                    num_touched += 1
                total[k] += c[step] * then[k]
                now[k], then[k] = then[k], 0.0
                front[q] = k
            width = reached
        for q in range(width):
            now[front[q]] = 0.0
        _largest(total, scale, touched, num_touched, out_indices[i], out_weights[i])
        for q in range(num_touched):
            total[touched[q]] = 0.0
            seen[touched[q]] = False


@kernel
def _largest(total: Any, scale: Any, touched: Any, count: int, out_indices: Any, out_weights: Any) -> None:
    """Write the largest (total * scale)[touched] by falling weight, of equal ones the smaller node first."""
    size, room = 0, len(out_indices)
    for q in range(count):
        k = touched[q]
        w = np.float32(total[k] * scale[k])
        if w <= 0.0:
            continue
        if size == room:
            last = out_weights[size - 1]
            if w < last or (w == last and k > out_indices[size - 1]):
                continue
            size -= 1
        at = size
        while at > 0 and (out_weights[at - 1] < w or (out_weights[at - 1] == w and out_indices[at - 1] > k)):
            out_weights[at], out_indices[at] = out_weights[at - 1], out_indices[at - 1]
            at -= 1
        out_weights[at], out_indices[at] = w, k
        size += 1


def view_rows(
    counts: MotifCounts,
    names: Sequence[str],
    *,
    order: int,
    alpha: float | None,
    top: int,
    scope: str = "edges",
    symmetric: bool = False,
    tolerance: float = 1e-4,
    edge_weights: Any = None,
) -> PageRankRows:
    """Compute the PageRank rows (see `pagerank_rows`) of one matrix per name.

    Args:
        names: "edge" for A; a motif for A + A_t with its raw counts. Three kinds of views without motifs are
            there to compare with: "alpha=0.1" and "order=3" are A with another α or longest walk,
            "random=7" is A plus random weights (the number is their seed).
        order, alpha, top: the longest walk, the chance to stop after each step (None: all lengths alike), and
            the entries kept per row.
        scope: of the motif counts, see `mcn.MotifCounts.adjacency`.
        symmetric, tolerance: see `pagerank_rows`.
        edge_weights: W, by which the entries of every matrix are multiplied; see `MotifStack.from_counts`.
    """
    held = None if edge_weights is None else check_edge_weights(edge_weights, counts, scope)
    edge = adjacency_of(counts, "edge")
    matrices, weights = [], []
    for name in check_motifs(names):
        kind, _, value = name.partition("=")
        matrix, longest, stop = edge, order, alpha
        if kind == "order":
            longest = _whole(name, value, MAX_STEPS)
        elif kind == "alpha":
            stop = _number(name, value)
        elif kind == "random":
            matrix = csr_array(edge + _random_weights(counts, _whole(name, value, 2**63 - 1)))
        elif kind != "edge":
            matrix = csr_array(edge + adjacency_of(counts, kind, scope))
        matrices.append(matrix if held is None else weigh_edges(matrix, held))
        weights.append(walk_weights(longest, stop))
    return pagerank_rows(matrices, weights, top, symmetric=symmetric, tolerance=tolerance)


def _random_weights(counts: MotifCounts, seed: int) -> csr_array:
    """Draw symmetric weights with mean 1 on the edges, exponentially distributed."""
    n, weight = counts.num_nodes, np.random.default_rng(seed).exponential(size=counts.num_edges)
    upper = csr_array((weight, counts.pairs.T), shape=(n, n))
    return csr_array(upper + upper.T)


def _whole(name: str, value: str, most: int) -> int:
    number = _number(name, value)
    if not 0 <= number <= most or number != int(number):
        raise ValueError(f"view {name!r}: expected a whole number from 0 to {most}, got {value!r}")
    return int(number)


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"view {name!r}: expected a number after '=', got {value!r}") from None
