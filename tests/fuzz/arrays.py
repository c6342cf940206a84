"""The functions of arrays as targets: an input's bytes decide shape, type, layout and numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch_geometric.data import Data

import mcn
from graphmotifs._sparse import check_csr
from graphmotifs.passes import Enumerated
from mcn.data import SimpleGraph, check_data, degree_features, random_split, simple_graph
from mcn.data.sparse import feature_csr, feature_tensor
from mcn.matrices import PSI_NAMES, PageRankRows, apply_psi
from mcn.matrices.pagerank import pagerank_rows, walk_weights
from mcn.nn import mix_features
from tests.fuzz import mutate
from tests.fuzz.target import Target, register

NUMBERS = [
    *(0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, -1, 8, 100),
    *(2**31 - 1, 2**31, 2**32 + 1, 2**62, 2**63 - 1, -(2**63)),
]
SCALARS: list[Any] = [
    *(None, 0, 1, 4, 8, 8, 8, 3.0, -1, 2.5, float("inf"), float("nan"), True, "3", [8], 10**5),
    *(2**31, 2**31 + 1, 2**70, 1j, np.int8(8), np.float64(8), np.bool_(True), np.array(8), np.array([8])),
    *(object(), b"8", {}, torch.tensor(8)),
]
KINDS = [
    *("<i8", "<i8", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "|u1", ">i8", "<f8", "<f4", "<f2"),
    *("|b1", "<c16", "<U2", "|O", "<M8[s]", "|V4"),
]
TORCH = [
    *(torch.int64, torch.int64, torch.int32, torch.int16, torch.uint8, torch.bool, torch.float32),
    *(torch.bfloat16, torch.float16, torch.complex64, torch.float64),
]


class Choices:
    """Choices read from bytes, one after another; zeros when there are none left."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def upto(self, most: int) -> int:
        """A number in 0..most, most < 256."""
        value = self._content[self._at] if self._at < len(self._content) else 0
        self._at += 1
        return value % (most + 1)

    def of(self, options: Any) -> Any:
        return options[self.upto(len(options) - 1)]

    def wild(self) -> bool:
        """Rarely: leave what is usual."""
        return self.upto(7) == 7

    def number(self) -> int:
        return int(self.of(NUMBERS)) if self.wild() else self.upto(7)


def array(c: Choices, shape: tuple[int, ...]) -> Any:
    """An array of about this shape: usually int64, sometimes of another type, layout or library."""
    if c.wild():
        shape = c.of(((), (0,), (3,), (2, 0), (0, 2), (4, 2), (2, 3, 1), (1, 5), (2, 1)))
    numbers = [c.number() for _ in range(int(np.prod(shape)))]
    if c.wild():
        return numbers if len(shape) == 1 else [numbers, numbers[1:]]
    usual = np.array(numbers, np.int64).reshape(shape)
    if c.wild():
        return _typed(usual, c.of(KINDS), c)
    return usual if c.upto(1) else _tensor(usual, c)


def _typed(usual: Any, kind: str, c: Choices) -> Any:
    with np.errstate(all="ignore"):
        made: Any = np.zeros(usual.shape, kind) if kind == "|V4" else usual.astype(kind)
    layout = c.upto(4)
    if layout == 1:
        made = np.asfortranarray(made)
    elif layout == 2 and made.ndim:
        made = np.repeat(made, 2, axis=-1)[..., ::2]
    elif layout == 3:
        made = made.copy()
        made.flags.writeable = False
    return made


def _tensor(usual: Any, c: Choices) -> Any:
    tensor = torch.from_numpy(usual.copy())
    if c.wild():
        tensor = tensor.to(c.of(TORCH))
    if not c.wild():
        return tensor
    form = c.upto(3)
    if form == 2:
        return tensor.to("meta")
    if tensor.dim() != 2:
        return tensor
    if form == 0:
        return tensor.to_sparse()
    return tensor.to_sparse_csr() if form == 1 else sparse.coo_array(usual)


