"""The whole network."""

import copy
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.nn import GATConv, GCNConv

from mcn.nn import MCN, MCNConv, ops
from mcn.nn.features import SparseFeatures
from mcn.nn.model import ReceptiveFields, node_ids
from tests.conftest import refuses
from tests.nn.graphs import assert_same_bits, edge_index, grads, random_features, random_stack

ROWS = np.array([17, 3, 44, 59])
EVERYTHING: dict[str, Any] = {"self_weights": True, "norm": "layer", "residual": True, "num_layers": 3}


def _model(**options: Any) -> MCN:
    torch.manual_seed(0)
    return MCN(9, 4, 3, **({"heads": 2} | options))


def test_architecture() -> None:
    model = _model(num_layers=3, motifs=2, output_heads=5)
    shapes = [tuple(conv.weight.shape) for conv in model.convs]  # type: ignore[union-attr,arg-type]
    assert shapes == [(9, 8), (8, 8), (8, 15)]
    assert [conv.concat for conv in model.convs] == [True, True, False]
    for conv in model.convs:
        assert conv.dropout == conv.feature_dropout == conv.input_dropout == 0.6
    first = _model(coefficient_dropout=0.1, input_dropout=0.0).convs[0]
    assert (first.dropout, first.feature_dropout, first.input_dropout) == (0.1, 0.6, 0.0)
    assert [conv.epsilon for conv in _model(epsilon=0.3).convs] == [0.3, 0.3]
    before = model.convs[0].weight.clone()  # type: ignore[operator]
    model.reset_parameters()
    assert not torch.equal(before, model.convs[0].weight)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [
    {"motifs": 2, "steps": 2},
    {"motifs": 2, "num_layers": 3, "prior": "product"},
    {"motifs": 1},
    {"motifs": 2, "motif_attention": False},
    {"motifs": 1, "self_attention": False},
    {"motifs": 2, "motif_attention": False, "self_attention": False},
    {"motifs": 2, "self_attention": False},
    {"num_layers": 1},
    EVERYTHING,
    {"self_attention": False, **EVERYTHING},
    {"motifs": 2, **EVERYTHING},
])  # fmt: skip
@pytest.mark.parametrize("sparse", [True, False])
def test_rows_equal_the_whole(options: dict[str, Any], sparse: bool) -> None:
    motifs, steps = options.get("motifs", 1), options.get("steps", 1)
    stack = random_stack(n=60, motifs=motifs, steps=steps, psi="transition")
    x: Any = random_features(60, 9, 0) if sparse else torch.randn(60, 9)
    model = _model(**options).eval()
    whole, all_choices = model(x, stack, return_choices=True)
    part, choices = model(x, stack, ROWS, return_choices=True)
    assert torch.allclose(part, whole[ROWS], atol=1e-5)
    assert torch.allclose(model(x, stack, torch.from_numpy(ROWS)), whole[ROWS], atol=1e-5)
    assert len(choices) == model.num_layers
    for name in ("motif", "step"):
        assert torch.equal(getattr(choices[-1], name), getattr(all_choices[-1], name)[ROWS])
    for lower, upper in pairwise(choices):
        # The sources of a layer are the targets of the one below: what the rewards travel along.
        assert upper.rows.indices.max() < len(lower.motif)


@pytest.mark.parametrize("self_attention", [True, False])
def test_pinned_choices_on_rows(self_attention: bool) -> None:
    stack, x = random_stack(n=60, motifs=3, steps=2), torch.randn(60, 9)
    model = _model(motifs=3, steps=2, self_attention=self_attention).eval()
    for choice in (0, 3, [4, 1]):
        whole = model(x, stack, choice=choice)
        assert torch.allclose(model(x, stack, ROWS, choice=choice), whole[ROWS], atol=1e-5)
        part, choices = model(x, stack, ROWS, choice=choice, return_choices=True)
        assert torch.allclose(part, whole[ROWS], atol=1e-5)
        assert choices[0].motif_log_probs.requires_grad
    mixed = model(x, stack, ROWS, choice=[None, 2])
    assert torch.allclose(mixed, model(x, stack, choice=[None, 2])[ROWS], atol=1e-5)
    arrays = [np.full(60, 2), np.arange(60) % 6]
    assert torch.isfinite(model(x, stack, choice=arrays)).all()


