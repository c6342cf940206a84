"""Training candidates in turn, and deciding between them on held-out nodes."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mcn.train.held_out import folds_of
from mcn.train.loop import Epoch, FitResult, Scores, Trainer, below
from mcn.train.metrics import merit
from mcn.train.probes.choose import (
    CAUTION,
    FEWEST,
    NOTHING,
    Chooser,
    Evidence,
    Float,
    assess,
    best_temperature,
    blend,
    blend_gain,
    calibrated,
    fit_chooser,
    held_out_blend,
    rewards,
)
from mcn.train.probes.network import BLEND, GRAPH, NODES, REFIT, Chosen, Decision
from mcn.train.probes.plan import REFITS, Plan, Probe, options_of
from mcn.train.probes.room import Room, reachable
from mcn.train.probes.words import choosing_sentence
from mcn.train.problem import Problem
from mcn.train.processes import team
from mcn.train.recipes import work_of

CHOOSABLE = ("accuracy", "balanced-accuracy")
"""Metrics that are a mean over nodes, so that a node's own reward says something of them."""
_CLEARLY = 2.0  # standard errors


@dataclass
class ProbesTrainer(Trainer):
    """Candidates are trained one after the other, first each once, then with further seeds.

    With a budget of time, a candidate has in the first round its share of what is left, so that none keeps
    the others from being tried; later a run is begun only if, by what the runs before it took, it ends within
    the budget. A run that is still going when its time is over ends there with the best weights it had.

    A candidate that is clearly behind another ends when its score has not risen for its patience, whatever
    its loss does.

    The winner for the whole graph is the candidate with the best mean held-out score (`mcn.train.held_out`)
    over the seeds that it shares with all others; of equals the earlier, cheaper one. Of each candidate the
    run with the best held-out score is kept.

    Instead of the winner a blend of candidates predicts, the same for all nodes, unless the best candidate is
    better when both are found on other nodes than they are judged on (`blend_gain`).

    Then every kept candidate's rewards on the held-out nodes decide whether nodes choose for themselves (see
    `mcn.train.probes.choose`). If they do, networks with the winner's settings are trained on the rows that
    nodes chose: in all layers, in the first only, in the last only (`mcn.train.probes.plan.REFITS`). The
    first is kept unless another is better by more than a standard error; it predicts if it is better on
    held-out nodes than the candidates' own predictions.
    """

    config: Any
    runs: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plan: Plan = self.config.plan()
        self._kept: dict[str, dict[str, torch.Tensor]] = {}
        self._held: dict[str, torch.Tensor] = {}
        self._queue = [(probe.name, i) for i in range(self.plan.repeats) for probe in self.plan.probes]
        self._labels = self.problem.val_labels.numpy()
        self._current: Trainer | None = None
        self._verdict: _Verdict | None = None
        self._best_score, self._risen = -math.inf, 0
        self._begin()

    @property
    def progress(self) -> float:
        """How much of the work, or of the time, is done."""
        if self.stopped:
            return 1.0
        done = len(self.runs) / (len(self.runs) + len(self._queue) + 1)
        if self._current is not None:
            done += self._current.progress / (len(self.runs) + len(self._queue) + 1)
        used = 0.0 if self.plan.minutes is None else self.seconds / (60 * self.plan.minutes)
        return min(0.99, max(done, used))

    def _begin(self) -> None:
        """Start the next run that the time allows; after the last candidate decide; after that stop."""
        while self._queue:
            self._name, self._repeat = self._queue.pop(0)
            before = [run["seconds"] for run in self.runs if run["candidate"] == self._name]
            expected = float(np.mean(before)) if before else 0.0
            left = math.inf if self.plan.minutes is None else 60 * self.plan.minutes - self.seconds
            untried = sum(repeat == 0 for _, repeat in self._queue) + 1
            self._until = self.seconds + (left / untried if self._repeat == 0 else left)
            if left > 0 and expected <= left:
                self._current = self._candidate()
                return
        self._current = None
        if self._verdict is None:
            self._verdict = self._decide()
            if self._verdict.evidence[0].used and self._verdict.refits:
                self._queue += [(name, 0) for name in self._verdict.refits]
                self._begin()
                return
        self.stopped = True

    def _probe(self, name: str) -> Probe:
        if name in REFITS:
            assert self._verdict is not None
            return self._verdict.refits[name]
        return self.plan.probe(name)

    def _candidate(self) -> Trainer:
        """Make a fresh training run of the candidate whose turn it is."""
        self._best_score, self._risen = -math.inf, 0
        probe = _seeded(self._probe(self._name), self.config.seed * 1000 + self._repeat)
        inputs = self.problem.inputs
        if self._name in REFITS:
            assert self._verdict is not None
            own = inputs.chosen(probe, self._verdict.options(inputs.node_state))
        else:
            own = inputs.of(probe)
        found = work_of(probe.config).trainer(Problem(own, self.problem.known), probe.config)
        found.hold_out(self.config.seed)
        return found

    def run_epoch(self) -> Epoch:
        """Train the current candidate for an epoch; take up the next one when it is done."""
        current = self._current
        assert current is not None
        before = current.seconds
        found = current.run_epoch()
        # Several processes must agree on when the time is over: the first one's clock counts.
        current.seconds = team().from_first(lambda: current.seconds)
        self.epoch += 1
        self.seconds += current.seconds - before
        if found.val_score > self._best_score:
            self._best_score, self._risen = found.val_score, current.epoch
        if current.stopped or self.seconds >= self._until or self._outrun(current):
            self._end(current)
        return found._replace(epoch=self.epoch)

    def _outrun(self, current: Trainer) -> bool:
        """Whether a candidate is clearly behind another, and its score no longer rises.

        A loss that falls ever more slowly would keep it going for thousands of epochs.
        """
        if self.config.metric not in CHOOSABLE or self._name in REFITS:
            return False
        if current.epoch - self._risen < current.config.patience:
            return False
        leader = max((float(run["score"]) for run in self.runs), default=0.0)
        error = math.sqrt(max(leader * (1 - leader), 0.0) / len(self._labels))
        return leader - self._best_score > _CLEARLY * error

    def _end(self, current: Trainer) -> None:
        result, held = current.finish(), current.held_out
        assert held is not None
        others = [run["held_out"] for run in self.runs if run["candidate"] == self._name]
        own = self._score(held.logits)
        self.runs.append(
            {
                "candidate": self._name,
                "seed": current.config.seed,
                "held_out": own,
                "score": result.val_score,
                "accuracy": result.val_accuracy,
                "loss": result.val_loss,
                "epochs": result.epochs,
                "best_epoch": result.best_epoch,
                "seconds": result.seconds,
                "cut": not current.stopped and self.seconds >= self._until,
                "outrun": not current.stopped and self.seconds < self._until,
            }
        )
        if not others or own > max(others):
            self._kept[self._name] = {k: v.detach().clone() for k, v in current.model.state_dict().items()}
            self._held[self._name] = held.logits.clone()
        self._begin()

    def _score(self, logits: torch.Tensor) -> float:
        """The metric on held-out predictions."""
        return self._merit(logits.softmax(1).numpy(), self._labels)

    def _merit(self, probabilities: NDArray[Any], labels: NDArray[np.int64]) -> float:
        """The metric, more being better; accuracy where it is not defined."""
        found = merit(self.config.metric, probabilities, labels)
        return float((probabilities.argmax(1) == labels).mean()) if found is None else found

    def _decide(self) -> _Verdict:
        """Find the winner for the whole graph, and whether nodes choose for themselves.

        The matrices are small: more threads of BLAS would cost more than they do, and change the last bits.
        """
        with threadpool_limits(1, "blas"):
            return self._judge_all()

    def _judge_all(self) -> _Verdict:
        names = [probe.name for probe in self.plan.probes if probe.name in self._kept]
        table, fold = self.table(), folds_of(self._labels, self.config.seed)
        logits = [self._held[name].numpy().astype(np.float64) for name in names]
        probabilities = [calibrated(each, self._labels, fold) for each in logits]
        reward, right = self._rewards(probabilities)
        state = np.asarray(self.problem.inputs.node_state[self.problem.val])
        evidence, chooser, room = (NOTHING, NOTHING), None, Room(0.0, 0.0, 0.0)
        refits: dict[str, Probe] = {}
        if self.config.metric in CHOOSABLE and len(names) > 1:
            evidence = assess(state, reward, right, self.config.seed)
            chooser = fit_chooser(state, reward, self.config.seed)
            refits = self._refits(names, table)
            room = reachable(np.stack(probabilities), state, self._labels, self.config.seed)
        blended = self._blend(names, np.stack(probabilities), fold)
        return _Verdict(names, table[0]["candidate"], evidence, chooser, refits, room, blended, self.plan)

    def _blend(self, names: list[str], probabilities: Float, fold: NDArray[np.int64]) -> _Blend | None:
        """Return the blend of the candidates; None where the best of them is better, or nodes are too few."""
        if len(names) < 2 or len(self._labels) < FEWEST:
            return None
        shares = blend(probabilities, self._labels)
        if shares.max() == 1.0 or blend_gain(probabilities, self._labels, self._merit, self.config.seed) < 0:
            return None
        return _Blend(shares, held_out_blend(probabilities, self._labels, fold))

    def _rewards(self, probabilities: list[Float]) -> tuple[Float, Float]:
        """Rewards and rightness; for balanced accuracy a node weighs by how rare its class is."""
        reward = rewards(probabilities, self._labels)
        right = np.stack([p.argmax(1) == self._labels for p in probabilities], 1).astype(np.float64)
        if self.config.metric == "balanced-accuracy":
            counts = np.bincount(self._labels)
            weight = (len(self._labels) / ((counts > 0).sum() * np.maximum(counts, 1)))[self._labels]
            reward, right = reward * weight[:, None], right * weight[:, None]
        return reward, right

    def _refits(self, names: list[str], table: list[dict[str, Any]]) -> dict[str, Probe]:
        """Networks on chosen rows, with the settings of the best candidate that hears neighbours."""
        for row in table:
            probe = self.plan.probe(row["candidate"])
            if probe.option is not None and probe.option >= self.plan.steps and probe.name in names:
                batched, layers = (
                    self.config.batch_size is not None,
                    int(probe.config.to_dict()["num_layers"]),
                )
                # Mini-batches have one matrix; one layer is the first and the last.
                tried = REFITS[:1] if batched or layers == 1 else REFITS
                return {name: Probe(name, probe.config, probe.option) for name in tried}
        return {}

    def _best_refit(self) -> str | None:
        """Return the refitted network that is kept; None if none was trained.

        Choices in all layers, unless those in one layer are better by more than `CAUTION` standard errors.
        """
        trained = [name for name in REFITS if name in self._held]
        if not trained:
            return None
        _, right = self._rewards([self._held[name].numpy().astype(np.float64) for name in trained])
        best = int(right.mean(0).argmax())
        gap = right[:, best] - right[:, 0]
        clear = gap.mean() > CAUTION * gap.std(ddof=1) / math.sqrt(len(gap))
        return trained[best if clear else 0]

    def finish(self) -> FitResult:
        """Take what was decided; the model then holds every candidate."""
        verdict, problem = self._verdict, self.problem
        assert verdict is not None
        mode = self._mode(verdict)
        refit = self._best_refit() if mode == REFIT else None
        kept = [*verdict.names, *([] if refit is None else [refit])]
        probes = {name: _seeded(self._probe(name), self._best(name)["seed"]) for name in kept}
        networks, temperatures = [], []
        for name in kept:
            own = probes[name].config
            width = problem.inputs.whole if name in REFITS else problem.inputs.of(probes[name])
            net = work_of(own).network(width.in_channels, problem.num_classes, own)
            net.load_state_dict(self._kept[name])
            networks.append(net)
            held = self._held[name].numpy().astype(np.float64)
            temperatures.append(best_temperature(held, self._labels))
        state_width = problem.inputs.node_state.shape[1]
        decision = Decision(mode, verdict.winner, None if refit is None else probes[refit])
        self.model = Chosen([probes[name] for name in verdict.names], networks, decision, state_width)
        self.model.temperatures.copy_(torch.tensor(temperatures))
        if verdict.blend is not None:
            self.model.shares.copy_(torch.from_numpy(verdict.blend.shares))
        if verdict.chooser is not None:
            self.model.set_chooser(verdict.chooser)
        self.model.eval()
        problem.inputs.model = self.model
        best = self._best(verdict.winner if refit is None else refit)
        # Epochs are counted through all runs, as they stand in the log.
        before = sum(run["epochs"] for run in self.runs[: self.runs.index(best)])
        self.best_epoch = before + best["best_epoch"]
        accuracy, score_, loss = best["accuracy"], best["score"], best["loss"]
        if mode == NODES:  # what the choices earn on nodes that they were not fitted on
            accuracy = score_ = verdict.evidence[1].value
        if mode == BLEND:  # likewise, by shares that were not fitted on them
            assert verdict.blend is not None
            held = verdict.blend.held_out
            own_class = np.clip(held[np.arange(len(held)), self._labels], 1e-12, None)
            accuracy, loss = float((held.argmax(1) == self._labels).mean()), float(-np.log(own_class).mean())
            score_ = self._merit(held, self._labels)
        return FitResult(self.epoch, self.best_epoch, accuracy, loss, score_, self.seconds)

    def _best(self, name: str) -> dict[str, Any]:
        own = [run for run in self.runs if run["candidate"] == name]
        return max(own, key=lambda run: float(run["held_out"]))

    def _mode(self, verdict: _Verdict) -> str:
        """The same for all, by one candidate or a blend; or each node's own, by whatever is best held out."""
        if not verdict.evidence[0].used:
            return GRAPH if verdict.blend is None else BLEND
        values = {NODES: verdict.evidence[1].value}
        refit = self._best_refit()
        if refit is not None:
            values[REFIT] = self._right(self._held[refit].numpy().astype(np.float64))
        if verdict.blend is not None:
            values[BLEND] = self._right(verdict.blend.held_out)
        return max((REFIT, NODES, BLEND), key=lambda mode: values.get(mode, -math.inf))

    def _right(self, scores: Float) -> float:
        """Return the share of held-out nodes that are right, weighted as the metric asks."""
        _, right = self._rewards([scores])
        return float(right.mean())

    def table(self) -> list[dict[str, Any]]:
        """Return the candidates, the winner first: mean score, and the paired difference to the winner."""
        by_name: dict[str, list[float]] = {}
        for run in self.runs:
            if run["candidate"] not in REFITS:
                by_name.setdefault(run["candidate"], []).append(float(run["held_out"]))
        shared = min(len(scores) for scores in by_name.values())
        means = {name: float(np.mean(scores[:shared])) for name, scores in by_name.items()}
        places = [probe.name for probe in self.plan.probes]
        order = sorted(means, key=lambda name: (-means[name], places.index(name)))
        rows = []
        for name in order:
            gaps = np.subtract(by_name[order[0]][:shared], by_name[name][:shared])
            error = float(gaps.std(ddof=1) / math.sqrt(shared)) if shared > 1 and name != order[0] else None
            seconds = [run["seconds"] for run in self.runs if run["candidate"] == name]
            rows.append(
                {
                    "candidate": name,
                    "runs": len(by_name[name]),
                    "score": means[name],
                    "behind": float(gaps.mean()),
                    "behind_error": error,
                    "seconds_per_run": float(np.mean(seconds)),
                }
            )
        return rows

    def notes(self) -> dict[str, Any]:
        """Return the table, all runs of the candidates, and the evidence for choosing per node."""
        found: dict[str, Any] = {"candidates": self.table(), "candidate_runs": self.runs}
        if self._verdict is not None and self._verdict.chooser is not None:
            mode = self._mode(self._verdict)
            listens = self._best_refit() if mode == REFIT else None
            found["choosing"] = self._verdict.to_dict() | {"mode": mode, "refit": listens}
        return found

    def remarks(self) -> list[str]:
        """Return what choosing per node is worth, in a sentence."""
        choosing = self.notes().get("choosing")
        return [] if choosing is None else [choosing_sentence(choosing)]

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors: what is kept of each candidate, and the run under way."""
        kept = {f"kept.{name}.{k}": v for name, own in self._kept.items() for k, v in own.items()}
        held = {f"held.{name}": value for name, value in self._held.items()}
        current = {} if self._current is None else self._current.tensors()
        return kept | held | {f"current.{name}": value for name, value in current.items()}

    def state(self) -> dict[str, Any]:
        """All plain values."""
        return {
            "epoch": self.epoch,
            "stopped": self.stopped,
            "seconds": self.seconds,
            "runs": self.runs,
            "queue": self._queue,
            "now": [self._name, self._repeat, None if self._until == math.inf else self._until],
            "risen": [self._best_score if self._risen else None, self._risen],
            "decided": self._verdict is not None,
            "current": None if self._current is None else self._current.state(),
        }

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave; what was decided is decided again, by the same."""
        self.epoch, self.stopped, self.seconds = state["epoch"], state["stopped"], state["seconds"]
        self.runs = state["runs"]
        self._kept = {}
        for name, value in below("kept.", tensors).items():
            candidate, _, rest = name.partition(".")
            self._kept.setdefault(candidate, {})[rest] = value.clone()
        self._held = {name: value.clone() for name, value in below("held.", tensors).items()}
        self._queue = [(name, repeat) for name, repeat in state["queue"]]
        self._name, self._repeat, until = state["now"]
        self._until = math.inf if until is None else until
        self._current = None
        self._verdict = self._decide() if state["decided"] else None
        if state["current"] is not None:
            self._current = self._candidate()
            self._current.load(below("current.", tensors), state["current"])
            best, self._risen = state["risen"]
            self._best_score = -math.inf if best is None else best

    def _make_optimizer(self) -> torch.optim.Optimizer:
        raise AssertionError("each candidate has its own")

    def _learn(self) -> tuple[float, float]:
        raise AssertionError("each candidate learns by itself")

    def _validate(self) -> Scores:
        raise AssertionError("each candidate is validated by itself")

    def final_scores(self) -> Scores:
        """Score the winner."""
        raise AssertionError("`finish` knows the winner's scores")


