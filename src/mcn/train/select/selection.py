"""Training candidates in stages, and deciding between them on held-out nodes."""

from __future__ import annotations

import dataclasses
import math
import time
from collections import deque
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mcn.train.held_out import FOLDS
from mcn.train.loop import Epoch, FitResult, Scores, Trainer, Training, below
from mcn.train.problem import Known, Problem
from mcn.train.recipes import work_of
from mcn.train.select.blend import Float, corrections, walk_matrix
from mcn.train.select.candidates import Candidate, candidates_of
from mcn.train.select.config import AutoConfig
from mcn.train.select.judge import BLEND, Decision, Held, HeldOutScores, Judge
from mcn.train.select.network import Selected
from mcn.train.select.schedule import (
    KEPT,
    Clock,
    Grant,
    Schedule,
    Stage,
    Turn,
    clearly_above,
    several_behind,
    standings,
)

SHARES = ("accuracy", "balanced-accuracy")
"""Metrics that are a share of right nodes, whose error a single run tells."""
_LATEST = 1.5
"""Training ends after so many times the budget by the clock, however little of the processor it had."""
_ENDING = 0.03
"""Share of the budget that deciding takes, beside what the networks that predict take for it."""
_MOST = 1000  # runs of a candidate, or passes over the folds, where there is time
_PASSED = 20_000_000
"""Labels nearby are passed on for the three best candidates, and for more up to so many values in all."""
_SLACK = 0.05
"""Share of the budget by which a further run may be expected to go beyond it."""


