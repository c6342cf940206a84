"""Exact inference in chunks: the bits of the full pass."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import mcn
from mcn.nn import MCN
from mcn.nn.features import FeatureRows
from mcn.nn.graph_rows import StackRows
from mcn.nn.layerwise import heard_by, infer, infer_fields
from tests.nn.graphs import random_features, random_stack, threads

N = 150


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with threads(1):
        torch.manual_seed(1)
        yield


def network(width: int, **changes: Any) -> MCN:
    torch.manual_seed(0)
    model = MCN(width, 4, 3, **{"motifs": 3, "steps": 2, "heads": 3, "output_heads": 2, **changes}).eval()
    model.offset += torch.tensor([0.1, -0.2, 0.3])
    return model


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"num_layers": 1},
        {"num_layers": 3, "prior": "product"},
        {"self_attention": False},
        {"motif_attention": False},
        {"motif_attention": False, "self_attention": False},
    ],
)
def test_the_same_bits_as_the_full_pass(changes: dict[str, Any]) -> None:
    stack, x, chunk = random_stack(N, seed=1, motifs=3, steps=2, psi="transition"), torch.randn(N, 9), 64
    model = network(9, **changes)
    full, choices = model(x, stack, return_choices=True)
    found = infer(model, FeatureRows(x), StackRows(stack), chunk=chunk)
    assert torch.equal(found.logits, full)
    for own, chosen in zip(found.choices, choices, strict=True):
        assert (own == (chosen.motif * 2 + chosen.step - 1).numpy()).all()
    in_sevens = infer(model, FeatureRows(x), StackRows(stack), chunk=7)
    torch.testing.assert_close(in_sevens.logits, full)
    some = np.array([8, 3, 41])
    assert torch.equal(infer(model, FeatureRows(x), StackRows(stack), some, chunk=chunk).logits, full[some])


SIZE = 1500


def ring_stack() -> mcn.MotifStack:
    """A ring with chords, of which a few nodes hear a small part."""
    ring = np.stack([np.arange(SIZE), (np.arange(SIZE) + 1) % SIZE])
    chords = np.stack([np.arange(0, SIZE, 5), (np.arange(0, SIZE, 5) + 2) % SIZE])
    counts = mcn.count_motifs(np.concatenate([ring, chords], axis=1), SIZE)
    return mcn.MotifStack.from_counts(counts, motifs=["edge", "triangle"], steps=2, psi="symmetric")


@pytest.mark.parametrize(
    "changes",
    [{}, {"num_layers": 3}, {"motif_attention": False, "self_attention": False}, {"self_attention": False}],
)
@pytest.mark.parametrize("choice", [None, 2])
def test_only_what_some_nodes_hear_is_computed(changes: dict[str, Any], choice: int | None) -> None:
    stack, x, some = ring_stack(), torch.randn(SIZE, 9), np.array([700, 3, 1201])
    model = network(9, motifs=2, **changes)
    asked: set[int] = set()

    def features(nodes: Any) -> Any:
        asked.update(nodes.tolist())
        return FeatureRows(x)(nodes)

    found = infer(model, features, StackRows(stack), some, choice=choice, chunk=64)
    full, choices = model(x, stack, choice=choice, return_choices=True)
    assert torch.equal(found.logits, full[some])
    hears_all = changes == {"self_attention": False} and choice is None  # choices change others' degrees
    assert len(asked) == SIZE if hears_all else len(asked) <= 100
    for own, chosen in zip(found.choices, choices, strict=True):
        known = own >= 0
        assert known.sum() >= 3
        if choice is None:
            assert (own == (chosen.motif * 2 + chosen.step - 1).numpy())[known].all()


@pytest.mark.parametrize("changes", [{}, {"num_layers": 1}, {"num_layers": 3}, {"self_attention": False}])
@pytest.mark.parametrize("pin", [0, 3])
def test_passes_that_share_their_first_layer_have_the_bits_of_each(changes: dict[str, Any], pin: int) -> None:
    stack, x = ring_stack(), torch.randn(SIZE, 9)
    graph, few, more = StackRows(stack), np.array([700, 3]), np.array([700, 3, 1201, 44])
    model = network(9, motifs=2, **changes)
    fields = [heard_by(model, graph, more), heard_by(model, graph, few, pin)]
    free, pinned = infer_fields(model, FeatureRows(x), graph, fields, 64)
    full, choices = model(x, stack, return_choices=True)
    assert len(np.unique(choices[0].motif)) == 2  # some nodes choose what all are pinned to, some do not
    assert torch.equal(free.logits, full[more])
    assert torch.equal(pinned.logits, model(x, stack, choice=pin)[few])
    assert (pinned.choices[:, few] == pin).all()


def test_sparse_and_wide_features_and_rows_that_are_normalised_when_asked_for(tmp_path: Any) -> None:
    stack, sparse = random_stack(N, seed=3, motifs=3, steps=2), random_features(N, 40, 1)
    for features in (sparse, torch.randn(N, 700)):
        model = network(features.shape[1])
        found = infer(model, FeatureRows(features), StackRows(stack), chunk=64)
        assert torch.equal(found.logits, model(features, stack))
    x = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
    x[2] = 0
    np.save(tmp_path / "x.npy", x)
    taken = FeatureRows(np.load(tmp_path / "x.npy", mmap_mode="r"), scaling="rows")(np.array([5, 2]))
    assert isinstance(taken, torch.Tensor)
    np.testing.assert_allclose(taken.numpy(), [x[5] / np.abs(x[5]).sum(), np.zeros(4)], rtol=1e-6)
    sparse = random_features(6, 9, 0)
    shares = FeatureRows(sparse, scaling="rows")(np.array([1, 4]))
    own = sparse.values[sparse.indptr[4] : sparse.indptr[5]]
    np.testing.assert_allclose(shares.values[shares.indptr[1] :], own / own.sum(), rtol=1e-6)  # type: ignore[union-attr]
