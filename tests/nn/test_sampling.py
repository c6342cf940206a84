"""Mini-batches: what layers make of drawn neighbours, and the loader that brings them."""

from typing import Any

import numpy as np
import pytest
import torch

from mcn.nn import MCNConv, ops
from mcn.nn._rng import derive
from mcn.nn.graph_rows import StackRows
from mcn.nn.sampling import Batches, MotifSampler, Shuffled
from tests.conftest import refuses
from tests.nn.graphs import dense_features, random_features, random_stack

N = 20


def layer(self_attention: bool) -> MCNConv:
    torch.manual_seed(0)
    return MCNConv(5, 4, motifs=2, heads=2, self_attention=self_attention).eval()


def one_pass(conv: MCNConv, x: torch.Tensor, sampler: MotifSampler, nodes: Any, key: int) -> torch.Tensor:
    (block,) = sampler.blocks(nodes, key)
    out: torch.Tensor = conv(x[block.src], block, choice=block.choice, degrees=block.degrees, key=key)
    return out.detach()


def test_the_mean_of_sampled_passes_is_the_full_pass() -> None:
    stack, nodes = random_stack(N, seed=1, psi="transition"), np.array([3, 0, 11, 7])
    choices = torch.from_numpy(np.arange(N) % 2)[None]
    x, conv = torch.randn(N, 5, generator=torch.Generator().manual_seed(0)), layer(False)
    full = conv(x, stack, choice=choices[0].numpy())[nodes].detach()
    sampler = MotifSampler(StackRows(stack), [2], choices=choices, with_degrees=True)
    passes = torch.stack([one_pass(conv, x, sampler, nodes, key) for key in range(500)])
    error = passes.std(0) / len(passes) ** 0.5
    assert float(error.max()) > 0  # something was left out
    assert bool(((passes.mean(0) - full).abs() <= 5 * error + 1e-5).all())


def test_attention_over_more_neighbours_comes_nearer_and_over_all_is_the_full_pass() -> None:
    stack, nodes = random_stack(N, seed=2), np.arange(N)
    choices = torch.from_numpy(np.arange(N) % 2)[None]
    x, conv = torch.randn(N, 5, generator=torch.Generator().manual_seed(1)), layer(True)
    full, graph = conv(x, stack, choice=choices[0].numpy()).detach(), StackRows(stack)
    gaps = []
    for fan in (1, 3, N, -1):
        sampler = MotifSampler(graph, [fan], choices=choices)
        mean = torch.stack([one_pass(conv, x, sampler, nodes, key) for key in range(100)]).mean(0)
        gaps.append(float((mean - full).abs().mean()))
    assert gaps[0] > gaps[1] > 1e-4
    assert gaps[2] < 1e-6
    assert gaps[3] < 1e-6


def test_a_node_is_computed_alike_in_any_company() -> None:
    """Draws, exploration and all three dropouts go by node, so that a batch can be shared out."""
    stack = random_stack(N, seed=3, steps=2)
    conv = MCNConv(5, 4, 2, 2, 2, dropout=0.5, feature_dropout=0.4, input_dropout=0.3).train()
    x = torch.randn(N, 5)
    sampler = MotifSampler(StackRows(stack), [3], epsilon=0.5, with_base=True)
    (whole,) = sampler.blocks(np.arange(N), 9)
    together, chosen = conv(x[whole.src], whole, choice=whole.choice, key=4, return_choices=True)
    some = np.array([7, 2, 15])
    (part,) = sampler.blocks(some, 9)
    apart, own = conv(x[part.src], part, choice=part.choice, key=4, return_choices=True)
    torch.testing.assert_close(apart, together[some])
    torch.testing.assert_close(own.motif_log_probs, chosen.motif_log_probs[some])
    assert len(np.unique(whole.choice)) > 2


@pytest.mark.parametrize("sparse", [False, True])
def test_features_are_dropped_by_node(sparse: bool) -> None:
    features, identity = random_features(12, 30, 0), torch.eye(30)
    x: Any = features if sparse else torch.ones(12, 30)
    nodes, some = np.arange(100, 112), np.array([4, 9])
    dropped = ops.transform(x, identity, 0.5, 3, nodes)
    part = ops.transform(x.take(some) if sparse else x[some], identity, 0.5, 3, nodes[some])
    assert torch.equal(part, dropped[some])
    given = dense_features(features) if sparse else x
    assert torch.equal(dropped, torch.where(dropped == 0, 0.0, 2 * given))
    assert 0.3 < float((dropped[given != 0] == 0).float().mean()) < 0.7