@pytest.mark.parametrize("self_attention", [True, False])
def test_every_layer_returns_its_coefficients(self_attention: bool) -> None:
    stack, x = random_stack(n=60, motifs=2, steps=2), torch.randn(60, 9)
    model = _model(motifs=2, steps=2, self_attention=self_attention).eval()
    scores, choices = model(x, stack, return_coefficients=True)
    assert torch.equal(scores, model(x, stack))
    hidden, first = model.convs[0](x, stack, return_coefficients=True)
    _, second = model.convs[1](torch.nn.functional.elu(hidden), stack, return_coefficients=True)
    for layer, alone in zip(choices, (first, second), strict=True):
        assert torch.equal(layer.coefficients, alone.coefficients)
    assert [layer.coefficients.shape[1] for layer in choices] == [2, 1]
    _, part = model(x, stack, ROWS, return_coefficients=True)
    expected = choices[-1].take(ROWS)
    assert torch.allclose(part[-1].coefficients.sum(0), expected.coefficients.sum(0), atol=1e-5)
    assert np.array_equal(part[-1].rows.indptr, expected.rows.indptr)


def test_training_is_a_function_of_the_seed() -> None:
    stack, x = random_stack(n=60, motifs=2, steps=2), random_features(60, 9, 0)

    def run(model: MCN, passes: int) -> list[torch.Tensor]:
        model.train()
        torch.manual_seed(torch.seed())  # the global generator must not matter
        return [model(x, stack, ROWS) for _ in range(passes)]

    first = run(_model(motifs=2, steps=2, seed=3), 4)
    again = run(_model(motifs=2, steps=2, seed=3), 4)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0], first[1])
    assert not torch.equal(first[0], run(_model(motifs=2, steps=2, seed=4), 1)[0])
    resumed = _model(motifs=2, steps=2)
    resumed.rng.load_state_dict({"seed": 3, "step": 2})
    assert torch.equal(run(resumed, 1)[0], first[2])
    evaluated = _model(motifs=2, steps=2, seed=3).eval()
    evaluated(x, stack)
    assert evaluated.rng.state_dict() == {"seed": 3, "step": 0}


@pytest.mark.parametrize("extra", [{}, EVERYTHING])
def test_training_bits_do_not_depend_on_threads(extra: dict[str, Any]) -> None:
    stack, x = random_stack(n=1200, motifs=2, psi="row-max"), random_features(1200, 300, 0)
    labels = torch.randint(3, (1200,), generator=torch.Generator().manual_seed(0))

    def train() -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = MCN(300, 8, 3, motifs=2, seed=1, **extra)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(3):
            optimizer.zero_grad()
            scores, choices = model(x, stack, return_choices=True)
            loss = torch.nn.functional.cross_entropy(scores, labels)
            (loss - sum(c.log_motif.mean() for c in choices)).backward()
            optimizer.step()
        return [p.detach() for p in model.parameters()]

    assert_same_bits(train)


def test_bad_inputs() -> None:
    stack, x = random_stack(n=60, motifs=2), torch.randn(60, 9)
    model = _model(motifs=2)
    refuses("num_layers must be at least 1, got 0", _model, num_layers=0)
    refuses("x has 59 rows, but the stack has 60 nodes", model, x[:59], stack)
    refuses(r"one entry per layer \(2\), got \[1\]", model, x, stack, choice=[1])
    refuses(r"choice = 7 is outside 0 … 1", model, x, stack, ROWS, choice=7)


def _passes(model: MCN, x: Any, stack: Any, rows: Any) -> list[torch.Tensor]:
    """Scores and gradients of a training pass, and scores outside training."""
    model.train()
    scores = model(x, stack, rows, key=11)
    learned = [p for name, p in model.named_parameters() if ".selector." not in name]
    found = [scores, *grads(scores, *learned)]
    return [*found, model.eval()(x, stack, rows)]


@pytest.mark.parametrize("rows", [None, ROWS])
def test_mostly_zero_dense_features_give_the_bits_of_csr(rows: Any) -> None:
    torch.manual_seed(0)
    stack, model = random_stack(n=60), MCN(300, 4, 3, heads=2, dropout=0.5)
    x = torch.where(torch.rand(60, 300) < 0.1, torch.randn(60, 300), 0.0)
    csr = sp.csr_array(x.numpy())
    held = SparseFeatures(csr.indptr.astype(np.int64), csr.indices.astype(np.int32), csr.data, 300)
    results = [_passes(model, form, stack, rows) for form in (held, x)]
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


