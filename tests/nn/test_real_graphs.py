"""Options for real graphs: weights of its own for a node, layer norm, residual connections; fixed choices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.nn import GATConv, GCNConv

from mcn.nn import MCN, MCNConv
from tests.nn.graphs import edge_index, random_features, random_stack, threads


@pytest.mark.parametrize("attention", [True, False])
def test_self_weights_are_a_linear_map_beside_the_convolution(attention: bool) -> None:
    torch.manual_seed(0)
    stack, x = random_stack(motifs=1), torch.randn(24, 6)
    other = (GATConv(6, 5, heads=2) if attention else GCNConv(6, 10)).eval()
    layer = MCNConv(
        6, 5 if attention else 10, heads=2 if attention else 1, self_attention=attention, self_weights=True
    )
    plain = MCNConv.from_pyg(other)
    layer.load_state_dict(plain.state_dict() | {"self_weight": layer.self_weight.detach()})  # type: ignore[union-attr]
    layer.eval()
    expected = other(x, edge_index(stack)) + x @ layer.self_weight  # type: ignore[operator]
    assert torch.allclose(layer(x, stack), expected, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"self_attention": False}, {"motifs": 2}])
def test_rows_of_a_network_with_everything_equal_those_of_the_whole(options: dict[str, Any]) -> None:
    torch.manual_seed(1)
    extra = {"self_weights": True, "norm": True, "residual": True, "num_layers": 4}
    model = MCN(9, 4, 3, heads=2, **extra, **options).eval()  # type: ignore[arg-type]
    stack, x = random_stack(60, motifs=options.get("motifs", 1)), random_features(60, 9, 0)
    rows = np.array([17, 3, 44, 59])
    whole = model(x, stack)
    assert torch.allclose(model(x, stack, rows), whole[torch.from_numpy(rows)], atol=1e-5)


def test_residual_and_norm_by_hand() -> None:
    torch.manual_seed(2)
    model = MCN(6, 4, 3, num_layers=3, heads=2, norm=True, residual=True).eval()
    stack, x = random_stack(motifs=1), torch.randn(24, 6)
    first, second, last = model.convs
    h = torch.nn.functional.elu(torch.nn.functional.layer_norm(first(x, stack), (8,)))
    h = h + torch.nn.functional.elu(torch.nn.functional.layer_norm(second(h, stack), (8,)))
    assert torch.allclose(model(x, stack), last(h, stack), atol=1e-5)


def test_bits_do_not_depend_on_threads() -> None:
    def run() -> dict[str, torch.Tensor]:
        torch.manual_seed(3)
        model = MCN(9, 4, 3, heads=2, self_weights=True, norm=True, residual=True, num_layers=3, seed=1)
        model(random_features(60, 9, 0), random_stack(60, motifs=1)).sum().backward()
        return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}

    with threads(1):
        one = run()
    with threads(2):
        two = run()
    assert all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("attention", [True, False])
@pytest.mark.parametrize("materialize", [True, False])
def test_a_fixed_stack_computes_what_pinned_choices_do(attention: bool, materialize: bool) -> None:
    torch.manual_seed(4)
    stack, x = random_stack(60, motifs=2, steps=2), torch.randn(60, 9)
    if not materialize:
        stack._stored = None
    model = MCN(9, 4, 3, heads=2, motifs=2, steps=2, motif_attention=False, self_attention=attention).eval()
    choice = np.random.default_rng(0).integers(0, 4, 60)
    pinned = model(x, stack, choice=[choice, choice])
    assert torch.equal(model(x, stack.fixed(choice)), pinned)
    for number in range(4):
        fixed = stack.fixed(number)
        assert fixed.motifs == (stack.motifs[number // 2],)
        assert torch.equal(model(x, fixed), model(x, stack, choice=number))
        some = np.array([5, 2, 40])
        whole = model(x, fixed)[torch.from_numpy(some)]
        assert torch.allclose(model(x, fixed, some), whole, atol=1e-6)
    np.testing.assert_allclose(
        stack.fixed(3).matrix(stack.motifs[1]).toarray(),
        stack.matrix(stack.motifs[1], 2).toarray(),
        rtol=1e-6,
    )


@pytest.mark.parametrize("attention", [True, False])
def test_a_stack_fixed_layer_by_layer_computes_what_pinned_choices_do(attention: bool) -> None:
    torch.manual_seed(4)
    stack, x = random_stack(60, motifs=2, steps=2), torch.randn(60, 9)
    sizes = {"motifs": 2, "steps": 2, "num_layers": 3, "heads": 2}
    model = MCN(9, 4, 3, self_attention=attention, motif_attention=False, **sizes).eval()  # type: ignore[arg-type]
    own = np.random.default_rng(0).integers(0, 4, stack.num_nodes)
    fixed = stack.fixed([own, 3, own])
    assert (fixed.num_motifs, fixed.pins) == (2, (0, 1, 0))
    pinned = model(x, stack, choice=[own, 3, own])
    assert torch.equal(model(x, fixed), pinned)
    some = np.array([1, 7, 3])
    assert torch.allclose(model(x, fixed, some), pinned[torch.from_numpy(some)], atol=1e-6)
    assert stack.fixed([own, own]).pins is None  # one matrix serves both
    expected = stack.matrix(stack.motifs[1], 2).toarray()
    np.testing.assert_allclose(fixed.matrix(fixed.motifs[1]).toarray(), expected, rtol=1e-6)


def test_a_fixed_stack_refuses_what_is_no_choice() -> None:
    stack = random_stack(motifs=2)
    with pytest.raises(ValueError, match=r"outside 0 … 1"):
        stack.fixed(2)
    with pytest.raises(ValueError, match=r"expected 24 integers"):
        stack.fixed(np.zeros(3, np.int64))
