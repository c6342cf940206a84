"""Losses: L_A against the nested sums of eq:att_loss, rewards, what a step minimises, mean weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mcn.matrices import MotifStack
from mcn.nn import MCN, Choices
from mcn.train.losses import MeanWeights, agreement_loss, attention_loss, pass_down
from mcn.train.mcn.objective import LearnedValue, advantage
from mcn.train.tasks import Classes
from tests.nn.graphs import random_stack
from tests.train.graphs import new_trainer, small_config, small_graph

N = 11

TWO = Classes(2)


def nested_sums(stack: MotifStack, targets: Any, choices: Sequence[Choices], reward: torch.Tensor) -> float:
    """eq:att_loss as it stands: every path n_L → n_{L-1} → … → n_1 through the chosen neighbourhoods.

    `targets` holds the node ids that each layer computes; neighbourhoods are read from Ψ(A_t^k) itself.
    """
    action: list[dict[int, Any]] = []
    for nodes, c in zip(targets, choices, strict=True):
        columns = c.motif.tolist(), c.step.tolist(), c.motif_log_probs, c.step_log_probs
        action.append(dict(zip(map(int, nodes), zip(*columns, strict=True), strict=True)))

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
    reward = 2 * Classes(logits.shape[1]).right(logits, torch.zeros(len(rows), dtype=torch.int64)) - 1
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


def test_the_attention_loss_leaves_the_classifier_alone() -> None:
    stack = random_stack(N, motifs=2)
    model = network(2, 2, 1, seed=0)
    _, choices = model(torch.randn(N, 5), stack, return_choices=True)
    attention_loss(choices, torch.ones(N)).backward()
    touched = {name for name, p in model.named_parameters() if p.grad is not None and p.grad.any()}
    assert touched
    assert all(".selector." in name for name in touched)


def test_classification_correctness_and_agreement_by_hand() -> None:
    """Scores (ln 3, 0) and (0, 0): probabilities 3/4 and 1/2 for the right classes."""
    logits = torch.tensor([[np.log(3.0), 0.0], [0.0, 0.0]])
    loss = TWO.loss(logits, torch.tensor([0, 1]), reduction="sum")
    assert loss.item() == pytest.approx(-np.log(0.75) - np.log(0.5))
    logits = torch.tensor([[2.0, 1.0], [2.0, 1.0], [0.0, 3.0]])
    assert TWO.right(logits, torch.tensor([0, 1, 1])).tolist() == [1.0, 0.0, 1.0]
    # Two views of two nodes, three classes: node 0 is sure (0.8 > 2/3), node 1 is not.
    first = torch.tensor([[0.9, 0.05, 0.05], [0.4, 0.3, 0.3]]).log()
    second = torch.tensor([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3]]).log()
    mean = np.array([0.8, 0.125, 0.075])
    target = mean**2 / (mean**2).sum()  # a temperature of one half squares
    distances = [((np.array(p) - target) ** 2).sum() for p in ([0.9, 0.05, 0.05], [0.7, 0.2, 0.1])]
    found = float(agreement_loss(Classes(3), [first, second], 0.5))
    assert found == pytest.approx(np.mean(distances), rel=1e-5)
    unsure = torch.zeros(4, 3)
    assert float(agreement_loss(Classes(3), [unsure, unsure], 0.5)) == 0.0


# What is subtracted from the reward.


def test_the_running_mean_by_hand() -> None:
    """Mean rewards 0.5, -0.5, 1: the second step expects 0.5, the third a mean that leans to the later."""
    mean = advantage("mean", 4)
    first, loss = mean(torch.tensor([1.0, 0.0]), None)
    assert first.tolist() == [0.5, -0.5]  # nothing is known yet: its own mean
    assert loss is None
    second, _ = mean(torch.tensor([0.0, -1.0]), None)
    assert second.tolist() == pytest.approx([-0.5, -1.5])
    third, _ = mean(torch.tensor([1.0, 1.0]), None)
    expected = (0.9 * 0.5 + 1.0 * -0.5) / (0.9 + 1.0)
    assert third.tolist() == pytest.approx([1 - expected] * 2)


def test_the_learned_value_by_hand_and_that_it_converges_to_a_constant_reward() -> None:
    value: Any = LearnedValue(2)
    with torch.no_grad():
        value.module.weight.copy_(torch.tensor([[0.5, -1.0]]))
        value.module.bias.fill_(0.25)
    state = torch.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
    gain, loss = value(torch.tensor([1.0, -1.0]), state)  # values 0.75 and -0.75
    assert gain.tolist() == pytest.approx([0.25, -0.25])
    assert not gain.requires_grad
    assert loss.item() == pytest.approx(2 * 0.25**2)
    loss.backward()
    assert state.grad is None  # the value is learned from the state, which does not learn from it
    assert value.module.bias.grad.tolist() == pytest.approx([2 * -0.25 + 2 * 0.25])
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    value = LearnedValue(3)
    assert torch.equal(torch.rand(3), expected)  # it leaves the random numbers alone
    assert value(torch.ones(4), torch.randn(4, 3))[0].tolist() == [1.0] * 4
    optimizer = torch.optim.Adam(value.module.parameters(), lr=0.05)
    for _ in range(400):
        optimizer.zero_grad()
        gain, loss = value(torch.full((8,), 0.7), torch.randn(8, 3))
        loss.backward()
        optimizer.step()
    assert gain.abs().max() < 0.01


# What one step minimises (eq:loss).


def twins(**changes: Any) -> tuple[Any, Any]:
    """A trainer and its twin, whose next passes are the same."""
    data, config = small_graph(), small_config(**{"attention": "paper", **changes})
    first, second = new_trainer(data, config), new_trainer(data, config)
    first.model.train()
    second.model.train()
    return first, second


@pytest.mark.parametrize("advantage", ["none", "mean"])
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_the_papers_loss(weight: float, advantage: str) -> None:
    """(L_C + L_A) / |T|, with the ±1 reward of the very pass, or what is above their mean."""
    first, second = twins(policy_weight=weight, advantage=advantage)
    loss, logged = first.objective.step(first.model, 0)
    p = second.problem
    logits, choices = second.model(p.inputs.x, p.inputs.stack, p.train, return_choices=True)
    loss_c = p.task.loss(logits, p.train_labels, reduction="sum")
    reward = 2 * p.task.right(logits, p.train_labels) - 1
    gain = reward - reward.mean() if advantage == "mean" else reward
    expected = (loss_c + weight * attention_loss(choices, gain)) / len(p.train)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    assert logged[0].item() == pytest.approx(loss_c.item(), rel=1e-6)
    assert logged[1].item() == pytest.approx((reward.mean().item() + 1) / 2)


@pytest.mark.parametrize("other", [{"motif_attention": False}, {"motifs": ("edge",)}, {"policy_weight": 0.0}])
def test_nothing_to_choose_or_to_reward(other: dict[str, Any]) -> None:
    first, second = twins(**other)
    loss, logged = first.objective.step(first.model, 0)
    p = second.problem
    logits = second.model(p.inputs.x, p.inputs.stack, p.train)
    expected = p.task.loss(logits, p.train_labels).item()
    assert loss.item() == pytest.approx(expected, rel=1e-6)
    assert logged[0].item() == pytest.approx(len(p.train) * expected, rel=1e-6)


def test_two_passes() -> None:
    """Two passes over all nodes: the mean of their losses, and how far they disagree, growing with time."""
    first, second = twins(consistency=2.0, consistency_ramp=10)
    loss, _ = first.objective.step(first.model, 5)
    p = second.problem
    train = torch.from_numpy(p.train)
    passes, losses = [], []
    for _ in range(2):
        logits, choices = second.model(p.inputs.x, p.inputs.stack, return_choices=True)
        reward = torch.zeros(len(logits))
        reward[train] = 2 * p.task.right(logits[train], p.train_labels) - 1
        loss_c = p.task.loss(logits[train], p.train_labels, reduction="sum")
        losses.append(loss_c + attention_loss(choices, reward))
        passes.append(logits)
    expected = sum(losses) / 2 / len(train) + 2.0 * 0.5 * agreement_loss(p.task, passes, 0.5)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_the_learned_value_is_trained_along() -> None:
    first, _ = twins(advantage="learned")
    own = list(first.objective.parameters())
    assert [tuple(parameter.shape) for parameter in own] == [(1, 3 + 15), (1,)]
    assert {id(p) for p in own} <= {id(p) for group in first.optimizer.param_groups for p in group["params"]}
    for _ in range(3):
        first.run_epoch()
    assert all(parameter.abs().max() > 0 for parameter in own)
    assert set(first.objective.tensors()) == {"weight", "bias"}


# The running mean of a network's weights.


def fill(model: torch.nn.Module, value: float) -> None:
    with torch.no_grad():
        for tensor in model.state_dict().values():
            tensor.fill_(value)


def test_mean_weights_by_hand() -> None:
    model = torch.nn.BatchNorm1d(2)
    fill(model, 4.0)
    mean = MeanWeights(model)
    fill(model, 8.0)
    with mean.in_place():
        assert model.weight.tolist() == [4.0, 4.0]
    with pytest.raises(KeyError), mean.in_place():  # whatever happens, the network gets its own back
        raise KeyError
    assert model.weight.tolist() == [8.0, 8.0]
    mean.update(0.25)
    found = mean.tensors()
    assert found["mean.weight"].tolist() == found["mean.running_var"].tolist() == [5.0, 5.0]
    assert int(found["mean.num_batches_tracked"]) == 8  # counters are copied
    mean.update(1.0)
    assert mean.tensors()["mean.weight"].tolist() == [8.0, 8.0]
