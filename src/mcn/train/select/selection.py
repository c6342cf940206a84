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
from mcn.train.select.judge import BLEND, CHOOSABLE, NODES, Decision, HeldOutScores, Judge, together, wide
from mcn.train.select.network import Selected
from mcn.train.select.schedule import Rounds, Turn, clearly_above, several_behind, standings


class Selection(Training):
    """A selection among candidates, which are trained one after the other, first each once, then with further
    seeds.

    The budget is counted in work (`Trainer.epoch_work`), not by the clock: the same command gives the same
    bits, however busy the machine is. In the first round half of it is shared out, so that no candidate keeps
    the others from being tried. Those that have not ended by then wait; the better half of them goes on, then
    the better half of these (successive halving), and the others end with the best weights they had. With
    what is left further runs are begun, each only if, by what the runs before it took, it ends within the
    budget.

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
        config = config.settled(problem.known_classes)
        self.problem, self.config = problem, config
        self.epoch, self.stopped, self.seconds = 0, False, 0.0
        self.work = 0.0
        self.runs: list[dict[str, Any]] = []
        candidates = candidates_of(config, len(problem.train))
        self._candidates = {candidate.name: candidate for candidate in candidates}
        self._kept: dict[str, list[torch.nn.Module]] = {}
        self._logits: dict[str, list[torch.Tensor]] = {}
        self._dealt: dict[str, dict[int, torch.Tensor]] = {}
        self._rounds = Rounds.of(problem.known, config.repeats)
        self._queue = [(name, i) for i in range(self._rounds.total) for name in self._candidates]
        assert config.metric is not None
        self._judge = Judge(problem.val_labels.numpy(), config.metric, config.seed)
        self._now: Turn | None = None
        self._waiting: list[Turn] = []  # for the next halving
        self._again: list[Turn] = []  # the better half of those that waited, still to go on
        self._share = 0.0  # of the work that these have together
        self._decision: Decision | None = None
        self._begin()

    @property
    def progress(self) -> float:
        """How many of the runs, or how much of the budget, is done."""
        if self.stopped:
            return 1.0
        ahead = len(self._queue) + len(self._waiting) + len(self._again) + 1
        done = len(self.runs) / (len(self.runs) + ahead)
        if self._now is not None:
            done += self._now.trainer.progress / (len(self.runs) + ahead)
        return float(min(0.99, max(done, self.work / (60 * self.config.minutes))))

    @property
    def _left(self) -> float:
        """The work that is left of the budget."""
        return float(60 * self.config.minutes - self.work)

    def _begin(self) -> None:
        """Start or go on with the next run that the budget allows; after the last one decide, and stop."""
        self._now = None
        while self._now is None and self._queue and self._queue[0][1] == 0:
            self._first(self._queue.pop(0)[0])
        if self._now is None and not self._again and self._waiting:
            self._halve()
        if self._now is None and self._again:
            self._now = self._again.pop(0)
            self._now.until = self.work + self._share / (len(self._again) + 1)
            self._share -= self._now.until - self.work
        while self._now is None and self._queue:
            name, number = self._queue.pop(0)
            expected = float(np.mean([run["work"] for run in self._runs(name)] or [math.inf]))
            if expected <= self._left and not self._is_behind(name):
                self._now = self._turn(name, number, self._left)
        if self._now is None:
            self._decision = self._decide()
            self.stopped = True

    def _first(self, name: str) -> None:
        """Begin the first run of a candidate, with its share of half of the budget."""
        untried = sum(number == 0 for _, number in self._queue) + 1
        share = (self._left - 30 * self.config.minutes) / untried
        if share > 0 or not (self.runs or self._waiting):
            self._now = self._turn(name, 0, share)

    def _halve(self) -> None:
        """Let the better half of the runs that wait go on, with their share of the budget; end the others."""
        order = sorted(self._waiting, key=lambda turn: -self._held_out_merit(turn))
        kept = len(order) // 2 if len(order) > 1 else 1
        halvings = math.ceil(math.log2(kept)) + 1
        self._share = self._left / halvings
        better = {turn.name for turn in order[:kept]} if self._left > 0 else set()
        for turn in self._waiting:
            if turn.name not in better:
                self._end(turn)
        self._again = [turn for turn in self._waiting if turn.name in better]
        self._waiting = []

    def _turn(self, name: str, number: int, share: float) -> Turn:
        """Make a fresh training run of a candidate."""
        candidate = self._candidates[name].seeded(self.config.seed * 1000 + number)
        known = self._rounds.known(self.problem.known, number, self.config.seed)
        problem = Problem(self.problem.inputs.of(candidate), known)
        trainer = work_of(candidate.config).trainer(problem, candidate.config)
        assert isinstance(trainer, Trainer)
        trainer.hold_out(self.config.seed)
        return Turn(name, number, trainer, self.work + share)

    def run_epoch(self) -> Epoch:
        """Train the current candidate for an epoch; take up the next one when it is done."""
        turn = self._now
        assert turn is not None
        before = turn.trainer.seconds
        epoch = turn.trainer.run_epoch()
        self.epoch += 1
        self.work += turn.epoch_work
        self.seconds += turn.trainer.seconds - before
        turn.note(epoch, self.epoch)
        if turn.trainer.stopped or self._is_outrun(turn):
            self._end(turn)
            self._begin()
        elif self.work >= turn.until:
            turn.cut = True
            if turn.number == 0:
                self._waiting.append(turn)
            else:
                self._end(turn)
            self._begin()
        return epoch._replace(epoch=self.epoch, candidate=turn.name, run=turn.number)

    def _is_outrun(self, turn: Turn) -> bool:
        """Whether a candidate is clearly behind another, and its score no longer rises.

        A loss that falls ever more slowly would keep it going for thousands of epochs.
        """
        trainer = turn.trainer
        if self.config.metric not in CHOOSABLE or trainer.epoch - turn.risen < trainer.config.patience:
            return False
        same = [float(run["score"]) for run in self.runs if run["round"] == turn.number]
        return clearly_above(max(same, default=0.0), turn.best_score, len(self._judge.labels))

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

    def _held_out_merit(self, turn: Turn) -> float:
        """Return how good a run is on nodes that chose no epoch."""
        held = turn.trainer.held_out
        assert held is not None
        labels = turn.trainer.problem.val_labels.numpy()
        return self._judge.merit(held.logits.softmax(1).numpy(), labels)

    def _end(self, turn: Turn) -> None:
        """Note how a run went, and keep its network."""
        trainer, merit = turn.trainer, self._held_out_merit(turn)
        result, held = trainer.finish(), trainer.held_out
        assert held is not None
        self.runs.append(
            {
                "candidate": turn.name,
                "seed": trainer.config.seed,
                "round": turn.number,
                "held_out": merit,
                "score": result.val_score,
                "accuracy": result.val_accuracy,
                "loss": result.val_loss,
                "epochs": result.epochs,
                "best_epoch": result.best_epoch,
                "kept_at": turn.kept_at,
                "seconds": result.seconds,
                "work": result.epochs * turn.epoch_work,
                "cut": not trainer.stopped and turn.cut,
                "outrun": not trainer.stopped and not turn.cut,
                **({} if turn.number else trainer.notes()),
            }
        )
        if self._rounds.deals_out(turn.number):
            self._dealt.setdefault(turn.name, {})[turn.number] = held.logits.clone()
        else:
            self._kept.setdefault(turn.name, []).append(trainer.model)
            self._logits.setdefault(turn.name, []).append(held.logits.clone())

    @property
    def _held(self) -> dict[str, torch.Tensor]:
        """What the runs of every candidate say together of the held-out nodes."""
        return {name: together(logits) for name, logits in self._logits.items()}

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
        best_epoch = best["kept_at"]  # counted through all runs, as they stand in the log
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
            used = self._decision.predicting
            shown = [run["columns"] for run in self.runs if run["candidate"] in used and "columns" in run]
            notes |= {"columns": shown[0]} if shown else {}  # of trees that predict
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
        unfinished = {
            f"turn.{place}.{name}": value
            for place, turn in enumerate(self._turns)
            for name, value in turn.trainer.tensors().items()
        }
        return kept | held | dealt | unfinished

    @property
    def _turns(self) -> list[Turn]:
        """All runs that have begun and not ended: those that wait, those to go on, the one under way."""
        return [*self._waiting, *self._again, *([] if self._now is None else [self._now])]

    def state(self) -> dict[str, Any]:
        """All plain values."""
        return {
            "epoch": self.epoch,
            "stopped": self.stopped,
            "seconds": self.seconds,
            "work": self.work,
            "runs": self.runs,
            "queue": self._queue,
            "turns": [turn.state() for turn in self._turns],
            "waiting": [len(self._waiting), len(self._again), self._share],
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
        turns = []
        for place, of_turn in enumerate(state["turns"]):
            turn = self._turn(of_turn["name"], of_turn["number"], 0.0)
            turn.load(of_turn)
            turn.trainer.load(below(f"turn.{place}.", tensors), of_turn["trainer"])
            turns.append(turn)
        waiting, again, self._share = state["waiting"]
        self._waiting, self._again = turns[:waiting], turns[waiting : waiting + again]
        self._now = None if self.stopped else turns[-1]
        self._decision = self._decide() if self.stopped else None

    def _network(self, candidate: Candidate, weights: dict[str, torch.Tensor]) -> torch.nn.Module:
        """Make the network of a run that a checkpoint has the weights of."""
        inputs = self.problem.inputs.of(candidate)
        network = work_of(candidate.config).network(
            inputs.in_channels, self.problem.num_classes, candidate.config
        )
        network.load_state_dict(weights)
        return network.eval()
