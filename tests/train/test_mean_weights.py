"""The running mean of a network's weights."""

from __future__ import annotations

import pytest
import torch
from mcn.train.mean_weights import MeanWeights


def network(value: float) -> torch.nn.Module:
    model = torch.nn.BatchNorm1d(2)
    _set(model, value)
    return model


def _set(model: torch.nn.Module, value: float) -> None:
    with torch.no_grad():
        for each in model.state_dict().values():
            each.fill_(value)


def test_floats_are_averaged_and_counters_copied() -> None:
    model = network(4.0)
    mean = MeanWeights(model)
    _set(model, 8.0)
    mean.update(0.25)
    found = mean.tensors()
    assert found["mean.weight"].tolist() == [5.0, 5.0]
    assert found["mean.running_var"].tolist() == [5.0, 5.0]
    assert int(found["mean.num_batches_tracked"]) == 8
    mean.update(1.0)
    assert mean.tensors()["mean.weight"].tolist() == [8.0, 8.0]


def test_the_network_has_the_mean_only_within() -> None:
    model = network(4.0)
    mean = MeanWeights(model)
    _set(model, 8.0)
    with mean.in_place():
        assert model.weight.tolist() == [4.0, 4.0]
    assert model.weight.tolist() == [8.0, 8.0]
    with pytest.raises(KeyError), mean.in_place():
        raise KeyError
    assert model.weight.tolist() == [8.0, 8.0]


def test_it_goes_on_from_what_it_gave() -> None:
    model = network(1.0)
    mean, other = MeanWeights(model), MeanWeights(model)
    _set(model, 3.0)
    mean.update(0.5)
    other.load(mean.tensors())
    mean.update(0.5)
    assert other.tensors()["mean.bias"].tolist() == [2.0, 2.0]  # a copy
    other.update(0.5)
    assert other.tensors()["mean.bias"].tolist() == mean.tensors()["mean.bias"].tolist() == [2.5, 2.5]


def test_those_of_another_network_are_refused() -> None:
    with pytest.raises(ValueError, match="the mean weights are not those of this network"):
        MeanWeights(network(1.0)).load(MeanWeights(torch.nn.BatchNorm1d(3)).tensors())
