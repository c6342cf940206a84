"""Settings: declared once, checked, read from texts, stored under names that stay."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mcn.train import MCNConfig, PaperConfig, ViewsConfig
from mcn.train.recipes import RECIPES
from mcn.train.settings import Setting, Settings, declared, positive, probability, setting

CONFIGS = [recipe.config for recipe in RECIPES.values()]
EVERY = [
    pytest.param(config, one, id=f"{config.recipe}-{one.name}")
    for config in CONFIGS
    for one in declared(config).values()
]
# Version 0.1.0: what `Config().to_dict()` and `ViewsConfig().to_dict()` were there.
OLD_MCN: dict[str, Any] = {
    "motifs": ["edge", "triangle"],
    "steps": 1,
    "psi": "unweighted",
    "scope": "edges",
    "add_edges": False,
    "materialize": True,
    "hidden": 8,
    "heads": 8,
    "output_heads": 1,
    "num_layers": 2,
    "dropout": 0.6,
    "self_attention": True,
    "motif_attention": True,
    "prior": "softmax",
    "attention": "gated",
    "epsilon": 0.3,
    "advantage": "mean",
    "gate": True,
    "consistency": 0.0,
    "ramp": 100,
    "temperature": 0.5,
    "policy_weight": 1.0,
    "policy_grad": False,
    "policy_lr": None,
    "policy_decay": None,
    "init_bias": 0.0,
    "lr": 0.005,
    "weight_decay": 0.0005,
    "max_epochs": 5000,
    "patience": 100,
    "stopping": "gat",
    "features": "given",
    "normalize": True,
    "priors": "none",
    "seed": 0,
}
OLD_PAPER = OLD_MCN | {
    "attention": "paper",
    "epsilon": 0.1,
    "advantage": "none",
    "gate": False,
    "consistency": 0.0,
}
OLD_VIEWS: dict[str, Any] = {
    "motifs": ["edge", "triangle", "4-cycle"],
    "order": 8,
    "alpha": None,
    "top": 64,
    "tolerance": 1e-4,
    "symmetric": True,
    "scope": "edges",
    "lost": 0.5,
    "smooth": False,
    "hidden": 64,
    "num_layers": 2,
    "input_dropout": 0.5,
    "dropout": 0.7,
    "batch_norm": False,
    "row_norm": False,
    "whole": False,
    "batch": 50,
    "unlabelled": 100,
    "passes": 2,
    "consistency": 1.5,
    "ramp": 500,
    "temperature": 0.1,
    "sure": 0.0,
    "lr": 0.01,
    "weight_decay": 0.001,
    "clip": 0.0,
    "average": 0.99,
    "every": 10,
    "max_epochs": 250,
    "patience": 100,
    "stopping": "loss",
    "normalize": True,
    "seed": 0,
}
OLD = [(MCNConfig, OLD_MCN), (PaperConfig, OLD_PAPER), (ViewsConfig, OLD_VIEWS)]

WORDS = st.from_regex(r"[a-z0-9][a-z0-9-]{0,12}", fullmatch=True).filter(lambda word: word != "null")
VALUES: dict[type, st.SearchStrategy[Any]] = {
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    str: st.one_of(WORDS, st.just("none")),
    tuple: st.lists(WORDS, min_size=1, max_size=4).map(tuple),
}


@pytest.mark.parametrize(("config", "one"), EVERY)
@given(data=st.data())
def test_what_is_shown_is_read_as_the_same_value(
    config: type[Settings], one: Setting, data: st.DataObject
) -> None:
    values = VALUES[one.kind] | st.none() if one.optional else VALUES[one.kind]
    value = data.draw(values)
    assert one.parse(one.show(value)) == value
    assert type(one.parse(one.show(value))) is type(value)
    assert one.parse(f" {one.show(value)} ") == value


@pytest.mark.parametrize(("config", "one"), EVERY)
def test_the_values_of_a_configuration_survive_the_command_line(config: type[Settings], one: Setting) -> None:
    """Those that defaults and rules give: each is shown, read and checked as itself."""
    for made in (config(), config(max_epochs=3)):
        value = getattr(made, one.name)
        read = one.parse(one.show(value))
        assert getattr(made.replace(**{one.name: read}), one.name) == value


@pytest.mark.parametrize(("config", "one"), EVERY)
def test_every_setting_is_explained(config: type[Settings], one: Setting) -> None:
    assert one.sentence.endswith(".")
    assert one.sentence[0].isupper()
    assert one.group in ("graph", "network", "attention", "training")
    assert one.default is None or isinstance(one.default, one.kind)
    assert one.default is not None or one.optional


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("steps", "two", "steps must be an integer, got 'two'"),
        ("steps", "1.5", "steps must be an integer, got '1.5'"),
        ("lr", "fast", "lr must be a number, got 'fast'"),
        ("normalize", "maybe", "normalize must be true or false, got 'maybe'"),
        ("hidden", "none", "hidden must be an integer, got 'none'"),
    ],
)
def test_texts_that_are_no_value(name: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        declared(MCNConfig)[name].parse(text)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("motifs", "edge, triangle,", ("edge", "triangle")),
        ("normalize", "No", False),
        ("normalize", "1", True),
        ("policy_lr", "None", None),
        ("policy_lr", "", None),
        ("epsilon", "null", None),
        ("advantage", "none", "none"),  # a value of its own, not the absence of one
        ("advantage", "null", None),
        ("lr", "1e-5", 1e-5),
    ],
)
def test_texts_by_hand(name: str, text: str, value: Any) -> None:
    assert declared(MCNConfig)[name].parse(text) == value


COMMON: list[tuple[dict[str, Any], str]] = [
    ({"hidden": 0}, "hidden must be an integer of at least 1, got 0"),
    ({"num_layers": 0}, "num_layers must be an integer of at least 1, got 0"),
    ({"max_epochs": 0}, "max_epochs must be an integer of at least 1, got 0"),
    ({"patience": 0}, "patience must be an integer of at least 1, got 0"),
    ({"dropout": 1.0}, "dropout must be a probability below 1, got 1.0"),
    ({"dropout": -0.1}, "dropout must be a probability below 1, got -0.1"),
    ({"dropout": float("nan")}, "dropout must be a probability below 1, got nan"),
    ({"dropout": "0.5"}, "dropout must be a probability below 1, got '0.5'"),
    ({"lr": 0.0}, "lr must be a positive number, got 0.0"),
    ({"lr": float("nan")}, "lr must be a positive number, got nan"),
    ({"lr": float("inf")}, "lr must be a positive number, got inf"),
    ({"lr": "fast"}, "lr must be a positive number, got 'fast'"),
    ({"lr": True}, "lr must be a positive number, got True"),
    ({"weight_decay": -1.0}, "weight_decay must be a number that is not negative, got -1.0"),
    ({"consistency": -1.0}, "consistency must be a number that is not negative, got -1.0"),
    ({"consistency_ramp": -1}, "consistency_ramp must be an integer of at least 0, got -1"),
    ({"temperature": 0}, "temperature must be a positive number, got 0"),
    ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
    ({"seed": None}, "seed must be an integer of at least 0, got None"),
    ({"normalize": 1}, "normalize must be True or False, got 1"),
    ({"motifs": 5}, "motifs must be a list of names, got 5"),
    ({"motifs": ("edge", 3)}, "motifs must be a list of names, got ('edge', 3)"),
    ({"motifs": ()}, "motifs must name at least one of them, got none"),
    (
        {"stopping": "los"},
        "stopping must be one of gat, gat-accuracy, accuracy, loss, got 'los'; did you mean 'loss'?",
    ),
    ({"scope": "pair"}, "scope must be one of edges, pairs, got 'pair'; did you mean 'pairs'?"),
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.recipe)
@pytest.mark.parametrize(("changes", "message"), COMMON, ids=str)
def test_checks_of_common_settings(config: type[Settings], changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        config(**changes)


@pytest.mark.parametrize(("config", "one"), EVERY)
@pytest.mark.parametrize("value", [["?", 1], {"a": 1}, object()], ids=["list", "dict", "object"])
def test_no_setting_takes_just_anything(config: type[Settings], one: Setting, value: Any) -> None:
    """Names of Ψ are known to the stack, which checks them; here they have to be names."""
    with pytest.raises(ValueError, match=f"^{one.name} must "):
        config(**{one.name: value})


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.recipe)
def test_numpys_numbers_become_plain(config: type[Settings]) -> None:
    made = config(hidden=np.int64(2), lr=np.float32(0.5), seed=np.int32(3), normalize=np.False_)
    assert made == config(hidden=2, lr=0.5, seed=3, normalize=False)
    assert yaml.safe_load(yaml.safe_dump(made.to_dict())) == made.to_dict()
    assert config.from_dict(made.to_dict()) == made


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.recipe)
def test_one_motif_by_name_and_a_list(config: type[Settings]) -> None:
    assert config(motifs="triangle").motifs == ("triangle",)
    assert config(motifs=["edge", "4-clique"]).motifs == ("edge", "4-clique")


@pytest.mark.parametrize(("config", "old"), OLD)
def test_the_identity_is_that_of_the_same_computation_in_0_1_0(
    config: type[Settings], old: dict[str, Any]
) -> None:
    default = {"attention": old["attention"]} if "attention" in old else {}  # gated is no longer the default
    assert config(**default).identity() == old
    changed = config(**default, hidden=3, motifs=["edge"])
    assert changed.identity() == old | {"hidden": 3, "motifs": ["edge"]}


@pytest.mark.parametrize(("config", "old"), OLD)
def test_names_of_0_1_0_are_understood(config: type[Settings], old: dict[str, Any]) -> None:
    default = {"attention": old["attention"]} if "attention" in old else {}
    assert config.from_dict(old) == config(**default)
    for name, one in declared(config).items():
        value = getattr(config(), name)
        assert config.from_dict({one.former or name: value}) == config()
    with pytest.raises(ValueError, match="ramp and consistency_ramp are the same setting; give one of them"):
        config.from_dict({"ramp": 3, "consistency_ramp": 4})


def test_a_changed_setting_keeps_its_former_name() -> None:
    own = ViewsConfig.from_dict({"order": 3, "lost": 0.25, "whole": True, "clip": 2})
    assert (own.walk_length, own.drop_neighbours, own.full_batch, own.clip_gradient) == (3, 0.25, True, 2.0)
    assert own == ViewsConfig(walk_length=3, drop_neighbours=0.25, full_batch=True, clip_gradient=2.0)
    assert own.identity() == OLD_VIEWS | {"order": 3, "lost": 0.25, "whole": True, "clip": 2.0}
    assert MCNConfig.from_dict({"prior": "product", "priors": "validation"}) == MCNConfig(
        psi_prior="product", class_priors="validation"
    )


@dataclass(frozen=True, kw_only=True)
class Later(ViewsConfig):
    """Views of a later version, with another default and a setting that 0.1.0 did not have."""

    hidden: int = 32
    chance: float = setting(0.25, "A new thing.", probability, since="0.3.0")


def test_a_setting_of_a_later_version_is_in_the_identity_only_once_it_is_used() -> None:
    assert Later(hidden=64).identity() == OLD_VIEWS
    assert Later(hidden=64, chance=0.5).identity() == OLD_VIEWS | {"chance": 0.5}
    assert Later().to_dict()["chance"] == 0.25


def test_a_changed_default_keeps_sentence_and_check() -> None:
    ours, theirs = declared(Later)["hidden"], declared(ViewsConfig)["hidden"]
    assert (ours.default, theirs.default, declared(Settings)["hidden"].default) == (32, 64, 8)
    assert (ours.sentence, ours.check, ours.option) == (theirs.sentence, theirs.check, theirs.option)
    with pytest.raises(ValueError, match="hidden must be an integer of at least 1, got 0"):
        Later(hidden=0)


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match=r"^unknown setting 'walk_lenght'; did you mean 'walk_length'\?$"):
        ViewsConfig.from_dict({"walk_lenght": 3})
    with pytest.raises(ValueError, match=r"^unknown setting 'zzz'$"):
        ViewsConfig.from_dict({"zzz": 3})
    with pytest.raises(ValueError, match=r"^unknown setting 'steps'"):
        ViewsConfig.from_dict({"steps": 3})


def test_numbers_at_the_edge() -> None:
    assert probability("p", 1) == 1.0
    assert probability("p", 0) == 0.0
    assert positive("x", 1e-300) == 1e-300
    for bad in (float("inf"), float("nan"), 10**400, "1", None, True):
        with pytest.raises(ValueError, match="p must be a probability"):
            probability("p", bad)


def test_a_long_value_is_not_repeated_in_full() -> None:
    with pytest.raises(ValueError, match=r"^lr must be a positive number, got '9+…$") as caught:
        MCNConfig(lr="9" * 10_000)
    assert len(str(caught.value)) < 150