def test_dropout_by_node_is_the_same_off_the_cpu_kernels_and_has_its_gradient() -> None:
    x = torch.randn(6, 7, requires_grad=True)
    nodes = np.array([5, 1, 2**31, 77, 0, 8])
    fused = ops.dropout(x, 0.4, 12345, nodes)
    plain = ops.dropout(x.detach().to(torch.bfloat16), 0.4, 12345, nodes)
    assert torch.equal(fused == 0, plain == 0)
    fused.sum().backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(x.grad, (fused != 0) / 0.6)


def test_the_choices_of_the_table_decide_whom_a_node_draws() -> None:
    stack = random_stack(N, seed=4)
    table = torch.zeros(2, N, dtype=torch.int8)
    table[0, ::2] = 1
    blocks = MotifSampler(StackRows(stack), [2, 3], choices=table).blocks(np.array([4, 9]), 0)
    for block, choice in zip(blocks, table, strict=True):
        assert (block.choice == choice.numpy()[block.targets]).all()
        rows = block.select()
        for r, (node, own) in enumerate(zip(block.targets, block.choice, strict=True)):
            drawn = block.src[rows.indices[rows.indptr[r] : rows.indptr[r + 1]]]
            full = stack.matrix(stack.motifs[own]).toarray()[node]
            assert (full[drawn] > 0).all()
    refuses("drawn for other choices", block.select, 1 - block.choice)
    for bad in (0, -2):
        refuses(f"at least 1, or -1 for all, got {bad}", MotifSampler, StackRows(stack), [2, bad])


def test_isolated_nodes_make_a_batch_of_their_own() -> None:
    stack = random_stack(N, seed=5, steps=2)
    last = np.array([N - 1])
    for choice in range(4):
        table = torch.full((2, N), choice)
        for block in MotifSampler(StackRows(stack), [2, 2], choices=table, with_base=True).blocks(last, 0):
            assert block.src.tolist() == [N - 1]
            assert block.select().values.tolist() == [1.0]


@pytest.mark.parametrize("workers", [0, 2])
def test_the_loader_gives_the_same_batches_with_any_number_of_workers(workers: int) -> None:
    sampler = MotifSampler(StackRows(random_stack(N, seed=6)), [2, 2], epsilon=0.2)
    nodes = np.arange(5, 15)
    shuffled = Batches([sampler], lambda ids: ids, nodes, Shuffled(10, 4, seed=1), 7)
    batches = list(shuffled.of_epoch(0, workers))
    assert [batch.number for batch in batches] == [0, 1, 2]
    assert sorted(np.concatenate([batch.nodes for batch in batches])) == nodes.tolist()
    for batch in batches:
        expected = sampler.blocks(batch.nodes, derive(7, batch.number))
        for block, own in zip(batch.draws[0], expected, strict=True):
            assert np.array_equal(block.src, own.src)
            assert np.array_equal(block.select().values, own.select().values)
        assert np.array_equal(batch.xs[0], batch.draws[0][0].src)


def epoch_of(shuffled: Shuffled, epoch: int = 0) -> list[list[int]]:
    return [shuffled[epoch * len(shuffled) + i].tolist() for i in range(len(shuffled))]


def test_shares_of_a_batch_are_the_batch() -> None:
    shuffled = Shuffled(11, 6, seed=2)
    whole = epoch_of(shuffled)
    shares = [epoch_of(Shuffled(11, 2, 2, rank, 3)) for rank in range(3)]
    assert [len(batch) for batch in whole] == [6, 5]
    for number, batch in enumerate(whole):
        assert batch == [i for share in shares for i in share[number]]
    later = epoch_of(shuffled, 1)
    assert sorted(i for batch in later for i in batch) == list(range(11))
    assert later != whole
    assert epoch_of(shuffled) == whole
    assert [epoch_of(Shuffled(1, 1, 0, rank, 2)) for rank in range(2)] == [[[0]], [[]]]
