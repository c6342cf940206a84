"""Settings: declared once, checked, read from texts; and the recipes that have them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import mcn
from mcn.train import RECIPES
from mcn.train.mcn.config import ATTENTION
from mcn.train.recipes import all_settings, work_of
from mcn.train.settings import Setting, Settings, declared, positive, probability, setting
from tests.conftest import refuses
from tests.train.graphs import settings

MCN, VIEWS = RECIPES["mcn"].config, RECIPES["views"].config
CONFIGS = [pytest.param(recipe.config, id=name) for name, recipe in RECIPES.items()]
KINDS = {
    (one.kind, one.optional): one for recipe in RECIPES.values() for one in declared(recipe.config).values()
}

WORDS = st.from_regex(r"[a-z0-9][a-z0-9-]{0,12}", fullmatch=True).filter(lambda word: word != "null")
VALUES: dict[type, st.SearchStrategy[Any]] = {
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    str: st.one_of(WORDS, st.just("none")),
    tuple: st.lists(WORDS.filter(lambda word: word != "none"), min_size=1, max_size=4).map(tuple),
}


@pytest.mark.parametrize("one", [pytest.param(one, id=one.name) for one in KINDS.values()])
@given(data=st.data())
def test_what_is_shown_is_read_as_the_same_value(one: Setting, data: st.DataObject) -> None:
    value = data.draw(VALUES[one.kind] | st.none() if one.optional else VALUES[one.kind])
    assert one.parse(one.show(value)) == value
    assert type(one.parse(one.show(value))) is type(value)
    assert one.parse(f" {one.show(value)} ") == value


@pytest.mark.parametrize("config", CONFIGS)
def test_the_values_of_a_configuration_survive_the_command_line(config: type[Settings]) -> None:
    """Those that defaults and rules give: each is shown, read and checked as itself."""
    for made in (config(), config(max_epochs=3)):
        for name, one in declared(config).items():
            value = getattr(made, name)
            assert getattr(made.replace(**{name: one.parse(one.show(value))}), name) == value


@pytest.mark.parametrize("config", CONFIGS)
def test_every_setting_is_explained_and_takes_no_odd_value(config: type[Settings]) -> None:
    for one in declared(config).values():
        assert one.sentence.endswith(".")
        assert one.sentence[0].isupper()
        assert one.group in ("graph", "network", "attention", "training")
        assert one.optional if one.default is None else isinstance(one.default, one.kind)
        for odd in (["?", 1], {"a": 1}, object()):
            refuses(f"^{one.name} must ", config, **{one.name: odd})


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("steps", "two", "steps must be an integer, got 'two'"),
        ("steps", "1.5", "steps must be an integer, got '1.5'"),
        ("lr", "fast", "lr must be a number, got 'fast'"),
        ("gate", "maybe", "gate must be true or false, got 'maybe'"),
        ("hidden", "none", "hidden must be an integer, got 'none'"),
    ],
)
def test_texts_that_are_no_value(name: str, text: str, message: str) -> None:
    refuses(f"^{re.escape(message)}$", declared(MCN)[name].parse, text)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("motifs", "edge, triangle,", ("edge", "triangle")),
        ("residual", "No", False),
        ("residual", "1", True),
        ("policy_lr", "None", None),
        ("policy_lr", "", None),
        ("epsilon", "null", None),
        ("advantage", "none", "none"),  # a value of its own, not the absence of one
        ("advantage", "null", None),
        ("lr", "1e-5", 1e-5),
    ],
)
def test_texts_by_hand(name: str, text: str, value: Any) -> None:
    assert declared(MCN)[name].parse(text) == value


STOPPING = "stopping must be one of gat, gat-accuracy, accuracy, loss"
FEATURES = "features must be one of given, motifs, both"
COMMON: list[tuple[dict[str, Any], str]] = [
    *(
        ({name: 0}, f"{name} must be an integer of at least 1, got 0")
        for name in ("hidden", "num_layers", "max_epochs", "patience")
    ),
    *(
        ({"dropout": value}, f"dropout must be a probability below 1, got {value!r}")
        for value in (1.0, -0.1, float("nan"), "0.5")
    ),
    *(
        ({"lr": value}, f"lr must be a positive number, got {value!r}")
        for value in (0.0, float("nan"), float("inf"), "fast", True)
    ),
    ({"weight_decay": -1.0}, "weight_decay must be a number that is not negative, got -1.0"),
    ({"consistency": -1.0}, "consistency must be a number that is not negative, got -1.0"),
    ({"consistency_ramp": -1}, "consistency_ramp must be an integer of at least 0, got -1"),
    ({"temperature": 0}, "temperature must be a positive number, got 0"),
    ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
    ({"seed": None}, "seed must be an integer of at least 0, got None"),
    ({"motifs": 5}, "motifs must be a list of names, got 5"),
    ({"motifs": ("edge", 3)}, "motifs must be a list of names, got ('edge', 3)"),
    ({"motifs": ()}, "motifs must name at least one of them, got none"),
    ({"stopping": "los"}, f"{STOPPING}, got 'los'; did you mean 'loss'?"),
    ({"scope": "pair"}, "scope must be one of edges, pairs, got 'pair'; did you mean 'pairs'?"),
    ({"features": "motif"}, f"{FEATURES}, got 'motif'; did you mean 'motifs'?"),
    ({"device": "tpu"}, "device must be one of cpu, cuda, mps, got 'tpu'"),
]
OF_MCN: list[tuple[dict[str, Any], str]] = [
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
    ({"advantage": "men"}, "advantage must be one of none, mean, learned, got 'men'; did you mean 'mean'?"),
    ({"attention": "papr"}, "attention must be one of paper, gated, got 'papr'; did you mean 'paper'?"),
    ({"attention": "probed"}, "attention must be one of paper, gated, got 'probed'"),
    ({"psi_prior": "sofmax"}, "psi_prior must be one of softmax, product, got 'sofmax'"),
    ({"class_priors": "test"}, "class_priors must be one of none, validation, got 'test'"),
    ({"neighbours": (0,)}, "neighbours must be integers of at least 1, or -1 for all, got 0"),
    ({"neighbours": ("ten",)}, "neighbours must be integers of at least 1, or -1 for all, got 'ten'"),
    ({"neighbours": ()}, "neighbours must have at least one number, got none"),
    ({"neighbours": (5, 5, 5)}, "neighbours has 3 numbers, but there are 2 layers"),
    ({"batch_size": 0}, "batch_size must be an integer of at least 1, got 0"),
    ({"batch_size": 8, "psi_prior": "product"}, "batch_size 8 does not go with psi_prior product"),
    ({"batch_size": 8, "consistency": 1.0}, "batch_size 8 does not go with consistency 1.0"),
    (
        {"batch_size": 8, "norm": "layer"},
        "batch_size 8 does not go with norm layer: mini-batches gather neighbours by attention",
    ),
]
FULL_BATCH_MIXES = "full_batch mixes after the first layer; it needs batch_norm and row_norm to be false"
OF_VIEWS: list[tuple[dict[str, Any], str]] = [
    ({"drop_neighbours": 1.0}, "drop_neighbours must be a probability below 1, got 1"),
    ({"stop_probability": 0.0}, "stop_probability must be above 0 and at most 1"),
    ({"stop_probability": 1.5}, "stop_probability must be above 0 and at most 1"),
    ({"consistency": None}, "consistency must be a number that is not negative, got None"),
    ({"full_batch": True, "batch_norm": True}, FULL_BATCH_MIXES),
    ({"full_batch": True, "row_norm": True}, FULL_BATCH_MIXES),
]
CANDIDATES = (
    "candidates must be some of counts, dir-sage, dir-sage-3, dir-trees, gat, gcn, linear-views, mcn, mcn-3, "
    "mcn-dir, mlp, motif-trees, sage, sage-3, sage-8, trees, views, a motif or a motif with -sum"
)
OF_AUTO: list[tuple[dict[str, Any], str]] = [
    *(({"candidates": (name,)}, f"{CANDIDATES}, got '{name}'") for name in ("lp", "edge")),
    ({"candidates": ("gcn", "gcn")}, "candidates must differ, got gcn, gcn"),
    ({"minutes": 0}, "minutes must be a positive number, got 0"),
    ({"repeats": 0}, "repeats must be an integer of at least 1, got 0"),
    ({"batch_size": 8, "candidates": ("sage",)}, "batch_size 8 does not go with candidates sage"),
]
WRONG = [(name, *case) for name in RECIPES for case in COMMON]
WRONG += [(name, *case) for name in ("mcn", "paper") for case in OF_MCN if "psi_prior" not in case[0]]
WRONG += [("mcn", *case) for case in OF_MCN if "psi_prior" in case[0]]
WRONG += [("views", *case) for case in OF_VIEWS] + [("auto", *case) for case in OF_AUTO]


@pytest.mark.parametrize(("recipe", "changes", "message"), WRONG, ids=str)
def test_checks(recipe: str, changes: dict[str, Any], message: str) -> None:
    refuses(re.escape(message), settings, recipe, **changes)
    refuses(re.escape(message), settings(recipe).replace, **changes)


@pytest.mark.parametrize("config", CONFIGS)
def test_plain_values_go_to_a_file_and_back(config: type[Settings]) -> None:
    made = config(hidden=np.int64(2), lr=np.float32(0.5), seed=np.int32(3), motifs="triangle")
    assert made == config(hidden=2, lr=0.5, seed=3, motifs=["triangle"])
    assert made.motifs == ("triangle",)
    assert yaml.safe_load(yaml.safe_dump(made.to_dict())) == made.to_dict()
    assert config.from_dict(made.to_dict()) == made
    assert config.from_dict({}) == config()
    assert made.replace(hidden=5) == config(hidden=5, lr=0.5, seed=3, motifs="triangle")
    with pytest.raises(AttributeError):
        made.seed = 3  # type: ignore[misc]
    assert MCN(gate=np.True_, steps=np.int64(2)) == MCN(gate=True, steps=2)
    assert MCN(neighbours=("10", " 5"), num_layers=2).neighbours == (10, 5)
    assert MCN(neighbours=7).neighbours == (7,)


@dataclass(frozen=True, kw_only=True)
class Later(VIEWS):  # type: ignore[misc, valid-type]
    """Views of a later version, with another default and a new setting."""

    hidden: int = 32
    chance: float = setting(0.25, "A new thing.", probability)


def test_the_identity_is_what_is_not_at_its_default() -> None:
    assert VIEWS().identity() == {}
    rule = {"epsilon": 0.3, "advantage": "mean", "gate": True, "consistency": 0.0}  # what `gated` decides
    assert MCN().identity() == rule
    own = {"hidden": 3, "motifs": ["edge"], "gate": False}
    assert MCN(hidden=3, motifs="edge", gate=False).identity() == rule | own
    assert Later(hidden=9).identity() == {"hidden": 9}
    assert Later(chance=0.5).identity() == {"chance": 0.5}


def test_a_changed_default_keeps_sentence_and_check_and_unknown_names_are_told() -> None:
    ours, theirs = declared(Later)["hidden"], declared(VIEWS)["hidden"]
    assert (ours.default, theirs.default, declared(Settings)["hidden"].default) == (32, 64, 8)
    assert (ours.sentence, ours.check, ours.option) == (theirs.sentence, theirs.check, theirs.option)
    refuses("hidden must be an integer of at least 1, got 0", Later, hidden=0)
    for name, hint in {"walk_lenght": r"; did you mean 'walk_length'\?", "zzz": "", "steps": ".*"}.items():
        refuses(f"^unknown setting '{name}'{hint}$", VIEWS.from_dict, {name: 3})
    refuses(r"^unknown setting 'dropuot'; did you mean 'dropout'\?", MCN().replace, dropuot=0.5)


def test_numbers_at_the_edge_and_a_long_value_that_is_not_repeated_in_full() -> None:
    assert probability("p", 1) == 1.0
    assert probability("p", 0) == 0.0
    assert positive("x", 1e-300) == 1e-300
    for bad in (float("inf"), float("nan"), 10**400, "1", None, True):
        refuses("p must be a probability", probability, "p", bad)
    assert len(refuses(r"^lr must be a positive number, got '9+…$", MCN, lr="9" * 10_000)) < 150


@pytest.mark.parametrize("attention", ATTENTION)
def test_a_rule_of_attention_brings_its_settings(attention: str) -> None:
    config = MCN(attention=attention)
    for name, value in ATTENTION[attention].items():
        assert getattr(config, name) == value
    assert MCN(attention=attention, epsilon=0.5).epsilon == 0.5
    for other in ATTENTION:
        assert config.replace(attention=other) == MCN(attention=other)


def test_the_rules_by_hand_whether_there_is_a_choice_and_the_recipe_paper() -> None:
    def rule(config: Any) -> tuple[Any, ...]:
        return config.attention, config.epsilon, config.advantage, config.gate, config.consistency

    assert rule(MCN()) == ("gated", 0.3, "mean", True, 0.0)
    assert rule(MCN(attention="paper")) == ("paper", 0.1, "none", False, 0.0)
    for changes in ({}, {"motifs": ("edge",), "steps": 2}):
        assert MCN(**changes).chooses is True
    for changes in ({"motif_attention": False}, {"motifs": ("edge",)}):
        assert MCN(**changes).chooses is False
    assert settings("paper").to_dict() == MCN(attention="paper").to_dict()
    own = settings("paper", steps=3, lr=0.1)
    assert own.to_dict() == MCN(attention="paper", steps=3, lr=0.1).to_dict()
    assert RECIPES["paper"].work is RECIPES["mcn"].work


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0.3}, "epsilon is 0.1 in the recipe paper, got 0.3; the recipe mcn can change it"),
        ({"attention": "gated"}, "attention is paper in the recipe paper, got gated"),
        ({"features": "motifs"}, "features is given in the recipe paper, got motifs"),
        ({"features": "both"}, "features is given in the recipe paper, got both"),
        ({"class_priors": "validation"}, "class_priors is none in the recipe paper, got validation"),
        ({"advantage": "mean"}, "advantage is none in the recipe paper, got mean"),
        ({"gate": True}, "gate is False in the recipe paper, got True"),
        ({"consistency": 1.0}, "consistency is 0.0 in the recipe paper, got 1.0"),
    ],
    ids=str,
)
def test_what_the_paper_fixes(changes: dict[str, Any], message: str) -> None:
    for make in (lambda: settings("paper", **changes), lambda: settings("paper").replace(**changes)):
        refuses(re.escape(message), make)


def test_how_training_stops_in_words() -> None:
    assert MCN().protocol == "weights kept by validation accuracy and loss, patience 100"
    by_area = MCN(stopping="accuracy", metric="roc-auc").protocol
    assert by_area.startswith("weights kept by validation roc-auc,")
    assert VIEWS(steps_per_epoch=7).protocol == "weights kept by validation loss, patience 100 × 7 steps"
    auto = settings("auto", candidates=("mlp", "gcn"), repeats=1, minutes=2, metric="accuracy").protocol
    assert auto == (
        "the best of mlp, gcn, or a weighted mean of several, by accuracy on held-out validation nodes; one "
        "run each in 2 minutes of one core's processor time"
    )


def test_the_recipes_and_their_settings() -> None:
    assert list(RECIPES) == ["mcn", "paper", "views", "trees", "auto"]  # the first is the default
    for name, recipe in RECIPES.items():
        assert recipe.name == recipe.config.recipe == name
        assert work_of(recipe.config()) is recipe.work
    everywhere = all_settings()
    assert [recipe.name for recipe, _ in everywhere["lr"]] == ["mcn", "paper", "views", "trees", "auto"]
    assert [recipe.name for recipe, _ in everywhere["steps"]] == ["mcn", "paper"]
    for name, having in everywhere.items():  # one option of the command line means the same to all of them
        assert len({(one.option, one.kind, one.sentence) for _, one in having}) == 1, name


def test_only_the_folder_of_a_recipe_names_its_config_class() -> None:
    """Nothing asks which recipe it has: what a recipe does differently, its own modules say."""
    package = Path(mcn.__file__).parent
    sources = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    for recipe in RECIPES.values():
        name, folder = recipe.config.__name__, package.parent.joinpath(*recipe.home.split(".")[:-1])
        naming = {path for path, text in sources.items() if re.search(rf"\b{name}\b", text)}
        assert folder / "config.py" in naming
        assert {path for path in naming if path.parent != folder} == set(), name
