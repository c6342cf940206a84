"""f and f', and how actions are taken."""

from __future__ import annotations

import pytest
import torch

from mcn.motifs import NODE_ORBITS
from mcn.nn import Selector
from mcn.nn.selector import epsilon_greedy

NUM_COUNTS = len(NODE_ORBITS)


def test_second_layer_sees_the_state_and_the_probabilities_of_the_first() -> None:
    torch.manual_seed(0)
    selector = Selector(4, motifs=3, steps=2)
    state = torch.randn(5, 4 + NUM_COUNTS)
    motif, step = selector(state)
    probabilities = (state @ selector.motif_weight + selector.motif_bias).softmax(1)
    assert torch.allclose(motif.exp(), probabilities, atol=1e-6)
    seen = torch.cat([state, probabilities], 1)
    assert torch.allclose(
        step.exp(), (seen @ selector.step_weight + selector.step_bias).softmax(1), atol=1e-6
    )


def test_nothing_to_choose() -> None:
    state = torch.randn(4, 3 + NUM_COUNTS)
    one_motif = Selector(3, motifs=1, steps=2)
    assert one_motif.motif_weight is None
    assert torch.equal(one_motif(state)[0], torch.zeros(4, 1))
    assert one_motif.step_weight.shape == (3 + NUM_COUNTS + 1, 2)
    one_step = Selector(3, motifs=2, steps=1)
    assert one_step.step_weight is None
    assert torch.equal(one_step(state)[1], torch.zeros(4, 1))
    assert not list(Selector(3, 1, 1).parameters())


def test_biased_start() -> None:
    selector = Selector(3, motifs=2, steps=3, init_bias=4.0)
    motif, step = selector(torch.randn(6, 3 + NUM_COUNTS))
    expected = torch.tensor([4.0, 0.0]).log_softmax(0)
    assert torch.allclose(motif, expected.expand(6, 2))
    assert torch.allclose(step, torch.tensor([4.0, 0.0, 0.0]).log_softmax(0).expand(6, 3))


def test_epsilon_greedy_frequencies() -> None:
    n, epsilon = 60_000, 0.3
    motif = torch.tensor([0.1, 0.8, 0.1]).log().expand(n, 3)
    step = torch.tensor([0.9, 0.1]).log().expand(n, 2)
    t, k = epsilon_greedy(motif, step, epsilon, 5)
    joint = torch.bincount(t * 2 + k, minlength=6) / n
    expected = torch.full((6,), epsilon / 6)
    expected[1 * 2 + 0] += 1 - epsilon
    assert torch.allclose(joint, expected, atol=0.01)
    t, k = epsilon_greedy(motif, step, 0.0, 5)
    assert (t == 1).all()
    assert (k == 0).all()


@pytest.mark.parametrize(("options", "message"), [({"motifs": 0}, "motifs=0"), ({"init_bias": -1.0}, "-1.0")])
def test_bad_options(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Selector(3, **({"motifs": 2, "steps": 1} | options))  # type: ignore[arg-type]
