from __future__ import annotations

import pytest
import torch
from mcn.train.mcn.advantage import LearnedValue, RunningMean, advantage


def test_none_is_the_reward() -> None:
    reward = torch.tensor([1.0, -1.0, 1.0])
    gain, loss = advantage("none", 4)(reward, None)
    assert torch.equal(gain, reward)
    assert loss is None


def test_mean_by_hand() -> None:
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


def test_mean_goes_on_from_saved_values() -> None:
    whole, first, second = RunningMean(), RunningMean(), RunningMean()
    rewards = [torch.randn(5) for _ in range(6)]
    expected = [whole(r, None)[0] for r in rewards]
    got = [first(r, None)[0] for r in rewards[:3]]
    second.load_state_dict(first.state_dict())
    got += [second(r, None)[0] for r in rewards[3:]]
    assert all(torch.equal(a, b) for a, b in zip(got, expected, strict=True))


def test_learned_by_hand() -> None:
    value = LearnedValue(2)
    assert value.module is not None
    with torch.no_grad():
        value.module.weight.copy_(torch.tensor([[0.5, -1.0]]))
        value.module.bias.fill_(0.25)
    state = torch.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
    gain, loss = value(torch.tensor([1.0, -1.0]), state)  # values 0.75 and -0.75
    assert gain.tolist() == pytest.approx([0.25, -0.25])
    assert not gain.requires_grad
    assert loss is not None
    assert loss.item() == pytest.approx(2 * 0.25**2)
    loss.backward()
    assert state.grad is None  # the value is learned from the state, which does not learn from it
    assert value.module.bias.grad.tolist() == pytest.approx([2 * -0.25 + 2 * 0.25])


def test_learned_starts_at_zero_and_leaves_the_random_numbers_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    value = LearnedValue(7)
    assert torch.equal(torch.rand(3), expected)
    gain, _ = value(torch.ones(4), torch.randn(4, 7))
    assert gain.tolist() == [1.0] * 4


def test_learned_converges_to_a_constant_reward() -> None:
    torch.manual_seed(0)
    value = LearnedValue(3)
    assert value.module is not None
    optimizer = torch.optim.Adam(value.module.parameters(), lr=0.05)
    for _ in range(400):
        optimizer.zero_grad()
        gain, loss = value(torch.full((8,), 0.7), torch.randn(8, 3))
        assert loss is not None
        loss.backward()
        optimizer.step()
    assert gain.abs().max() < 0.01
