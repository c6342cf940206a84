"""What a setting is: a typed field with its sentence, check and default, declared in one place.

The options of the command line, the parameters of the estimators, the page of settings in the docs and the
command that repeats a run are all made from these declarations.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self, Union, get_args, get_origin, get_type_hints

from graphmotifs._messages import did_you_mean, one_of, told
from mcn._numbers import is_finite
from mcn.train.metrics import METRICS, SKEWED
from mcn.train.stopping import RULES

if TYPE_CHECKING:
    from mcn.motifs import MotifCounts
    from mcn.train.problem import Problem

BATCH_SIZE = 1024
"""Nodes per step where the full batch does not fit and no batch size was given."""
Check = Callable[[str, Any], Any]
"""Takes a setting's name and a value; returns the plain value, or raises a ValueError."""


@dataclass(frozen=True)
class Setting:
    """A declared setting.

    Attributes:
        name, default: of the field.
        kind: int, float, bool, str, or tuple for a list of names.
        optional: whether None is allowed.
        sentence: what it does.
        check: makes sure of a value.
        option: its flag on the command line without the dashes; None if it is set by ``--set name=value``.
        group: the heading it stands under in the docs.
    """

    name: str
    default: Any
    kind: type
    optional: bool
    sentence: str
    check: Check
    option: str | None
    group: str

    @property
    def _nothing(self) -> str:
        """The word for None; where values are words, "none" may be one of them."""
        return "null" if self.kind is str else "none"

    def parse(self, text: str) -> Any:
        """Return the value that a user typed.

        Raises:
            ValueError: the text is not a value of this kind.
        """
        word = text.strip()
        if self.optional and word.lower() in (self._nothing, "null", ""):
            return None
        if self.kind is tuple:
            return tuple(name.strip() for name in word.split(",") if name.strip())
        if self.kind is bool:
            truth = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
            if word.lower() not in truth:
                raise ValueError(f"{self.name} must be true or false, got {told(text)}")
            return truth[word.lower()]
        try:
            return self.kind(word)
        except ValueError:
            what = "an integer" if self.kind is int else "a number"
            raise ValueError(f"{self.name} must be {what}, got {told(text)}") from None

    def show(self, value: Any) -> str:
        """Return the text that `parse` reads as `value`."""
        if value is None:
            return self._nothing
        if self.kind is tuple:
            return ",".join(map(str, value))
        return str(value).lower() if self.kind is bool else str(value)


def setting(
    default: Any, sentence: str, check: Check, *, option: str | None = None, group: str = "training"
) -> Any:
    """Declare a setting as a field of a `Settings` class; see `Setting` for the arguments."""
    about = {"sentence": sentence, "check": check, "option": option, "group": group}
    return dataclasses.field(default=default, metadata=about)


def at_least(least: int, most: int = 2**31 - 1) -> Check:
    """Check for an integer of at least `least` and at most `most`, NumPy's included."""

    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}, got {told(value)}")
        if int(value) > most:
            raise ValueError(f"{name} must be at most {most:,}, got {told(value)}")
        return int(value)

    return check


def _number(what: str, allowed: Callable[[float], bool]) -> Check:
    def check(name: str, value: Any) -> float:
        if not is_finite(value) or not allowed(value):
            raise ValueError(f"{name} must be {what}, got {told(value)}")
        return float(value)

    return check


probability = _number("a probability", lambda value: 0 <= value <= 1)
below_one = _number("a probability below 1", lambda value: 0 <= value < 1)
positive = _number("a positive number", lambda value: value > 0)
share = _number("above 0 and at most 1", lambda value: 0 < value <= 1)
not_negative = _number("a number that is not negative", lambda value: value >= 0)


def flag(name: str, value: Any) -> bool:
    """Check for True or False."""
    if type(value).__name__ not in ("bool", "bool_"):  # NumPy's too, without importing it
        raise ValueError(f"{name} must be True or False, got {told(value)}")
    return bool(value)


def choice_of(*allowed: str) -> Check:
    """Check for one of some names."""

    def check(name: str, value: Any) -> str:
        if value not in allowed:
            one_of(name, value, allowed)  # which says the nearest
        return str(value)

    return check


