"""The settings of a model selection."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from mcn._composition import check_composition
from mcn.train.settings import (
    BATCH_SIZE,
    BatchedSettings,
    Settings,
    at_least,
    flag,
    names,
    positive,
    setting,
    text,
)

if TYPE_CHECKING:
    from mcn.motifs import MotifCounts
    from mcn.train.problem import Problem

NETWORKS = (
    *("mlp", "counts", "trees", "motif-trees", "gcn", "sage", "gat", "mcn"),
    *("sage-3", "sage-8", "mcn-3", "views", "linear-views"),
)
"""Candidates that are not named after the motif whose neighbourhood they use."""
CANDIDATES = (*NETWORKS[:7], "triangle-sum", "triangle", *NETWORKS[7:])
"""What is tried unless told otherwise, cheap ones first."""
DIRECTED = ("dir-trees", "dir-sage", "dir-sage-3", "mcn-dir")
"""What is tried beside these on a graph whose direction is used."""
_WHOLE_GRAPH = ("sage", "sage-3", "sage-8", "mcn-3", "dir-sage", "dir-sage-3")
"""Candidates that mini-batches do not have."""


def _candidates(name: str, value: Any) -> tuple[str, ...]:
    from graphmotifs.catalogue import MOTIFS  # here, because options are listed without it
    from mcn.motifs.neighbourhoods import directed_neighbourhood

    wanted = names(name, value)
    for candidate in wanted:
        if candidate in (*NETWORKS, *DIRECTED):
            continue
        motif = candidate.removesuffix("-sum")
        if candidate == "edge" or not (motif in MOTIFS or directed_neighbourhood(motif)):
            known = ", ".join(sorted((*NETWORKS, *DIRECTED)))
            raise ValueError(
                f"{name} must be some of {known}, a motif or a motif with -sum, got {candidate!r}"
            )
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"{name} must differ, got {', '.join(wanted)}")
    return wanted


@dataclass(frozen=True, kw_only=True)
class AutoConfig(BatchedSettings):
    """Settings of a selection among candidates.

    A setting of the networks that is None is left to each candidate; one that is given goes to all candidates
    that have it.
    """

    recipe: ClassVar[str] = "auto"
    compared: ClassVar[Mapping[str, Any]] = {"cross_fit": False}

    motifs: tuple[str, ...] | None = None  # type: ignore[assignment]
    scope: str | None = None  # type: ignore[assignment]
    hidden: int | None = None  # type: ignore[assignment]
    num_layers: int | None = None  # type: ignore[assignment]
    dropout: float | None = None  # type: ignore[assignment]
    lr: float | None = None  # type: ignore[assignment]
    weight_decay: float | None = None  # type: ignore[assignment]
    consistency: float | None = None
    consistency_ramp: int | None = None  # type: ignore[assignment]
    temperature: float | None = None  # type: ignore[assignment]
    max_epochs: int | None = None  # type: ignore[assignment]
    patience: int | None = None  # type: ignore[assignment]
    stopping: str | None = None  # type: ignore[assignment]
    neighbours: tuple[int, ...] | None = None  # type: ignore[assignment]
    metric: str | None = None  # type: ignore[assignment]
    candidates: tuple[str, ...] = setting(
        CANDIDATES,
        "What is tried, separated by commas: mlp (features alone), counts (motif counts alone), trees, "
        "motif-trees, gcn, sage, gat, mcn, deeper ones (sage-3, sage-8, mcn-3), views, linear-views, and "
        "attention over a motif (triangle) or its sum (triangle-sum). Where direction is used also "
        "dir-trees, dir-sage, dir-sage-3 and mcn-dir, which tell the nodes that a node points to from those "
        "that point to it.",
        _candidates,
        option="candidates",
    )
    minutes: float = setting(
        5.0,
        "Minutes of one core's processor time to train in; by the clock it ends after 1.5 times as long.",
        positive,
        option="minutes",
    )
    repeats: int | None = setting(
        None,
        "Runs of each candidate at most, but for those that are clearly behind; if not given, as many as the "
        "minutes allow. The first 16 predict together, further ones help to choose.",
        at_least(1, 1000),
    )
    schedule: str | None = setting(
        None,
        "Folder of a finished run of auto: train its candidates for as many epochs as they had there, "
        "whatever the time. With the same graph, settings and seed that gives the same bits again.",
        text,
        option="schedule",
    )

    cross_fit: bool = setting(
        True,
        "Let validation nodes teach too, where chance drew the split and training nodes are not the fewer: "
        "further runs train on four fifths of both, and are judged by the last fifth.",
        flag,
    )
    propagate: bool = setting(
        True,
        "Let known labels nearby correct predictions where held-out nodes confirm that it helps.",
        flag,
    )

    def _agree(self) -> None:
        if self.batch_size is not None:
            if self.candidates == CANDIDATES:
                usual = tuple(name for name in CANDIDATES if name not in _WHOLE_GRAPH)
                object.__setattr__(self, "candidates", usual)
            whole = [name for name in self.candidates if name in _WHOLE_GRAPH]
            named = whole and f"candidates {', '.join(whole)}"
            batched = f"batch_size {self.batch_size}"
            check_composition({"mini-batches": batched, "candidates of whole graphs": named})
            self.given_to("mcn")

    @property
    def protocol(self) -> str:
        """Say how it is decided what predicts."""
        runs = "one run each" if self.repeats == 1 else "several runs each"
        metric = self.metric or "accuracy (of two skewed classes roc-auc)"
        return (
            f"the best of {', '.join(self.candidates)}, or a weighted mean of several, by {metric} on "
            f"held-out validation nodes; {runs} in {self.minutes:g} minutes of one core's processor time"
        )

    def settled(self, problem: Problem) -> Self:
        """Return these settings with the metric that suits, and with directed candidates where they fit."""
        config = super().settled(problem)
        if self.metric is None:  # the usual one may not be defined on these validation nodes
            task, val = problem.task, problem.val_labels.numpy()
            guess = task.guess(val)[None].repeat(len(val), 0)
            usual = [str(config.metric), *task.metrics]
            defined = [name for name in usual if task.merit(name, guess, val) is not None]
            config = config.replace(metric=[*defined, usual[0]][0])
        if config.candidates == CANDIDATES and problem.inputs.data.get("directed"):
            return config.replace(candidates=(*CANDIDATES, *DIRECTED))
        return config

    def given_to(self, recipe: str) -> Settings:
        """Return the configuration of a recipe with the settings that were given here and that it has."""
        from mcn.train.recipes import find_recipe
        from mcn.train.select.candidates import USUAL

        return find_recipe(recipe).config.from_dict(USUAL[recipe] | self.given(recipe))

    def given(self, recipe: str) -> dict[str, Any]:
        """Return the settings that were given and that a recipe has, but for the seed."""
        from mcn.train.recipes import find_recipe
        from mcn.train.settings import declared

        known = declared(find_recipe(recipe).config)
        return {
            one.name: getattr(self, one.name)
            for one in declared(BatchedSettings).values()
            if one.name in known and one.name != "seed" and getattr(self, one.name) is not None
        }

    def full_batch_bytes(self, counts: MotifCounts) -> int | None:
        """Estimate the memory of the largest candidate, which is MCN; None if batches were asked for."""
        return None if self.batch_size is not None else self.given_to("mcn").full_batch_bytes(counts)

    def for_disk(self, given: Collection[str]) -> Settings:
        """Return the settings of MCN alone: a selection needs the graph in memory.

        Raises:
            ValueError: the user asked for the selection by name, or for a setting that MCN lacks.
        """
        if "recipe" in given:
            return super().for_disk(given)
        from mcn.train.recipes import check_settings, find_recipe

        chosen = {name: getattr(self, name) for name in given}
        recipe = find_recipe("mcn")
        check_settings(recipe, chosen)
        return recipe.config.from_dict({"batch_size": BATCH_SIZE, "seed": self.seed} | chosen)


CONFIGS = {
    AutoConfig: "several candidates, MCN among them; held-out nodes decide which of them predict",
}
"""The recipes of this folder: their settings, and a sentence on each."""