def csr_parts(c: Choices) -> tuple[Any, Any, tuple[int, int]]:
    """A CSR structure that is right, or wrong in a few numbers."""
    rows, columns = c.upto(5), c.upto(5)
    counts = [c.upto(3) if columns else 0 for _ in range(rows)]
    indptr: Any = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    indices: Any = np.array([c.upto(max(columns - 1, 0)) for _ in range(int(indptr[-1]))], np.int64)
    for _ in range(c.upto(2)):
        part = c.of((indptr, indices))
        if len(part):
            part[c.upto(len(part) - 1)] = c.of(NUMBERS)
    if c.wild():
        indptr, indices = array(c, indptr.shape), array(c, indices.shape)
    if c.wild():
        rows, columns = c.of((rows + 1, 0, 10**6)), c.of((columns + 1, 0, -1))
    return indptr, indices, (rows, columns)


def csr_tensor(c: Choices, rows: int | None = None) -> Any:
    """A CSR tensor that nobody has looked at."""
    indptr, indices, shape = csr_parts(c)
    size = shape if rows is None else (rows, shape[1])
    try:
        parts = torch.as_tensor(indptr), torch.as_tensor(indices), torch.ones(len(indices))
        return torch.sparse_csr_tensor(*parts, size=size, check_invariants=False)
    except (RuntimeError, TypeError, ValueError):  # torch itself refuses
        return torch.ones(3, 2)


def _simple_graph(c: Choices) -> None:
    graph = simple_graph(array(c, (2, c.upto(9))), c.of(SCALARS) if c.wild() else None)
    assert graph.edge_index.shape == (2, 2 * graph.num_edges)
    assert (graph.pairs[:, 0] < graph.pairs[:, 1]).all()


def _count_motifs(c: Choices) -> None:
    edges = array(c, (2, c.upto(12)))
    nodes = c.of(SCALARS) if c.wild() else None
    threads = c.of(SCALARS) if c.wild() else None
    if c.upto(2) == 2:
        directed = mcn.count_motifs(edges, nodes, directed=True, threads=threads)
        assert (directed.per_arc >= 0).all(), "a negative count per arc"
        assert (directed.per_node >= 0).all(), "a negative count per node"
        mcn.MotifStack.from_counts(directed, ["in", "out", "M5:both"], 1 + c.upto(2), threads=threads)
        mcn.motif_significance(edges, nodes, directed=bool(c.upto(1)), samples=2, threads=threads)
        return
    counts = mcn.count_motifs(edges, nodes, induced=bool(c.upto(1)), threads=threads)
    per_edge, per_node = counts.per_edge, counts.per_node
    assert (per_edge >= 0).all(), "a negative count per edge"
    assert (per_node >= 0).all(), "a negative count per node"
    assert per_node[:, 0].sum() == 2 * counts.num_edges, "degrees and edges differ"
    assert per_node[:, 3].sum() == per_edge[:, 2].sum(), "triangles per node and per edge differ"
    assert 3 * per_node[:, 14].sum() == 2 * per_edge[:, 12].sum(), "4-cliques per node and edge differ"


def _made_by_hand(c: Choices) -> None:
    indptr, indices, shape = csr_parts(c)
    if hasattr(indices, "detach") or isinstance(indices, list) or hasattr(indices, "tocoo"):
        indices = np.zeros(2, np.uint32)
    kind = c.of((np.uint32, np.uint32, np.int64))
    if indices.dtype.kind in "iu":
        indices = indices.astype(kind)
    graph = SimpleGraph(shape[0], indptr, indices)
    m = graph.num_edges
    odd = (np.zeros(m, np.uint64), np.zeros(m + 1, np.uint32), np.zeros(m), np.zeros((m, 1), np.uint32))
    parts = [c.of(odd) if c.wild() else np.zeros(m, np.uint32) for _ in range(5)]
    counts = mcn.MotifCounts(graph, Enumerated(*parts))
    assert counts.per_edge.shape == (m, 13)
    assert counts.per_node.shape == (shape[0], 15)
    assert counts.pairs.shape == (m, 2)


def _check_csr(c: Choices) -> None:
    indptr, indices, shape = csr_parts(c)
    check_csr(indptr, indices, shape)
    starts, columns = np.asarray(indptr), np.asarray(indices)
    if len(columns):
        assert columns.min() >= 0, "a negative column"
        assert columns.max() < shape[1], "a column out of range"
    assert (starts >= 0).all(), "a negative start"
    assert (starts <= len(columns)).all(), "a start out of range"


