"""L_A against the nested sums of eq:att_loss, written out over explicit paths of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mcn.matrices import MotifStack
from mcn.nn import MCN, Choices
from mcn.train.losses import (
    agreement_loss,
    attention_loss,
    classification_loss,
    correctness,
    pass_down,
)
from tests.nn.graphs import random_stack

N = 11


def nested_sums(
    stack: MotifStack, targets: Sequence[Any], choices: Sequence[Choices], reward: torch.Tensor
) -> float:
    """eq:att_loss as it stands: every path n_L → n_{L-1} → … → n_1 through the chosen neighbourhoods.

    `targets` holds the node ids that each layer computes; neighbourhoods are read from Ψ(A_t^k) itself.
    """
    action = [
        {
            int(node): (int(c.motif[i]), int(c.step[i]), c.motif_log_probs[i], c.step_log_probs[i])
            for i, node in enumerate(nodes)
        }
        for nodes, c in zip(targets, choices, strict=True)
    ]

    def paths_from(layer: int, node: int) -> float:
        motif, step, log_f, log_g = action[layer][node]
        total = log_f[motif].item() + log_g[step - 1].item()
        if layer == 0:
            return total
        row = stack.matrix(stack.motifs[motif], step)[[node]].toarray()[0]
        return total + sum(paths_from(layer - 1, int(j)) for j in np.flatnonzero(row))

    last = len(choices) - 1
    return -sum(float(r) * paths_from(last, int(v)) for v, r in zip(targets[-1], reward, strict=True))


def network(layers: int, motifs: int, steps: int, seed: int) -> MCN:
    torch.manual_seed(seed)
    return MCN(5, 3, 2, layers, motifs=motifs, steps=steps, heads=2, epsilon=0.5, seed=seed)


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("motifs", [1, 2, 3])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_nested_sums_over_all_nodes(layers: int, motifs: int, steps: int) -> None:
    stack = random_stack(N, seed=motifs + steps, motifs=motifs, steps=steps)
    model = network(layers, motifs, steps, seed=layers)
    _, choices = model(torch.randn(N, 5), stack, return_choices=True)
    reward = torch.randn(N)
    expected = nested_sums(stack, [np.arange(N)] * layers, choices, reward)
    assert attention_loss(choices, reward).item() == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert (expected == 0) == (motifs * steps == 1)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 3),
    st.sampled_from([(1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]),
    st.lists(st.integers(0, N - 1), min_size=1, max_size=4, unique=True),
    st.integers(0, 1000),
)
def test_nested_sums_of_some_nodes(layers: int, sizes: tuple[int, int], rows: list[int], seed: int) -> None:
    """Only the receptive field is computed, and ±1 is the paper's reward."""
    motifs, steps = sizes
    stack = random_stack(N, seed=seed, motifs=motifs, steps=steps)
    model = network(layers, motifs, steps, seed)
    logits, choices = model(torch.randn(N, 5), stack, np.array(rows), return_choices=True)
    reward = correctness(logits, torch.zeros(len(rows), dtype=torch.int64))
    assert set(reward.tolist()) <= {-1.0, 1.0}
    targets = [block.src[: block.num_dst] for block in stack.blocks(np.array(rows), layers)]
    expected = nested_sums(stack, targets, choices, reward)
    assert attention_loss(choices, reward).item() == pytest.approx(expected, rel=1e-4, abs=1e-3)


def test_credit_is_passed_down_with_multiplicity() -> None:
    """A path 0 – 1 – 2 whose nodes all listen to edges: each node hears itself and its neighbours."""
    path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    stack = MotifStack.from_adjacencies({"edge": path, "nobody": np.zeros((3, 3))}, edge=path)
    model = MCN(1, 2, 2, 1, motifs=2)
    _, (chosen,) = model(torch.ones(3, 1), stack, choice=0, return_choices=True)
    credit = torch.tensor([1.0, 10.0, 100.0])
    assert pass_down(chosen, credit, 3).tolist() == [11.0, 111.0, 110.0]
    _, (alone,) = model(torch.ones(3, 1), stack, choice=1, return_choices=True)
    assert pass_down(alone, credit, 3).tolist() == credit.tolist()


@pytest.mark.parametrize("reward", [1.0, -1.0])
@pytest.mark.parametrize("layers", [1, 2])
def test_a_reward_makes_the_chosen_actions_likelier(reward: float, layers: int) -> None:
    stack = random_stack(N, seed=3, motifs=2, steps=2)
    torch.manual_seed(0)
    model = MCN(5, 3, 2, layers, motifs=2, steps=2, heads=2, dropout=0.0, epsilon=1.0)
    x, node = torch.randn(N, 5), np.array([4])
    _, before = model(x, stack, node, key=11, return_choices=True)
    attention_loss(before, torch.tensor([reward])).backward()
    pins = [(c.motif * 2 + c.step - 1).numpy() for c in before]
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter -= 1e-3 * parameter.grad
    _, after = model(x, stack, node, key=11, choice=pins, return_choices=True)

    def logs(choices: Sequence[Choices]) -> float:
        return -attention_loss(choices, torch.ones(1)).item()

    assert (logs(after) - logs(before)) * reward > 1e-6
    top = after[-1].log_motif + after[-1].log_step - before[-1].log_motif - before[-1].log_step
    assert top.item() * reward > 0


def test_the_attention_loss_leaves_the_classifier_alone() -> None:
    stack = random_stack(N, motifs=2)
    model = network(2, 2, 1, seed=0)
    _, choices = model(torch.randn(N, 5), stack, return_choices=True)
    attention_loss(choices, torch.ones(N)).backward()
    touched = {name for name, p in model.named_parameters() if p.grad is not None and p.grad.any()}
    assert touched
    assert all(".selector." in name for name in touched)


def test_classification_loss_by_hand() -> None:
    """Scores (ln 3, 0) and (0, 0): probabilities 3/4 and 1/2 for the right classes."""
    logits = torch.tensor([[np.log(3.0), 0.0], [0.0, 0.0]])
    loss = classification_loss(logits, torch.tensor([0, 1]))
    assert loss.item() == pytest.approx(-np.log(0.75) - np.log(0.5))


def test_correctness() -> None:
    logits = torch.tensor([[2.0, 1.0], [2.0, 1.0], [0.0, 3.0]])
    assert correctness(logits, torch.tensor([0, 1, 1])).tolist() == [1.0, -1.0, 1.0]


def test_agreement_loss_by_hand() -> None:
    """Two views of two nodes, three classes: node 0 is sure (0.8 > 2/3), node 1 is not."""
    first = torch.tensor([[0.9, 0.05, 0.05], [0.4, 0.3, 0.3]]).log()
    second = torch.tensor([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3]]).log()
    mean = np.array([0.8, 0.125, 0.075])
    target = mean**2 / (mean**2).sum()  # a temperature of one half squares
    distances = [((np.array(p) - target) ** 2).sum() for p in ([0.9, 0.05, 0.05], [0.7, 0.2, 0.1])]
    assert float(agreement_loss([first, second], 0.5)) == pytest.approx(np.mean(distances), rel=1e-5)
    unsure = torch.zeros(4, 3)
    assert float(agreement_loss([unsure, unsure], 0.5)) == 0.0