@pytest.mark.parametrize("rows", [None, ROWS])
def test_wide_dense_features(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    stack, x, model = random_stack(n=60), torch.randn(60, 300), MCN(300, 4, 3, heads=2, dropout=0.5)
    fused = _passes(model, x, stack, rows)
    copied = _passes(model, x.clone().requires_grad_(), stack, rows)  # the rows of a variable are copied
    assert all(torch.equal(a, b) for a, b in zip(fused, copied, strict=True))
    monkeypatch.setattr(ops, "fused", lambda _x: False)
    plain = _passes(model, x, stack, rows)
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(fused, plain, strict=True))


def test_receptive_fields_are_remembered_and_node_ids_have_many_forms() -> None:
    stack, cache = random_stack(motifs=2), ReceptiveFields()
    first = cache.blocks(stack, np.array([1, 2]), (None, None))
    assert cache.blocks(stack, np.array([1, 2]), (None, None)) is first
    assert cache.blocks(stack, np.array([1, 2]), (0, 0)) is not first
    assert cache.blocks(random_stack(motifs=2), np.array([1, 2]), (None, None)) is not first
    for node in range(5):
        cache.blocks(stack, np.array([node]), (None, None))
    assert cache.blocks(stack, np.array([1, 2]), (None, None)) is not first
    assert not copy.deepcopy(cache)._entries
    assert not pickle.loads(pickle.dumps(cache))._entries
    masks = np.array([0, 1, 0, 1], bool), torch.tensor([False, True, False, True])
    for rows in ([1, 3], np.array([1, 3], np.int32), torch.tensor([1, 3]), *masks):
        ids = node_ids(rows)
        assert (ids.dtype, ids.tolist()) == (np.int64, [1, 3])
    for odd in ([], [0.5], [[1]], np.zeros(4, bool)):
        refuses("rows: expected", node_ids, odd)


@pytest.mark.parametrize("attention", [True, False])
def test_self_weights_are_a_linear_map_beside_the_convolution(attention: bool) -> None:
    torch.manual_seed(0)
    stack, x = random_stack(motifs=1), torch.randn(24, 6)
    other = (GATConv(6, 5, heads=2) if attention else GCNConv(6, 10)).eval()
    width, heads = (5, 2) if attention else (10, 1)
    layer = MCNConv(6, width, heads=heads, self_attention=attention, self_weights=True).eval()
    plain = MCNConv.from_pyg(other)
    layer.load_state_dict(plain.state_dict() | {"self_weight": layer.self_weight.detach()})
    expected = other(x, edge_index(stack)) + x @ layer.self_weight
    assert torch.allclose(layer(x, stack), expected, atol=1e-5)


def test_norms_and_residual_by_hand() -> None:
    torch.manual_seed(2)
    model = MCN(6, 4, 3, num_layers=3, heads=2, norm="layer", residual=True).eval()
    stack, x = random_stack(motifs=1), torch.randn(24, 6)
    first, second, last = model.convs
    h = torch.nn.functional.elu(torch.nn.functional.layer_norm(first(x, stack), (8,)))
    h = h + torch.nn.functional.elu(torch.nn.functional.layer_norm(second(h, stack), (8,)))
    assert torch.allclose(model(x, stack), last(h, stack), atol=1e-5)
    # Of a batch: in training by the nodes at hand; afterwards by running means, a tenth of which is new.
    model = MCN(6, 4, 3, heads=2, norm="batch", dropout=0.0)
    first, last = model.convs
    heard = first(x, stack)
    mean, variance = heard.mean(0), heard.var(0, unbiased=False)
    h = torch.relu((heard - mean) / torch.sqrt(variance + 1e-5))
    assert torch.allclose(model.train()(x, stack), last(h, stack), atol=1e-5)
    spread = torch.sqrt(0.9 + 0.1 * heard.var(0) + 1e-5)
    h = torch.relu((heard - 0.1 * mean) / spread)
    assert torch.allclose(model.eval()(x, stack), last(h, stack), atol=1e-5)