def _features(c: Choices) -> None:
    if c.upto(1):
        x = csr_tensor(c)
        assert feature_tensor(feature_csr(x)).shape == x.shape
        return
    indptr, indices, shape = csr_parts(c)
    matrix: Any = sparse.csr_array(shape if min(shape) >= 0 else (1, 1))
    if all(isinstance(part, np.ndarray) and part.ndim == 1 for part in (indptr, indices)):
        matrix.indptr, matrix.indices, matrix.data = indptr, indices, np.ones(len(indices))
    assert feature_tensor(matrix, dense=bool(c.upto(1))).shape == matrix.shape


def _usual_data(n: int) -> Data:
    """A graph of a few nodes that can be trained on."""
    data = Data(num_nodes=n, x=torch.ones(n, 3), edge_index=torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]]))
    data.y = torch.arange(n) % 2
    for place, name in enumerate(("train_mask", "val_mask", "test_mask")):
        data[name] = (torch.arange(n) // 2) % 3 == place
    return data


def _check_data(c: Choices) -> None:
    n = 8
    data = _usual_data(n)
    data.edge_index = array(c, (2, c.upto(9)))
    x = c.upto(3)
    data.x = data.x if x < 2 else csr_tensor(c, n) if x == 2 else array(c, (n, 3))
    data.y = array(c, (n,)) if c.upto(3) == 3 else data.y
    for name in ("train_mask", "val_mask", "test_mask"):
        data[name] = array(c, (n,)) if c.wild() else data[name]
    if c.wild():
        data.num_nodes = c.of(SCALARS)
    check_data(data)


def _add_motifs(c: Choices) -> None:
    edges = array(c, (2, c.upto(9)))
    data = Data(edge_index=edges, num_nodes=c.of(SCALARS) if c.wild() else 8)
    motifs = ["triangle", c.of(("edge", "4-path", "square", "", None))] if c.wild() else ["triangle"]
    out = mcn.AddMotifs(motifs, threads=c.of(SCALARS) if c.wild() else None)(data)
    assert out.motif_edge.shape[1] == len(motifs)


def _random_split(c: Choices) -> None:
    masks = random_split(array(c, (c.upto(20),)), train_per_class=c.upto(3), seed=c.upto(9))
    together = sum(mask.int() for mask in masks)
    assert int(together.max() if len(together) else 0) <= 1, "a node in two parts"


def _degree_features(c: Choices) -> None:
    graph = simple_graph(array(c, (2, c.upto(9))), 200)
    assert degree_features(graph).shape == (graph.num_nodes, 32)


def _matrix(c: Choices) -> Any:
    """A square matrix of weights: dense, a CSR tensor, or SciPy's with parts that nobody has looked at."""
    kind = c.upto(3)
    if kind == 0:
        n = c.upto(5)
        made = array(c, (n, n))
        scale = c.of((1e308, 1e-320, 1.0, float("nan")))
        with np.errstate(over="ignore", invalid="ignore"):
            return scale * made if c.wild() and _is_real(made) else made
    if kind == 1:
        return csr_tensor(c)
    return scipy_matrix(c)


def scipy_matrix(c: Choices) -> Any:
    """A square matrix of SciPy whose parts nobody has looked at."""
    indptr, indices, shape = csr_parts(c)
    form = c.of(("csr", "csc", "coo", "bsr", "dia", "lil"))
    n = max(1, min(int(shape[0]), 50) if shape[0] > 0 else 1)
    matrix: Any = sparse.csr_array((n, n)).asformat(form)
    if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in (indptr, indices)):
        return matrix
    values: Any = np.ones(len(indices), c.of((np.float64, np.float64, np.complex128, np.int8, np.bool_)))
    if form == "coo":
        rows = np.resize(indptr, len(indices)) if len(indptr) else np.zeros(len(indices), np.int64)
        matrix.coords, matrix.data = (rows, indices), values
    elif form == "dia":
        matrix.offsets, matrix.data = indices, np.ones((c.upto(5), c.upto(5)))
    elif form == "lil":
        matrix.rows[0], matrix.data[0] = indices.tolist(), [1.0] * c.upto(5)
    else:
        side = c.of((1, 2, 3)) if form == "bsr" else 1
        blocks = np.repeat(values, side * side).reshape(-1, side, side) if form == "bsr" else values
        matrix.indptr, matrix.indices, matrix.data = indptr, indices, blocks
    return matrix


def _is_real(made: Any) -> bool:
    return isinstance(made, np.ndarray) and made.dtype.kind in "iuf"