def text(name: str, value: Any) -> str:
    """Check for a text; the code that uses it knows which texts it may be."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a name, got {told(value)}")
    return value


def names(name: str, value: Any) -> tuple[str, ...]:
    """Check for a list of at least one name; a single name counts as a list of one."""
    if not isinstance(value, str | Sequence) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"{name} must be a list of names, got {told(value)}")
    found = (value,) if isinstance(value, str) else tuple(value)
    if not found:
        raise ValueError(f"{name} must name at least one of them, got none")
    return found


def fan_outs(name: str, value: Any) -> tuple[int, ...]:
    """Check for a list of integers of at least 1, or -1; a single one counts as a list of one."""
    found = (value,) if isinstance(value, str | Integral) else value
    plain = []
    for each in found if isinstance(found, Sequence) else [found]:
        word = str(each).strip()
        if isinstance(each, bool) or not word.lstrip("-").isdigit() or (int(word) < 1 and int(word) != -1):
            raise ValueError(f"{name} must be integers of at least 1, or -1 for all, got {told(each)}")
        plain.append(int(word))
    if not plain:
        raise ValueError(f"{name} must have at least one number, got none")
    return tuple(plain)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings that every recipe has; each recipe's class adds its own and may change the defaults."""

    recipe: ClassVar[str]
    compared: ClassVar[Mapping[str, Any]] = {}
    """Changes of settings beside other methods, so that all of them learn from the same nodes."""

    motifs: tuple[str, ...] = setting(
        ("edge", "triangle"),
        "Motifs whose neighbourhoods the network uses, separated by commas: edge,triangle.",
        names,
        option="motifs",
        group="graph",
    )
    scope: str = setting(
        "edges",
        "Pairs of nodes that motif counts are about: edges, or pairs for nodes that a motif joins without an "
        "edge.",
        choice_of("edges", "pairs"),
        group="graph",
    )
    features: str = setting(
        "given",
        "Input of the first layer: given (the graph's own features), motifs (15 motif counts per node, log, "
        "standardised) or both.",
        choice_of("given", "motifs", "both"),
        option="features",
        group="graph",
    )
    hidden: int = setting(8, "Hidden units (per head).", at_least(1), option="hidden", group="network")
    num_layers: int = setting(2, "Number of layers.", at_least(1, 1000), option="layers", group="network")
    dropout: float = setting(0.6, "Dropout probability.", below_one, option="dropout", group="network")
    lr: float = setting(
        0.005, "Learning rate: of Adam, or what a tree adds is multiplied by.", positive, option="lr"
    )
    weight_decay: float = setting(
        0.0005, "L2 regularisation of every parameter.", not_negative, option="weight-decay"
    )
    consistency: float | None = setting(
        0.0, "Weight of the agreement between several passes over the same nodes.", not_negative
    )
    consistency_ramp: int = setting(
        100, "Epochs (steps, with views) until consistency has its full weight.", at_least(0)
    )
    temperature: float = setting(
        0.5, "Sharpness of what the passes are to agree on; smaller is sharper.", positive
    )
    max_epochs: int = setting(
        5_000, "Stop after so many epochs at the latest.", at_least(1), option="max-epochs"
    )
    patience: int = setting(
        100, "Stop after so many epochs without progress.", at_least(1), option="patience"
    )
    stopping: str = setting(
        "gat",
        "What counts as progress on validation nodes: gat (the metric and the loss), gat-accuracy (the "
        "metric alone, as good as the best will do), accuracy (the metric alone, better than the best) or "
        "loss.",
        choice_of(*RULES),
        option="stopping",
    )
    metric: str = setting(
        "accuracy",
        f"Validation score to stop and to choose by: {', '.join(METRICS)}. The recipe auto, if not told, "
        f"takes roc-auc where one of two classes has {SKEWED} times as many nodes as the other, and accuracy "
        "elsewhere.",
        choice_of(*METRICS),
        option="metric",
    )
    class_weight: str = setting(
        "none",
        "Weight of a training node in the loss: none, or balanced (every class weighs the same in all).",
        choice_of("none", "balanced"),
        option="class-weight",
    )
    device: str = setting(
        "cpu",
        "Where the network is trained: cpu, cuda or mps. Predictions are made on the CPU.",
        choice_of("cpu", "cuda", "mps"),
        option="device",
    )
    seed: int = setting(0, "Seed that decides everything random.", at_least(0, 2**63 - 1))

    def __post_init__(self) -> None:
        self._resolve()
        for one in declared(type(self)).values():
            value = getattr(self, one.name)
            if value is not None or not one.optional:
                object.__setattr__(self, one.name, one.check(one.name, value))
        self._agree()

    def _resolve(self) -> None:
        """Fill in settings that others decide, before the checks."""

    def _agree(self) -> None:
        """Refuse settings that do not go together, after the checks of single ones."""

    @property
    def protocol(self) -> str:
        """Say how training stops and which weights are kept."""
        metric = f"validation {self.metric}"
        rule = {"gat": f"{metric} and loss", "loss": "validation loss"}
        rule |= {"accuracy": metric, "gat-accuracy": f"{metric} (the last of the best epochs)"}
        return f"weights kept by {rule[self.stopping]}, patience {self.patience}"

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> Self:
        """Build from plain values, as read from YAML.

        Raises:
            ValueError: a name is not known, or a value is not allowed.
        """
        cls._check_names(settings)
        return cls(**settings)

    @classmethod
    def _check_names(cls, settings: dict[str, Any]) -> None:
        known = declared(cls)
        for name in settings:
            if name not in known:
                raise ValueError(f"unknown setting {told(name)}{did_you_mean(name, known)}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for YAML and JSON."""
        values = dataclasses.asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def identity(self) -> dict[str, Any]:
        """Return the settings that are not as declared, such as a preset states."""
        plain = self.to_dict()
        return {
            one.name: plain[one.name]
            for one in declared(type(self)).values()
            if getattr(self, one.name) != one.default
        }

    def settled(self, problem: Problem) -> Self:
        """Return these settings with the metric that suits the task and its known targets."""
        metric = problem.task.settled_metric(self.metric, problem.known.targets)
        return self if metric == self.metric else self.replace(metric=metric)

    def full_batch_bytes(self, counts: MotifCounts) -> int | None:
        """Estimate the memory that training on the whole graph takes; None where there is no other way."""
        return None

    def for_disk(self, given: Collection[str]) -> Settings:
        """Return settings like these that a graph on disk can be trained with.

        Args:
            given: names of the settings that the user gave, "recipe" among them if it was.

        Raises:
            ValueError: the recipe needs the graph in memory.
        """
        raise ValueError(
            f"the recipe {self.recipe} needs the graph in memory, where it does not fit; leave the recipe "
            "out, or give --recipe mcn"
        )

    def replace(self, **changes: Any) -> Self:
        """Return the same settings with some changed.

        Raises:
            ValueError: a name is not known, or a value is not allowed.
        """
        self._check_names(changes)
        return dataclasses.replace(self, **changes)


@dataclass(frozen=True, kw_only=True)
class BatchedSettings(Settings):
    """Settings of a recipe whose network can be trained in mini-batches."""

    batch_size: int | None = setting(
        None,
        "Training nodes per step, with neighbours drawn at random; all of them at once if not given.",
        at_least(1),
        option="batch-size",
    )
    neighbours: tuple[int, ...] = setting(
        (10,),
        "Neighbours that a node draws in a batch: one number, or one per layer from the last to the first, "
        "separated by commas; -1 for all of them.",
        fan_outs,
        option="neighbours",
    )
    loader_workers: int = setting(
        0, "Processes that draw batches ahead of training; 0 for none.", at_least(0)
    )


_declared: dict[type[Settings], dict[str, Setting]] = {}


def declared(config: type[Settings]) -> dict[str, Setting]:
    """Return the settings of a configuration by name.

    A subclass that only changes a default need not repeat the sentence and the check: they are those of the
    nearest class above it that declares them.
    """
    if config not in _declared:
        _declared[config] = _read(config)
    return _declared[config]


def _read(config: type[Settings]) -> dict[str, Setting]:
    hints = get_type_hints(config)
    found = {}
    for field in dataclasses.fields(config):
        kind, optional = _kind(hints[field.name])
        about = next(
            own.metadata
            for base in config.__mro__
            if (own := getattr(base, "__dataclass_fields__", {}).get(field.name)) and own.metadata
        )
        found[field.name] = Setting(field.name, field.default, kind, optional, **about)
    return found


def _kind(hint: Any) -> tuple[type, bool]:
    """Return the plain type of an annotation, and whether it admits None."""
    if get_origin(hint) in (Union, types.UnionType):
        inner = [each for each in get_args(hint) if each is not type(None)]
        return _kind(inner[0])[0], True
    return get_origin(hint) or hint, False
