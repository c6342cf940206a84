from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
import yaml

from mcn.train import MCNConfig
from mcn._names import one_of
from mcn.train.mcn.config import ATTENTION


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps must be an integer of at least 1, got 0"),
        ({"steps": 1.5}, "steps must be an integer of at least 1, got 1.5"),
        ({"steps": True}, "steps must be an integer of at least 1, got True"),
        ({"hidden": 0}, "hidden must be an integer of at least 1, got 0"),
        ({"heads": -1}, "heads must be an integer of at least 1, got -1"),
        ({"output_heads": "8"}, "output_heads must be an integer of at least 1, got '8'"),
        ({"num_layers": 0}, "num_layers must be an integer of at least 1, got 0"),
        ({"max_epochs": 0}, "max_epochs must be an integer of at least 1, got 0"),
        ({"patience": 0}, "patience must be an integer of at least 1, got 0"),
        ({"dropout": 1.0}, "dropout must be a probability below 1, got 1.0"),
        ({"dropout": -0.1}, "dropout must be a probability below 1, got -0.1"),
        ({"dropout": float("nan")}, "dropout must be a probability below 1, got nan"),
        ({"epsilon": 1.1}, "epsilon must be a probability, got 1.1"),
        ({"lr": 0.0}, "lr must be a positive number, got 0.0"),
        ({"lr": float("nan")}, "lr must be a positive number, got nan"),
        ({"weight_decay": -1.0}, "weight_decay must be a number that is not negative, got -1.0"),
        ({"policy_weight": -1.0}, "policy_weight must be a number that is not negative, got -1.0"),
        ({"consistency": -1.0}, "consistency must be a number that is not negative, got -1.0"),
        ({"init_bias": -1.0}, "init_bias must be a number that is not negative, got -1.0"),
        ({"dropout": "0.5"}, "dropout must be a probability below 1, got '0.5'"),
        ({"lr": float("inf")}, "lr must be a positive number, got inf"),
        ({"lr": "fast"}, "lr must be a positive number, got 'fast'"),
        ({"policy_lr": -1.0}, "policy_lr must be a positive number, got -1.0"),
        ({"policy_decay": -1.0}, "policy_decay must be a number that is not negative, got -1.0"),
        ({"temperature": 0}, "temperature must be a positive number, got 0"),
        ({"ramp": -1}, "ramp must be an integer of at least 0, got -1"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"seed": None}, "seed must be an integer of at least 0, got None"),
        ({"gate": "yes"}, "gate must be True or False, got 'yes'"),
        ({"normalize": 1}, "normalize must be True or False, got 1"),
        ({"motifs": 5}, "motifs must be a list of names, got 5"),
        ({"motifs": ("edge", 3)}, "motifs must be a list of names, got ('edge', 3)"),
        ({"motifs": ()}, "motifs must name at least one motif"),
        (
            {"advantage": "men"},
            "advantage must be one of none, mean, learned, got 'men'; did you mean 'mean'?",
        ),
        ({"stopping": "los"}, "stopping must be one of gat, accuracy, loss, got 'los'; did you mean 'loss'?"),
        ({"attention": "papr"}, "got 'papr'; did you mean 'paper'?"),
        ({"attention": "xyz"}, "attention must be one of "),
    ],
    ids=str,
)
def test_checks(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        MCNConfig(**changes)


@pytest.mark.parametrize(
    "name", sorted({field.name for field in dataclasses.fields(MCNConfig)} - {"psi", "scope", "prior"})
)
def test_no_setting_takes_just_anything(name: str) -> None:
    """Names of Ψ, scopes and priors are known to the stack and the layers, which check them."""
    with pytest.raises(ValueError, match=f"^{name} must "):
        MCNConfig(**{name: ["?", 1]})


def test_numpys_numbers_become_plain() -> None:
    config = MCNConfig(steps=np.int64(2), lr=np.float32(0.5), seed=np.int32(3), gate=np.True_)
    assert yaml.safe_load(yaml.safe_dump(config.to_dict()))["steps"] == 2
    assert config == MCNConfig(steps=2, lr=0.5, seed=3, gate=True)


def test_one_motif_by_name_and_a_list() -> None:
    assert MCNConfig(motifs="triangle").motifs == ("triangle",)
    assert MCNConfig(motifs=["edge", "4-clique"]).motifs == ("edge", "4-clique")


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


def test_every_setting_is_explained() -> None:
    text = MCNConfig.__doc__ or ""
    for field in dataclasses.fields(MCNConfig):
        assert field.name in text, field.name


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


def test_one_of() -> None:
    one_of("colour", "red", ("red", "blue"))
    with pytest.raises(
        ValueError, match=r"^colour must be one of red, blue, got 'bleu'; did you mean 'blue'\?$"
    ):
        one_of("colour", "bleu", ("red", "blue"))