def _apply_psi(c: Choices) -> None:
    psi = c.of(PSI_NAMES)
    found = apply_psi(_matrix(c), psi)
    assert np.isfinite(found.data).all(), "a weight that is not finite"
    assert (np.diff(found.indptr) > 0).all(), "an empty row"
    if psi == "transition":
        assert np.allclose(found.sum(1), 1), "a row that does not sum to 1"


def _motif_stack(c: Choices) -> None:
    named = {"edge": _matrix(c)} | ({"other": _matrix(c)} if c.wild() else {})
    stack = mcn.MotifStack.from_adjacencies(
        named,
        steps=c.of(SCALARS) if c.wild() else 1 + c.upto(2),
        psi=c.of(PSI_NAMES),
        materialize=bool(c.upto(1)),
        threads=c.of(SCALARS) if c.wild() else None,
    )
    rows = stack.select(array(c, (stack.num_nodes,)) if c.upto(1) else None)
    assert np.isfinite(rows.values).all(), "a weight that is not finite"
    assert len(rows.indices) == rows.indptr[-1]


_SMALL = np.ones((3, 3)) - np.eye(3)


def _conv(c: Choices) -> None:
    stack = mcn.MotifStack.from_adjacencies({"edge": _SMALL, "two": _SMALL}, steps=1 + c.upto(1))
    conv = mcn.MCNConv(2, 2, 2, stack.steps, self_attention=bool(c.upto(1))).eval()
    kind = c.upto(2)
    x = csr_tensor(c, 3) if kind == 0 else array(c, (3, 2)) if kind == 1 else torch.ones(3, 2)
    choice = array(c, (3,)) if c.wild() else c.of(SCALARS) if c.wild() else None
    with torch.no_grad():
        out = conv(x, stack, choice=choice)
    assert out.shape == (3, 2)


def _views(c: Choices) -> None:
    if c.upto(1):
        weights, top, tolerance = walk_weights(c.upto(4), None), 1 + c.upto(3), c.upto(1) / 10
        rows = pagerank_rows([_matrix(c)], weights, top, tolerance=tolerance)
        assert np.isfinite(rows.weights).all(), "a weight that is not finite"
        return
    indices, ones = array(c, (2, 3, 2)), np.ones((2, 3, 2), np.float32)
    with np.errstate(invalid="ignore"):
        indices = indices.astype(np.int32) if _is_real(indices) else indices
    rows = PageRankRows(indices, ones)
    out = mix_features(rows, csr_tensor(c, 3), array(c, (c.upto(4),)), array(c, (c.upto(4),)))
    assert torch.isfinite(out).all()


def _classifier(c: Choices) -> None:
    n = 8
    data = _usual_data(n)
    odd = c.upto(4)
    if odd < 2:
        data.x = csr_tensor(c, n) if odd == 0 else array(c, (n, 3))
    elif odd == 2:
        data.edge_index = array(c, (2, c.upto(9)))
    elif odd == 3:
        data.y = array(c, (n,))
    settings: dict[str, Any] = {"max_epochs": 1, "hidden": 1, "heads": 1}
    if not (c.wild() and c.wild()):  # the default rule tries many settings, which takes most of the time
        settings["attention"] = "gated"
    if c.wild():
        settings[c.of(("steps", "lr", "dropout", "hidden", "motifs", "random_state"))] = c.of(SCALARS)
    fitted = mcn.MCNClassifier(**settings).fit(data)
    assert fitted.predict_proba(data).shape[0] == n


def _seeds() -> list[bytes]:
    return [bytes(20), bytes(range(64)), bytes([5] * 64), bytes([9, 0, 1, 2, 3, 1, 0] * 12)]


def register_choices(targets: dict[str, Callable[[Choices], None]]) -> None:
    """Add targets that make their arrays by choices."""
    for name, run in targets.items():

        def choose(content: bytes, folder: Path, run: Callable[[Choices], None] = run) -> None:
            run(Choices(content))

        register(Target(name, _seeds, mutate.raw_bytes, choose))


register_choices(
    {
        "simple_graph": _simple_graph, "count_motifs": _count_motifs, "MotifCounts": _made_by_hand,
        "check_csr": _check_csr, "feature-tensors": _features, "check_data": _check_data,
        "AddMotifs": _add_motifs, "random_split": _random_split, "degree_features": _degree_features,
        "apply_psi": _apply_psi, "MotifStack": _motif_stack, "MCNConv": _conv, "views": _views,
        "MCNClassifier": _classifier,
    }
)  # fmt: skip
