"""The settings that only networks with choices have; those of every recipe are in test_settings.py."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import yaml

from mcn.train import MCNConfig
from mcn.train.mcn.config import ATTENTION


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps must be an integer of at least 1, got 0"),
        ({"steps": 1.5}, "steps must be an integer of at least 1, got 1.5"),
        ({"steps": True}, "steps must be an integer of at least 1, got True"),
        ({"heads": -1}, "heads must be an integer of at least 1, got -1"),
        ({"output_heads": "8"}, "output_heads must be an integer of at least 1, got '8'"),
        ({"epsilon": 1.1}, "epsilon must be a probability, got 1.1"),
        ({"policy_weight": -1.0}, "policy_weight must be a number that is not negative, got -1.0"),
        ({"init_bias": -1.0}, "init_bias must be a number that is not negative, got -1.0"),
        ({"policy_lr": -1.0}, "policy_lr must be a positive number, got -1.0"),
        ({"policy_decay": -1.0}, "policy_decay must be a number that is not negative, got -1.0"),
        ({"gate": "yes"}, "gate must be True or False, got 'yes'"),
        (
            {"advantage": "men"},
            "advantage must be one of none, mean, learned, got 'men'; did you mean 'mean'?",
        ),
        ({"attention": "papr"}, "got 'papr'; did you mean 'paper'?"),
        ({"attention": "xyz"}, "attention must be one of "),
        ({"psi_prior": "sofmax"}, "psi_prior must be one of softmax, product, got 'sofmax'"),
        ({"class_priors": "test"}, "class_priors must be one of none, validation, got 'test'"),
        ({"features": "motif"}, "features must be one of given, motifs, got 'motif'; did you mean 'motifs'?"),
    ],
    ids=str,
)
def test_checks(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        MCNConfig(**changes)


def test_numpys_numbers_become_plain() -> None:
    config = MCNConfig(steps=np.int64(2), lr=np.float32(0.5), seed=np.int32(3), gate=np.True_)
    assert yaml.safe_load(yaml.safe_dump(config.to_dict()))["steps"] == 2
    assert config == MCNConfig(steps=2, lr=0.5, seed=3, gate=True)


@pytest.mark.parametrize("attention", ATTENTION)
def test_a_rule_brings_its_settings(attention: str) -> None:
    config = MCNConfig(attention=attention)
    for name, value in ATTENTION[attention].items():
        assert getattr(config, name) == value
    assert MCNConfig(attention=attention, epsilon=0.5).epsilon == 0.5
    for other in ATTENTION:
        assert config.replace(attention=other) == MCNConfig(attention=other)


def test_the_paper_is_to_the_letter() -> None:
    config = MCNConfig(attention="paper")
    assert (config.epsilon, config.advantage, config.gate, config.consistency) == (0.1, "none", False, 0.0)


def test_round_trip_through_yaml() -> None:
    config = MCNConfig(motifs=("edge", "4-path"), steps=3, psi="row-max", lr=1e-5, policy_lr=None, seed=7)
    text = yaml.safe_dump(config.to_dict())
    assert MCNConfig.from_dict(yaml.safe_load(text)) == config
    assert MCNConfig.from_dict({}) == MCNConfig()


def test_unknown_settings() -> None:
    with pytest.raises(ValueError, match=r"unknown setting 'dropuot'; did you mean 'dropout'\?"):
        MCNConfig.from_dict({"dropuot": 0.5})
    with pytest.raises(ValueError, match=r"unknown setting 'zzz'$"):
        MCNConfig.from_dict({"zzz": 1})


def test_changing_some() -> None:
    config = MCNConfig(steps=2)
    assert config.replace(seed=4) == MCNConfig(steps=2, seed=4)
    with pytest.raises(ValueError, match="steps must be"):
        config.replace(steps=0)


@pytest.mark.parametrize(
    ("changes", "chooses"),
    [
        ({}, True),
        ({"motif_attention": False}, False),
        ({"motifs": ("edge",)}, False),
        ({"motifs": ("edge",), "steps": 2}, True),
    ],
)
def test_whether_there_is_a_choice(changes: dict[str, Any], chooses: bool) -> None:
    assert MCNConfig(**changes).chooses is chooses
