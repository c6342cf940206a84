"""Training candidates in turn, and deciding between them on held-out nodes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mcn.train.loop import Epoch, FitResult, Trainer, Training, below
from mcn.train.problem import Problem
from mcn.train.recipes import work_of
from mcn.train.select.blend import best_temperature
from mcn.train.select.candidates import Candidate, candidates_of
from mcn.train.select.config import AutoConfig
from mcn.train.select.judge import BLEND, CHOOSABLE, NODES, Decision, HeldOutScores, Judge, wide
from mcn.train.select.network import Selected
from mcn.train.select.schedule import Rounds, clearly_above, several_behind, standings


class Selection(Training):
    """A selection among candidates, which are trained one after the other, first each once, then with further
    seeds.

    The budget is counted in work (`Trainer.epoch_work`), not by the clock: the same command gives the same
    bits, however busy the machine is. A candidate has in the first round its share of the work
    that is left, so that none keeps the others from being tried; later a run is begun only if, by what the
    runs before it took, it ends within the budget. A run that has used up its work ends there with the best
    weights it had.

    A candidate that is clearly behind another ends when its score has not risen for its patience, whatever
    its loss does; and it sits out further rounds, until the others turn out to be no better.

    The winner for the whole graph is the candidate with the best mean held-out score (`mcn.train.held_out`)
    over its runs; of equals the earlier, cheaper one. All runs of a candidate are kept, and predict together
    by the mean of their probabilities.

    Some of the runs have training and validation nodes that are dealt out anew (`mcn.train.select.schedule`):
    they are not kept, but their scores are of other nodes and count as much.

    At the end the held-out nodes decide whether the winner predicts, a blend of candidates, or for every node
    a candidate of its own (`mcn.train.select.judge`).
    """

    def __init__(self, problem: Problem, config: AutoConfig) -> None:
        self.model: Selected | None = None
        self.problem, self.config = problem, config
        self.epoch, self.stopped, self.seconds = 0, False, 0.0
        self.work = 0.0
        self.runs: list[dict[str, Any]] = []
        self._candidates = {candidate.name: candidate for candidate in candidates_of(config)}
        self._kept: dict[str, list[torch.nn.Module]] = {}
        self._logits: dict[str, list[torch.Tensor]] = {}
        self._dealt: dict[str, dict[int, torch.Tensor]] = {}
        self._rounds = Rounds.of(problem.known, config.repeats)
        self._queue = [(name, i) for i in range(self._rounds.total) for name in self._candidates]
        self._judge = Judge(problem.val_labels.numpy(), config.metric, config.seed)
        self._current: Trainer | None = None
        self._decision: Decision | None = None
        self._best_score, self._risen = -math.inf, 0
        self._begin()

    @property
    def progress(self) -> float:
        """How many of the runs, or how much of the budget, is done."""
        if self.stopped:
            return 1.0
        done = len(self.runs) / (len(self.runs) + len(self._queue) + 1)
        if self._current is not None:
            done += self._current.progress / (len(self.runs) + len(self._queue) + 1)
        return float(min(0.99, max(done, self.work / (60 * self.config.minutes))))

    def _begin(self) -> None:
        """Start the next run that the budget allows; after the last one decide, and stop."""
        while self._queue:
            self._name, self._round = self._queue.pop(0)
            if self._round and self._is_behind(self._name):
                continue
            before = [run["work"] for run in self._runs(self._name)]
            expected = float(np.mean(before)) if before else 0.0
            left = 60 * self.config.minutes - self.work
            untried = sum(number == 0 for _, number in self._queue) + 1
            self._until = self.work + (left / untried if self._round == 0 else left)
            if left > 0 and expected <= left:
                self._current = self._trainer()
                return
        self._current = None
        self._decision = self._decide()
        self.stopped = True

    def _trainer(self) -> Trainer:
        """Make a fresh training run of the candidate whose turn it is."""
        self._best_score, self._risen = -math.inf, 0
        candidate = self._candidates[self._name].seeded(self.config.seed * 1000 + self._round)
        known = self._rounds.known(self.problem.known, self._round, self.config.seed)
        problem = Problem(self.problem.inputs.of(candidate), known)
        trainer = work_of(candidate.config).trainer(problem, candidate.config)
        assert isinstance(trainer, Trainer)
        trainer.hold_out(self.config.seed)
        self._epoch_work = trainer.epoch_work()
        return trainer

    def run_epoch(self) -> Epoch:
        """Train the current candidate for an epoch; take up the next one when it is done."""
        current = self._current
        assert current is not None
        before, name, number = current.seconds, self._name, self._round
        epoch = current.run_epoch()
        self.epoch += 1
        self.work += self._epoch_work
        self.seconds += current.seconds - before
        if epoch.val_score > self._best_score:
            self._best_score, self._risen = epoch.val_score, current.epoch
        if current.stopped or self.work >= self._until or self._is_outrun(current):
            self._end(current)
        return epoch._replace(epoch=self.epoch, candidate=name, run=number)

    def _is_outrun(self, current: Trainer) -> bool:
        """Whether a candidate is clearly behind another, and its score no longer rises.

        A loss that falls ever more slowly would keep it going for thousands of epochs.
        """
        if self.config.metric not in CHOOSABLE or current.epoch - self._risen < current.config.patience:
            return False
        same = [float(run["score"]) for run in self.runs if run["round"] == self._round]
        return clearly_above(max(same, default=0.0), self._best_score, len(self._judge.labels))

    def _is_behind(self, name: str) -> bool:
        """Whether a candidate's runs so far are clearly behind those of another."""
        rows = self.table()
        row = next((row for row in rows if row["candidate"] == name), None)
        if row is None:
            return False
        if self.config.metric not in CHOOSABLE:
            return several_behind(row)
        parts = len(self._rounds.scores(self.runs)[name]) if self._rounds.deals else 1
        return clearly_above(rows[0]["score"], row["score"], parts * len(self._judge.labels))

    def _end(self, current: Trainer) -> None:
        """Note how a run went, keep its network, and go on."""
        result, held = current.finish(), current.held_out
        assert held is not None
        labels = current.problem.val_labels.numpy()
        self.runs.append(
            {
                "candidate": self._name,
                "seed": current.config.seed,
                "round": self._round,
                "held_out": self._judge.merit(held.logits.softmax(1).numpy(), labels),
                "score": result.val_score,
                "accuracy": result.val_accuracy,
                "loss": result.val_loss,
                "epochs": result.epochs,
                "best_epoch": result.best_epoch,
                "seconds": result.seconds,
                "work": result.epochs * self._epoch_work,
                "cut": not current.stopped and self.work >= self._until,
                "outrun": not current.stopped and self.work < self._until,
            }
        )
        if self._rounds.deals_out(self._round):
            self._dealt.setdefault(self._name, {})[self._round] = held.logits.clone()
        else:
            self._kept.setdefault(self._name, []).append(current.model)
            self._logits.setdefault(self._name, []).append(held.logits.clone())
        self._begin()

    @property
    def _held(self) -> dict[str, torch.Tensor]:
        """What the runs of every candidate say together of the held-out nodes."""
        return {name: _together(logits) for name, logits in self._logits.items()}

    def _decide(self) -> Decision:
        """Find the winner for the whole graph, and what predicts.

        The matrices are small: more threads of BLAS would cost more than they do, and change the last bits.
        """
        names = [name for name in self._candidates if name in self._kept]
        winner, state = self.table()[0]["candidate"], self.problem.inputs.node_state[self.problem.val]
        with threadpool_limits(1, "blas"):
            return self._judge.decide(
                names, self._held, winner, np.asarray(state), self._held_out_scores(winner)
            )

    def _held_out_scores(self, winner: str) -> HeldOutScores:
        """Collect what candidates said of nodes in every round that the winner had; of those that had all."""
        held, deals = self._held, sorted(self._dealt.get(winner, {}))
        parts = [self._rounds.known(self.problem.known, i, self.config.seed).val for i in deals]
        nodes = np.concatenate([self.problem.val, *parts])
        logits = {
            name: wide(torch.cat([held[name], *(self._dealt[name][i] for i in deals)]))
            for name in self._candidates
            if name in held and set(deals) <= set(self._dealt.get(name, {}))
        }
        return HeldOutScores(nodes, self.problem.labels.numpy()[nodes], logits)

    def finish(self) -> FitResult:
        """Take what was decided; the model then holds every candidate."""
        decision, held = self._decision, self._held
        assert decision is not None
        first_runs = [self._runs(name)[0]["seed"] for name in decision.names]
        self.model = Selected(
            [
                self._candidates[name].seeded(seed)
                for name, seed in zip(decision.names, first_runs, strict=True)
            ],
            [self._kept[name] for name in decision.names],
            decision.mode,
            decision.winner,
            self.problem.inputs.node_state.shape[1],
        )
        temperatures = [best_temperature(wide(held[name]), self._judge.labels) for name in decision.names]
        self.model.temperatures.copy_(torch.tensor(temperatures))
        if decision.blend is not None:
            self.model.shares.copy_(torch.from_numpy(decision.blend.shares))
        if decision.chooser is not None:
            self.model.set_chooser(decision.chooser)
        self.model.eval()
        self.problem.inputs.model = self.model
        winner = decision.winner
        kept_runs = [run for run in self._runs(winner) if not self._rounds.deals_out(run["round"])]
        best = max(kept_runs, key=lambda run: float(run["held_out"]))
        # Epochs are counted through all runs, as they stand in the log.
        best_epoch = sum(run["epochs"] for run in self.runs[: self.runs.index(best)]) + best["best_epoch"]
        accuracy, score, loss = best["accuracy"], best["score"], best["loss"]
        if len(kept_runs) > 1:  # what its runs say together of nodes that chose no epoch
            accuracy, score, loss = self._judge.scores(wide(held[winner].softmax(1)))
        if decision.mode == NODES:  # what the choices earn on nodes that they were not fitted on
            accuracy = score = decision.evidence[1].value
        if decision.mode == BLEND:  # likewise, by shares that were not fitted on them
            assert decision.blend is not None
            accuracy, score, loss = self._judge.scores(decision.blend.held_out)
        return FitResult(self.epoch, best_epoch, accuracy, loss, score, self.seconds)

    def _runs(self, name: str) -> list[dict[str, Any]]:
        return [run for run in self.runs if run["candidate"] == name]

    def table(self) -> list[dict[str, Any]]:
        """Return how the candidates stand, the best first (`mcn.train.select.schedule.standings`)."""
        return standings(self.runs, self._rounds, list(self._candidates))

    def notes(self) -> dict[str, Any]:
        """Return the table, all runs of the candidates, and what was decided by which evidence."""
        deals = {run["round"] for run in self.runs if self._rounds.deals_out(run["round"])}
        notes: dict[str, Any] = {"candidates": self.table(), "candidate_runs": self.runs}
        notes["schedule"] = {
            "budget": 60 * self.config.minutes,
            "used": self.work,
            "epoch": {run["candidate"]: run["work"] / run["epochs"] for run in self.runs},
        }
        if deals:
            notes["deals"] = len(deals)
        if self._decision is not None:
            notes["choosing"] = self._decision.to_dict()
        return notes

    def held_out_probabilities(self) -> tuple[NDArray[Any], int] | None:
        """Return what the blend, or else the winner, says of nodes that it was not fitted on."""
        decision = self._decision
        assert decision is not None
        if decision.mode == BLEND and decision.blend is not None:
            return decision.blend.held_out, len(decision.names) + 1
        return wide(self._held[decision.winner].softmax(1)), len(decision.names)

    def remarks(self) -> list[str]:
        """Return what predicts and what choosing per node is worth, in sentences."""
        return [] if self._decision is None else self._decision.sentences()

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors: what is kept of each candidate, and the run under way."""
        kept = {
            f"kept.{name}.{number}.{key}": value
            for name, runs in self._kept.items()
            for number, network in enumerate(runs)
            for key, value in network.state_dict().items()
        }
        held = {
            f"held.{name}.{number}": logits
            for name, runs in self._logits.items()
            for number, logits in enumerate(runs)
        }
        dealt = {
            f"dealt.{name}.{number}": logits
            for name, rounds in self._dealt.items()
            for number, logits in rounds.items()
        }
        current = {} if self._current is None else self._current.tensors()
        return kept | held | dealt | {f"current.{name}": value for name, value in current.items()}

    def state(self) -> dict[str, Any]:
        """All plain values."""
        return {
            "epoch": self.epoch,
            "stopped": self.stopped,
            "seconds": self.seconds,
            "work": self.work,
            "runs": self.runs,
            "queue": self._queue,
            "now": [self._name, self._round, self._until],
            "risen": [self._best_score if self._risen else None, self._risen],
            "current": None if self._current is None else self._current.state(),
        }

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave; what was decided is decided again, by the same."""
        self.epoch, self.stopped, self.seconds = state["epoch"], state["stopped"], state["seconds"]
        self.work = state["work"]
        self.runs = state["runs"]
        kept, held, dealt = (below(f"{what}.", tensors) for what in ("kept", "held", "dealt"))
        self._kept, self._logits, self._dealt = {}, {}, {}
        for run in self.runs:
            name, number = run["candidate"], run["round"]
            if self._rounds.deals_out(number):
                self._dealt.setdefault(name, {})[number] = dealt[f"{name}.{number}"].clone()
                continue
            networks = self._kept.setdefault(name, [])
            self._logits.setdefault(name, []).append(held[f"{name}.{len(networks)}"].clone())
            networks.append(self._network(self._candidates[name], below(f"{name}.{len(networks)}.", kept)))
        self._queue = [(name, number) for name, number in state["queue"]]
        self._name, self._round, self._until = state["now"]
        self._current = None
        self._decision = self._decide() if self.stopped else None
        if state["current"] is not None:
            self._current = self._trainer()
            self._current.load(below("current.", tensors), state["current"])
            best, self._risen = state["risen"]
            self._best_score = -math.inf if best is None else best

    def _network(self, candidate: Candidate, weights: dict[str, torch.Tensor]) -> torch.nn.Module:
        """Make the network of a run that a checkpoint has the weights of."""
        inputs = self.problem.inputs.of(candidate)
        network = work_of(candidate.config).network(
            inputs.in_channels, self.problem.num_classes, candidate.config
        )
        network.load_state_dict(weights)
        return network.eval()


def _together(logits: list[torch.Tensor]) -> torch.Tensor:
    """Return scores whose softmax is the mean of what several runs say."""
    if len(logits) == 1:
        return logits[0]
    return torch.stack([each.softmax(1) for each in logits]).mean(0).clamp_min(1e-30).log()