def _seeded(probe: Probe, seed: int) -> Probe:
    return dataclasses.replace(probe, config=probe.config.replace(seed=seed))


class _Blend(NamedTuple):
    """The share of every candidate, and the probabilities on held-out nodes."""

    shares: Float
    held_out: Float

    def to_dict(self, names: list[str]) -> dict[str, float]:
        return {name: float(share) for name, share in zip(names, self.shares, strict=True) if share > 0}


@dataclass(frozen=True)
class _Verdict:
    """What the held-out nodes said: the winner, and what choosing per node is worth."""

    names: list[str]
    winner: str
    evidence: tuple[Evidence, Evidence]
    chooser: Chooser | None
    refits: dict[str, Probe]
    room: Room
    blend: _Blend | None
    plan: Plan

    def options(self, state: Float) -> NDArray[np.int64]:
        """Return the option in the shared stack that every node takes."""
        assert self.chooser is not None
        probes = [self.plan.probe(name) for name in self.names]
        table = options_of(probes, self.refits[REFITS[0]])
        return np.asarray(table[self.chooser.choose(state)])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the summary of a run."""
        reward, right = self.evidence
        finite = math.isfinite(right.error)
        return {
            "winner": self.winner,
            "used": right.used,
            "gain": right.gain,
            "gain_error": right.error if finite else None,
            "low": right.low if finite else 0.0,
            "high": right.high if finite else None,
            "reward_gain": reward.gain,
            "reward_gain_error": reward.error if finite else None,
            "apparent_room": self.room.apparent,
            "chance_room": self.room.chance,
            "bound": self.room.bound,
            "blend": None if self.blend is None else self.blend.to_dict(self.names),
        }