class Selection(Training):
    """A selection among candidates, which are trained in stages: first each once, then with further seeds.

    The budget is processor time, measured as training goes on: what it takes to make the inputs of the
    candidates, to train and to decide. At the end of a stage it is decided who goes on, and which further
    runs begin, each with a `Grant` of seconds; within a stage no run depends on another (`Stage`). How many
    epochs each run had in each stage is recorded (`Schedule`). With `config.schedule` these numbers are
    granted in place of seconds: then no clock has a say, and the same command gives the same bits on any
    number of cores.

    In the first stage all candidates share half of the budget, cheap ones first, so that none keeps the
    others from being tried. Where single epochs are so long that it is used up before, the others are tried
    later, if a quarter of the budget is left. Those that have not ended by then wait; the better half of them
    goes on, then the better half of these (successive halving), and the others end with the best weights they
    had, as do those that are clearly behind another. What is left goes into further runs of the candidates
    that are not clearly behind, round by round, until the budget is used up or they have had
    `config.repeats`.

    The winner is the candidate with the best mean held-out score (`mcn.train.held_out`) over its runs; of
    equals the earlier, cheaper one. The first runs of a candidate (`KEPT`) are kept, and predict
    together by the mean of their probabilities; later ones only make the means more certain.

    With few validation nodes the best of several candidates is partly the luckiest. Where chance alone
    decided which nodes are for training and which for validation, further runs have other parts: all labelled
    nodes are cut into folds, again and again, with a run for each fold that trains on the other folds. So all
    of them teach, and judge. Where somebody decided (by time, by group), parts stay as they are.

    At the end the held-out nodes decide whether the winner predicts, or a blend of candidates
    (`mcn.train.select.judge`).
    """

    def __init__(self, problem: Problem, config: AutoConfig) -> None:
        self.model: Selected | None = None
        config = config.settled(problem)
        self.problem, self.config = problem, config
        self.epoch, self.stopped, self.seconds = 0, False, 0.0
        self.runs: list[dict[str, Any]] = []
        candidates = candidates_of(config, len(problem.train), problem.task.most_dropout)
        self._candidates = {candidate.name: candidate for candidate in candidates}
        # By candidate and number of the run: networks that may predict, and what was said of held-out nodes.
        self._kept: dict[str, dict[int, torch.nn.Module]] = {}
        self._logits: dict[str, dict[int, torch.Tensor]] = {}
        repeats = config.repeats or _MOST
        self._folds = repeats > 1 and config.cross_fit and problem.known.at_random and problem.known.has_folds
        self._total = 1 + FOLDS * (repeats - 1) if self._folds else repeats  # runs of a candidate
        self._clock, self._budget = Clock(), 60 * config.minutes
        assert config.metric is not None
        self._judge = Judge(problem.task, problem.val_labels.numpy(), config.metric, config.seed)
        self._further = 1  # the number of the next runs
        self._told: deque[Epoch] = deque()  # epochs that are done, and that nobody was told of yet
        self._decision: Decision | None = None
        # What labels nearby add to candidates (`corrections`): to all nodes, and to validation nodes if only
        # training labels are known.
        self._added: dict[str, Float] = {}
        self._added_held_out: dict[str, Float] = {}
        self._schedule = Schedule()  # what was done so far
        names = list(self._candidates)
        self._recorded = None if config.schedule is None else Schedule.of_run(config.schedule, names)
        self._late: list[str] = []  # candidates that are to be tried later
        first = [Grant(name, 0, self._budget / 2 / len(names)) for name in names]
        self._stage = Stage(self._turn, self._recorded.grants(0) if self._recorded else first)

    @property
    def _left(self) -> float:
        """The processor time that is left of the budget for training, in seconds."""
        runs = [run for run in self.runs if run["round"] < KEPT]
        predicting = math.fsum(run["processor_seconds"] / run["epochs"] for run in runs)
        return (1 - _ENDING) * self._budget - predicting - self._clock.processor

    @property
    def _is_late(self) -> bool:
        """Whether the clock ends training."""
        return self._clock.wall >= (_LATEST - _ENDING) * self._budget

    @property
    def progress(self) -> float:
        """How much of the budget, of the clock's limit, or of the recorded schedule is done."""
        if self.stopped:
            return 1.0
        if self._recorded is not None:
            return min(0.99, len(self._schedule.stages) / max(1, len(self._recorded.stages)))
        return min(
            0.99, max(self._clock.processor / self._budget, self._clock.wall / (_LATEST * self._budget))
        )

    def _turn(self, grant: Grant) -> Turn | None:
        """Make a fresh training run of a candidate; None if there is no time to try it now."""
        name, number = grant.candidate, grant.number
        is_first = number == 0 and name == next(iter(self._candidates))  # which predicts if nothing else does
        if (
            not self._recorded
            and number == 0
            and not is_first
            and self._left < self._budget / (4 if self._schedule.stages else 2)
        ):
            self._late.append(name)
            return None
        candidate = self._candidates[name].seeded(self.config.seed * 1000 + number)
        problem = Problem(self.problem.inputs.of(candidate), self._parts(number))
        trainer = work_of(candidate.config).trainer(problem, candidate.config)
        assert isinstance(trainer, Trainer)
        trainer.hold_out(self.config.seed)
        left = math.inf if is_first else (_LATEST - _ENDING) * self._budget - self._clock.wall
        return Turn(grant, trainer, time.monotonic() + left)

    def _parts(self, number: int) -> Known:
        """Return the parts that the runs of a number have, the same for all candidates."""
        if not (self._folds and number):
            return self.problem.known
        turn, fold = divmod(number - 1, FOLDS)
        return self.problem.known.fold(self.config.seed * 1000 + turn, fold)

    def run_epoch(self) -> Epoch:
        """Train the candidates of this stage on; tell of one epoch.

        One is held back until there is another: who hears of the last one hears that it is the last.
        """
        while len(self._told) < 2 and self._decision is None:
            self._told.extend(self._stage.advance())
            if not self._recorded and self._is_late:
                self._late += [grant.candidate for grant in self._stage.planned if grant.number == 0]
                self._stage.planned.clear()
            if self._stage.over:
                self._next_stage()
            self.seconds = self._clock.wall
        self.epoch += 1
        epoch = self._told.popleft()
        self.stopped = self._decision is not None and not self._told
        return epoch

    def _next_stage(self) -> None:
        """Record a stage; end its runs or let them go on, plan further ones, or decide if there are none."""
        turns = [turn for turn in self._stage.running if turn.trainer.epoch]
        self._late += [turn.name for turn in self._stage.running if turn not in turns and turn.number == 0]
        self._schedule.stages.append([[turn.name, turn.number, turn.trainer.epoch] for turn in turns])
        waiting = [turn for turn in turns if turn.number == 0 and not turn.trainer.stopped]
        for turn in turns:
            if turn not in waiting:
                self._end(turn)
        self._stage = Stage(self._turn)
        recorded = None if self._recorded is None else self._recorded.grants(len(self._schedule.stages))
        grants = self._halved(waiting) if recorded is None else recorded
        granted = {grant[:2]: grant for grant in grants}
        for turn in waiting:
            turn.grant = granted.pop((turn.name, 0), turn.grant)
            if turn.over:
                self._end(turn)
        running = [turn for turn in waiting if not turn.ended]
        if not running and recorded is None:
            granted = {grant[:2]: grant for grant in self._tried_later() or self._round()}
        self._stage = Stage(self._turn, granted.values(), running)
        if not running and not granted:
            self._schedule = self._recorded or self._schedule
            self._schedule.left_out = [name for name in self._schedule.left_out if name not in self._kept]
            self._decision = self._decide()

    def _halved(self, waiting: list[Turn]) -> list[Grant]:
        """Grant the better half of the waiting runs their share of what is left of the budget."""
        left = self._left
        if not waiting or left <= 0 or self._is_late:
            return []
        merits = {turn.name: self._held_out_merit(turn) for turn in waiting}
        leader = max([*merits.values(), *(run["held_out"] for run in self.runs if run["round"] == 0)])
        kept = sorted(merits, key=lambda name: -merits[name])[: max(1, len(waiting) // 2)]
        halvings = math.ceil(math.log2(max(1, len(kept)))) + 1
        count = len(self._judge.targets) if self.config.metric in SHARES else 0
        better = [name for name in kept if not clearly_above(leader, merits[name], count)]
        share = left / halvings / max(1, len(better))
        return [Grant(turn.name, 0, turn.seconds + share) for turn in waiting if turn.name in better]

    def _tried_later(self) -> list[Grant]:
        """Grant candidates that there was no time for half of what is left, if that is enough."""
        late = [name for name in self._late if name not in self._schedule.left_out]
        self._schedule.left_out += late  # until they have had an epoch: they are not tried a third time
        enough = self._left >= self._budget / 4 and not self._is_late
        return [Grant(name, 0, self._left / 2 / len(late)) for name in late if enough]

    def _round(self) -> list[Grant]:
        """Grant another run to the candidates that are not clearly behind, as far as the budget goes."""
        left, number = self._left, self._further
        self._schedule.ended_by = "clock" if self._is_late else "runs"
        if self._is_late or number >= self._total:
            return []
        self._schedule.ended_by, self._further = "budget", number + 1
        rows = self.table()
        able = [row for row in rows if not self._is_behind(row, rows[0]["score"])]
        granted = []
        for row in able:
            if row["seconds_per_run"] <= left + _SLACK * self._budget:
                granted.append(row)
                left -= row["seconds_per_run"]
        if not granted and left > 2 * _SLACK * self._budget:  # it is ended by the budget, but not in vain
            granted, left = [min(able, key=lambda row: float(row["seconds_per_run"]))], 0.0
        spare = max(left, _SLACK * self._budget) / max(1, len(granted))
        seconds = {row["candidate"]: row["seconds_per_run"] + spare for row in granted}
        return [Grant(name, number, seconds[name]) for name in self._candidates if name in seconds]

    def _is_behind(self, row: dict[str, Any], leader: float) -> bool:
        """Whether a candidate's runs so far are clearly behind the best mean score."""
        if self.config.metric not in SHARES:
            return several_behind(row)
        known = self.problem.known
        others = (row["runs"] - 1) * (len(known.targets) // FOLDS) if self._folds else 0
        return clearly_above(leader, row["score"], len(known.val) + others)

    def _held_out_merit(self, turn: Turn) -> float:
        """Return how good a run is on nodes that chose no epoch."""
        held = turn.trainer.held_out
        assert held is not None
        return self._judge.merit(held.outputs, turn.trainer.problem.val_labels.numpy())

    def _end(self, turn: Turn) -> None:
        """Note how a run went, and keep its network."""
        trainer, merit, cut = turn.trainer, self._held_out_merit(turn), not turn.trainer.stopped
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
                "processor_seconds": turn.seconds,
                "cut": cut,
                **({} if turn.number else trainer.notes()),
            }
        )
        turn.ended = True
        if turn.number < KEPT:
            self._logits.setdefault(turn.name, {})[turn.number] = held.logits.clone()
            self._kept.setdefault(turn.name, {})[turn.number] = trainer.model

    @property
    def _held(self) -> Held:
        """What the kept runs of every candidate say together of validation nodes, with what is near them."""
        val = self.problem.val
        held = {name: self._mean_said(name, list(runs), val)[0] for name, runs in self._kept.items()}
        for name, added in self._added_held_out.items():
            held[name] = self.problem.task.valid(held[name] + added)
        return held

    def _mean_said(
        self, name: str, numbers: list[int], nodes: NDArray[np.int64]
    ) -> tuple[Float, NDArray[np.bool_]]:
        """Return the mean of what some runs say of nodes that they did not train on, and where there is any.

        Both have a row for each of `nodes`.
        """
        row = np.full(len(self.problem.labels), -1)
        row[nodes] = np.arange(len(nodes))
        total, count = np.zeros((len(nodes), self.problem.num_classes)), np.zeros((len(nodes), 1))
        for number in numbers:
            rows = row[self._parts(number).val]
            total[rows[rows >= 0]] += self._outputs(name, number)[rows >= 0]
            count[rows[rows >= 0]] += 1
        return total / np.maximum(count, 1), count[:, 0] > 0

    def _outputs(self, name: str, number: int) -> Float:
        """Return what a run says of the nodes that it was not trained on."""
        return np.asarray(self.problem.task.outputs_of(self._logits[name][number]).numpy(), np.float64)

    def _decide(self) -> Decision:
        """Find the winner for the whole graph, and what predicts.

        The matrices are small: more threads of BLAS would cost more than they do, and change the last bits.
        """
        names = [name for name in self._candidates if name in self._kept]
        best = [row["candidate"] for row in self.table()]
        if self.config.propagate:
            self._confirm_corrections(best)
        with threadpool_limits(1, "blas"):
            return self._judge.decide(names, best[0], self._held_out_scores(best[0]))

    def _confirm_corrections(self, names: list[str]) -> None:
        """Find what known labels nearby add to candidates, where held-out nodes confirm it.

        Runs on the given parts say whether it helps. Where validation nodes teach, their labels then add too.
        """
        problem = self.problem
        edges = walk_matrix(problem.inputs.counts.adjacency("edge"))
        for name in names[: max(3, _PASSED // len(problem.labels) // problem.num_classes)]:
            given = [number for number in self._kept[name] if not (self._folds and number)]
            ways = self._corrections(name, given, problem.train, edges)
            held, _ = self._mean_said(name, given, problem.val)
            on_validation = {way: more[problem.val] for way, more in ways.items()}
            best = self._judge.best_correction(held, on_validation)
            if best is None:
                continue
            self._added[name], self._added_held_out[name] = ways[best], on_validation[best]
            if len(given) < len(self._kept[name]):
                known = np.union1d(problem.train, problem.val)
                self._added[name] = self._corrections(name, list(self._kept[name]), known, edges)[best]

    def _corrections(
        self, name: str, numbers: list[int], known: NDArray[np.int64], edges: Any
    ) -> dict[str, Float]:
        """Return what the labels of `known` nodes would add to what some runs of a candidate predict."""
        task, inputs = self.problem.task, self.problem.inputs.of(self._candidates[name])
        work = work_of(self._candidates[name].config)
        runs = [work.predict(self._kept[name][number], inputs, task).probabilities for number in numbers]
        outputs = np.asarray(np.mean(runs, axis=0, dtype=np.float64))
        return corrections(edges, outputs, known, task.truth(self.problem.labels.numpy()[known]))

    def _held_out_scores(self, winner: str) -> HeldOutScores:
        """Collect what candidates said of all nodes that the winner was judged by; of those that said it.

        The validation nodes come first, then the others that further runs held out.
        """
        val, held = self.problem.val, self._held
        judged = np.concatenate([self._parts(number).val for number in self._kept[winner]])
        parts = [val, np.setdiff1d(judged, val)]
        found = {name: self._mean_said(name, list(runs), parts[1]) for name, runs in self._kept.items()}
        said = {
            name: np.concatenate([held[name], values])
            for name, (values, there) in found.items()
            if there.all()
        }
        nodes = np.concatenate(parts)
        ordered = {name: said[name] for name in self._candidates if name in said}
        return HeldOutScores(nodes, self.problem.labels.numpy()[nodes], ordered)

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
            [list(self._kept[name].values()) for name in decision.names],
            decision.mode,
            decision.winner,
        )
        task, targets = self.problem.task, self._judge.targets
        temperatures = [task.temperature(held[name], targets) for name in decision.names]
        self.model.temperatures.copy_(torch.tensor(temperatures))
        if decision.blend is not None:
            self.model.shares.copy_(torch.from_numpy(decision.blend.shares))
        self.model.set_added(self._added, self.problem.inputs.edges_digest)
        self.model.eval()
        self.problem.inputs.model = self.model
        winner = decision.winner
        kept_runs = [run for run in self._runs(winner) if run["round"] < KEPT]
        best = max(kept_runs, key=lambda run: float(run["held_out"]))
        scores = Scores(best["loss"], best["accuracy"], best["score"])
        if len(kept_runs) > 1 or winner in self._added:  # what is said of nodes that chose no epoch
            scores = self._judge.scores(held[winner])
        if decision.mode == BLEND:  # by shares that were not fitted on these nodes
            assert decision.blend is not None
            scores = self._judge.scores(decision.blend.held_out)
        loss, accuracy, score = scores
        return FitResult(self.epoch, best["best_epoch"], accuracy, loss, score, self.seconds)

    def _runs(self, name: str) -> list[dict[str, Any]]:
        return [run for run in self.runs if run["candidate"] == name]

    def table(self) -> list[dict[str, Any]]:
        """Return how the candidates stand, the best first (`mcn.train.select.schedule.standings`)."""
        return standings(self.runs, list(self._candidates))

    def notes(self) -> dict[str, Any]:
        """Return the table, all runs of the candidates, and what was decided by which evidence."""
        notes: dict[str, Any] = {"candidates": self.table(), "candidate_runs": self.runs}
        notes["schedule"] = {
            **dataclasses.asdict(self._schedule),
            "asked_seconds": self._budget,
            "processor_seconds": self._clock.processor,
            "wall_seconds": self._clock.wall,
        }
        if self._decision is not None:
            notes["choosing"] = self._decision.to_dict()
            used = list(self._decision.shares)
            shown = [run["columns"] for run in self.runs if run["candidate"] in used and "columns" in run]
            notes |= {"columns": shown[0]} if shown else {}  # of trees that predict
        return notes

    def held_out_probabilities(self) -> tuple[NDArray[Any], int] | None:
        """Return what the blend, or else the winner, says of nodes that it was not fitted on."""
        decision = self._decision
        assert decision is not None
        if decision.mode == BLEND and decision.blend is not None:
            return decision.blend.held_out, len(decision.names) + 1
        return self._held[decision.winner], len(decision.names)

    @property
    def learned_from_validation(self) -> bool:
        """Whether a network that predicts was trained on validation nodes."""
        shares = {} if self._decision is None else self._decision.shares
        return self._folds and any(len(self._kept[name]) > 1 for name in shares)

    def remarks(self) -> list[str]:
        """Return in sentences what predicts, what it learned from, and what ended training."""
        if self._decision is None:
            return []
        said, shares = [], self._decision.shares
        if self._decision.mode == BLEND:
            parts = ", ".join(f"{100 * share:.0f} % {name}" for name, share in shares.items())
            said.append(f"predictions are a weighted mean of several candidates: {parts}")
        if self.learned_from_validation:
            said.append(
                "candidates also learned from validation nodes: each further run from four fifths of nodes "
                "of both parts, scored on the others (cross_fit=false: from training nodes alone)"
            )
        near = ", ".join(name for name in shares if name in self._added)
        if near:
            said.append(
                f"known labels of nodes nearby correct the predictions of {near} (propagate=false: not)"
            )
        return said + self._schedule.sentences(self._budget)

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors: what is kept of each candidate, and the run under way."""
        kept = {
            f"kept.{name}.{number}.{key}": value
            for name, runs in self._kept.items()
            for number, network in runs.items()
            for key, value in network.state_dict().items()
        }
        held = {
            f"held.{name}.{number}": logits
            for name, runs in self._logits.items()
            for number, logits in runs.items()
        }
        unfinished = {
            f"turn.{place}.{name}": value
            for place, turn in enumerate(self._stage.running)
            for name, value in turn.trainer.tensors().items()
        }
        return kept | held | unfinished

    def state(self) -> dict[str, Any]:
        """All plain values."""
        return {
            "epoch": self.epoch,
            "stopped": self.stopped,
            "seconds": self.seconds,
            "runs": self.runs,
            "told": [epoch._asdict() for epoch in self._told],
            "late": self._late,
            "schedule": dataclasses.asdict(self._schedule),
            "processor_seconds": self._clock.processor,
            "further": self._further,
            "planned": [list(grant) for grant in self._stage.planned],
            "running": [turn.state() for turn in self._stage.running],
            "decided": self._decision is not None,
        }

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave; what was decided is decided again, by the same."""
        self.epoch, self.stopped, self.seconds = state["epoch"], state["stopped"], state["seconds"]
        self.runs, self._late, self._further = state["runs"], state["late"], state["further"]
        self._schedule = Schedule(**state["schedule"])
        self._clock = Clock(state["processor_seconds"], state["seconds"])
        self._told = deque(Epoch(**values) for values in state["told"])
        kept, held = below("kept.", tensors), below("held.", tensors)
        self._kept, self._logits = {}, {}
        for run in self.runs:
            name, number = run["candidate"], run["round"]
            if number < KEPT:
                self._logits.setdefault(name, {})[number] = held[f"{name}.{number}"].clone()
                weights = below(f"{name}.{number}.", kept)
                self._kept.setdefault(name, {})[number] = self._network(self._candidates[name], weights)
        turns = []
        for place, values in enumerate(state["running"]):
            turn = self._turn(Grant(*values["grant"]))
            assert turn is not None
            turn.first, turn.later = values["first"], values["later"]
            turn.trainer.load(below(f"turn.{place}.", tensors), values["trainer"])
            turns.append(turn)
        self._stage = Stage(self._turn, [Grant(*values) for values in state["planned"]], turns)
        self._decision = self._decide() if state["decided"] else None

    def _network(self, candidate: Candidate, weights: dict[str, torch.Tensor]) -> torch.nn.Module:
        """Make the network of a run that a checkpoint has the weights of."""
        inputs = self.problem.inputs.of(candidate)
        network = work_of(candidate.config).network(
            inputs.in_channels, self.problem.num_classes, candidate.config
        )
        network.load_state_dict(weights)
        return network.eval()
