"""Training candidates in turn, and deciding between them on held-out nodes."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mcn.train.loop import Epoch, FitResult, Scores, Trainer, below
from mcn.train.probes.choose import best_temperature
from mcn.train.probes.jury import CHOOSABLE, Heard, Jury, Verdict, wide
from mcn.train.probes.network import BLEND, NODES, REFIT, Chosen, Decision
from mcn.train.probes.plan import REFITS, Plan, Probe, options_of
from mcn.train.probes.rounds import Rounds
from mcn.train.probes.standings import clearly_above, several_behind, standings
from mcn.train.probes.words import choosing_sentence
from mcn.train.problem import Problem
from mcn.train.processes import team
from mcn.train.recipes import work_of


@dataclass
class ProbesTrainer(Trainer):
    """Candidates are trained one after the other, first each once, then with further seeds.

    With a budget of time, a candidate has in the first round its share of what is left, so that none keeps
    the others from being tried; later a run is begun only if, by what the runs before it took, it ends within
    the budget. A run that is still going when its time is over ends there with the best weights it had.

    A candidate that is clearly behind another ends when its score has not risen for its patience, whatever
    its loss does; and it sits out further rounds, until the others turn out to be no better.

    The winner for the whole graph is the candidate with the best mean held-out score (`mcn.train.held_out`)
    over its runs; of equals the earlier, cheaper one. All runs of a candidate are kept, and predict together
    by the mean of their probabilities.

    Some of the runs have training and validation nodes that are dealt out anew (`mcn.train.probes.rounds`):
    they are not kept, but their scores are of other nodes and count as much.

    Instead of the winner a blend of candidates predicts, the same for all nodes, unless the best candidate is
    better when both are found on other nodes than they are judged on (`blend_gain`).

    Then every kept candidate's rewards on the held-out nodes decide whether nodes choose for themselves (see
    `mcn.train.probes.choose`). If they do, a network with the winner's settings is trained on the rows that
    nodes chose. It predicts if it is better on held-out nodes than the candidates' own predictions; then such
    networks are trained with the chosen rows in the first layer only and in the last only as well
    (`mcn.train.probes.plan.REFITS`), and take its place if they are clearly better.
    """

    config: Any
    runs: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plan: Plan = self.config.plan()
        self._kept: dict[str, list[dict[str, torch.Tensor]]] = {}
        self._logits: dict[str, list[torch.Tensor]] = {}
        self._dealt: dict[str, dict[int, torch.Tensor]] = {}
        self._rounds = Rounds.of(self.problem.known, self.plan.repeats)
        self._queue = [(probe.name, i) for i in range(self._rounds.total) for probe in self.plan.probes]
        self._jury = Jury(self.problem.val_labels.numpy(), self.config.metric, self.config.seed)
        self._refits: dict[str, Probe] = {}
        self._current: Trainer | None = None
        self._verdict: Verdict | None = None
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
            if self._repeat and self._is_behind(self._name):
                continue
            before = [run["seconds"] for run in self._runs(self._name)]
            expected = float(np.mean(before)) if before else 0.0
            left = math.inf if self.plan.minutes is None else 60 * self.plan.minutes - self.seconds
            untried = sum(repeat == 0 for _, repeat in self._queue) + 1
            self._until = self.seconds + (left / untried if self._repeat == 0 else left)
            if left > 0 and expected <= left:
                self._current = self._candidate()
                return
        self._current = None
        if further := self._further():
            self._queue = [(name, 0) for name in further]
            self._begin()
        else:
            self.stopped = True

    def _further(self) -> list[str]:
        """Return what comes after the candidates: a refit on the chosen rows; where it pays, the others."""
        if self._verdict is None:
            self._verdict = self._decide()
            return list(self._refits)[:1] if self._verdict.evidence[0].used else []
        first, *others = REFITS
        held = self._held
        paid = first in held and self._jury.mode(self._verdict, held) == REFIT
        return [name for name in others if name in self._refits] if self._name == first and paid else []

    def _probe(self, name: str) -> Probe:
        return self._refits[name] if name in REFITS else self.plan.probe(name)

    def _candidate(self) -> Trainer:
        """Make a fresh training run of the candidate whose turn it is."""
        self._best_score, self._risen = -math.inf, 0
        probe = _seeded(self._probe(self._name), self.config.seed * 1000 + self._repeat)
        inputs = self.problem.inputs
        own = inputs.chosen(probe, self._options()) if self._name in REFITS else inputs.of(probe)
        known = self._rounds.known(self.problem.known, self._repeat, self.config.seed)
        found = work_of(probe.config).trainer(Problem(own, known), probe.config)
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
        same = [float(run["score"]) for run in self.runs if run["round"] == self._repeat]
        return clearly_above(max(same, default=0.0), self._best_score, len(self._jury.labels))

    def _is_behind(self, name: str) -> bool:
        """Whether a candidate's runs so far are clearly behind those of another."""
        rows = self.table()
        own = next((row for row in rows if row["candidate"] == name), None)
        if own is None:
            return False
        if self.config.metric not in CHOOSABLE:
            return several_behind(own)
        parts = len(self._rounds.scores(self.runs)[name]) if self._rounds.deals else 1
        return clearly_above(rows[0]["score"], own["score"], parts * len(self._jury.labels))

    @property
    def _held(self) -> dict[str, torch.Tensor]:
        """What the runs of every candidate say together of the held-out nodes."""
        return {name: _together(logits) for name, logits in self._logits.items()}

    def _end(self, current: Trainer) -> None:
        result, held = current.finish(), current.held_out
        assert held is not None
        labels = current.problem.val_labels.numpy()
        self.runs.append(
            {
                "candidate": self._name,
                "seed": current.config.seed,
                "round": self._repeat,
                "held_out": self._jury.merit(held.logits.softmax(1).numpy(), labels),
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
        if self._rounds.deals_out(self._repeat):
            self._dealt.setdefault(self._name, {})[self._repeat] = held.logits.clone()
        else:
            weights = {k: v.detach().clone() for k, v in current.model.state_dict().items()}
            self._kept.setdefault(self._name, []).append(weights)
            self._logits.setdefault(self._name, []).append(held.logits.clone())
        self._begin()

    def _decide(self) -> Verdict:
        """Find the winner for the whole graph, and whether nodes choose for themselves.

        The matrices are small: more threads of BLAS would cost more than they do, and change the last bits.
        """
        names = [probe.name for probe in self.plan.probes if probe.name in self._kept]
        table, state = self.table(), np.asarray(self.problem.inputs.node_state[self.problem.val])
        self._refits = self._refits_of(names, table)
        with threadpool_limits(1, "blas"):
            return self._jury.decide(names, self._held, table[0]["candidate"], state, self._heard(table))

    def _heard(self, table: list[dict[str, Any]]) -> Heard:
        """Collect what candidates said of nodes in every round that the winner had; of those that had all."""
        held, deals = self._held, sorted(self._dealt.get(table[0]["candidate"], {}))
        parts = [self._rounds.known(self.problem.known, i, self.config.seed).val for i in deals]
        nodes = np.concatenate([self.problem.val, *parts])
        logits = {
            probe.name: wide(torch.cat([held[probe.name], *(self._dealt[probe.name][i] for i in deals)]))
            for probe in self.plan.probes
            if probe.name in held and set(deals) <= set(self._dealt.get(probe.name, {}))
        }
        return Heard(nodes, self.problem.labels.numpy()[nodes], logits)

    def _options(self) -> NDArray[np.int64]:
        """Return the option in the shared stack that every node takes."""
        verdict = self._verdict
        assert verdict is not None
        assert verdict.chooser is not None
        table = options_of([self.plan.probe(name) for name in verdict.names], self._refits[REFITS[0]])
        return np.asarray(table[verdict.chooser.choose(self.problem.inputs.node_state)])

    def _refits_of(self, names: list[str], table: list[dict[str, Any]]) -> dict[str, Probe]:
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

    def finish(self) -> FitResult:
        """Take what was decided; the model then holds every candidate."""
        verdict, problem, held = self._verdict, self.problem, self._held
        assert verdict is not None
        mode = self._jury.mode(verdict, held)
        refit = self._jury.best_refit(held) if mode == REFIT else None
        kept = [*verdict.names, *([] if refit is None else [refit])]
        probes = {name: _seeded(self._probe(name), self._runs(name)[0]["seed"]) for name in kept}
        networks = [self._networks(probes[name]) for name in kept]
        temperatures = [best_temperature(wide(held[name]), self._jury.labels) for name in kept]
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
        predicting = verdict.winner if refit is None else refit
        given = [run for run in self._runs(predicting) if not self._rounds.deals_out(run["round"])]
        best = max(given, key=lambda run: float(run["held_out"]))
        # Epochs are counted through all runs, as they stand in the log.
        before = sum(run["epochs"] for run in self.runs[: self.runs.index(best)])
        self.best_epoch = before + best["best_epoch"]
        accuracy, score_, loss = best["accuracy"], best["score"], best["loss"]
        if len(self._kept[predicting]) > 1:  # what its runs say together of nodes that chose no epoch
            accuracy, score_, loss = self._jury.scores(wide(held[predicting].softmax(1)))
        if mode == NODES:  # what the choices earn on nodes that they were not fitted on
            accuracy = score_ = verdict.evidence[1].value
        if mode == BLEND:  # likewise, by shares that were not fitted on them
            assert verdict.blend is not None
            accuracy, score_, loss = self._jury.scores(verdict.blend.held_out)
        return FitResult(self.epoch, self.best_epoch, accuracy, loss, score_, self.seconds)

    def _runs(self, name: str) -> list[dict[str, Any]]:
        return [run for run in self.runs if run["candidate"] == name]

    def _networks(self, probe: Probe) -> list[torch.nn.Module]:
        """Return a candidate's network of every run, with its weights."""
        inputs, found = self.problem.inputs, []
        channels = (inputs.whole if probe.name in REFITS else inputs.of(probe)).in_channels
        for weights in self._kept[probe.name]:
            net = work_of(probe.config).network(channels, self.problem.num_classes, probe.config)
            net.load_state_dict(weights)
            found.append(net)
        return found

    def table(self) -> list[dict[str, Any]]:
        """Return how the candidates stand, the best first (`mcn.train.probes.standings`)."""
        tried = [run for run in self.runs if run["candidate"] not in REFITS]
        return standings(tried, self._rounds, [probe.name for probe in self.plan.probes])

    def notes(self) -> dict[str, Any]:
        """Return the table, all runs of the candidates, and the evidence for choosing per node."""
        deals = {run["round"] for run in self.runs if self._rounds.deals_out(run["round"])}
        found: dict[str, Any] = {"candidates": self.table(), "candidate_runs": self.runs}
        if deals:
            found["deals"] = len(deals)
        if self._verdict is not None and self._verdict.chooser is not None:
            held = self._held
            mode = self._jury.mode(self._verdict, held)
            listens = self._jury.best_refit(held) if mode == REFIT else None
            found["choosing"] = self._verdict.to_dict() | {"mode": mode, "refit": listens}
        return found

    def remarks(self) -> list[str]:
        """Return what choosing per node is worth, in a sentence."""
        choosing = self.notes().get("choosing")
        return [] if choosing is None else [choosing_sentence(choosing)]

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors: what is kept of each candidate, and the run under way."""
        kept = {
            f"kept.{name}.{number}.{k}": v
            for name, runs in self._kept.items()
            for number, own in enumerate(runs)
            for k, v in own.items()
        }
        held = {
            f"held.{name}.{number}": value
            for name, runs in self._logits.items()
            for number, value in enumerate(runs)
        }
        dealt = {f"dealt.{name}.{i}": value for name, own in self._dealt.items() for i, value in own.items()}
        current = {} if self._current is None else self._current.tensors()
        return kept | held | dealt | {f"current.{name}": value for name, value in current.items()}

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
        kept, held, dealt = (below(f"{what}.", tensors) for what in ("kept", "held", "dealt"))
        self._kept, self._logits, self._dealt = {}, {}, {}
        for run in self.runs:
            name, number = run["candidate"], run["round"]
            if self._rounds.deals_out(number):
                self._dealt.setdefault(name, {})[number] = dealt[f"{name}.{number}"].clone()
                continue
            own = self._kept.setdefault(name, [])
            self._logits.setdefault(name, []).append(held[f"{name}.{len(own)}"].clone())
            own.append({k: v.clone() for k, v in below(f"{name}.{len(own)}.", kept).items()})
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


def _together(logits: list[torch.Tensor]) -> torch.Tensor:
    """Return scores whose softmax is the mean of what several runs say."""
    if len(logits) == 1:
        return logits[0]
    return torch.stack([each.softmax(1) for each in logits]).mean(0).clamp_min(1e-30).log()


def _seeded(probe: Probe, seed: int) -> Probe:
    return dataclasses.replace(probe, config=probe.config.replace(seed=seed))
