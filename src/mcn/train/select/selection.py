"""Training candidates in stages, and deciding between them on held-out nodes."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mcn.train.loop import Epoch, FitResult, Scores, Trainer, Training, below
from mcn.train.problem import Known, Problem
from mcn.train.recipes import work_of
from mcn.train.select.blend import Float, corrections, walk_matrix
from mcn.train.select.candidates import Candidate, candidates_of
from mcn.train.select.config import AutoConfig
from mcn.train.select.judge import BLEND, CHOOSABLE, NODES, Decision, Held, HeldOutScores, Judge
from mcn.train.select.network import Selected
from mcn.train.select.schedule import Rounds, Stage, Turn, clearly_above, several_behind, standings


class Selection(Training):
    """A selection among candidates, which are trained in stages: first each once, then with further seeds.

    The budget is counted in work (`Trainer.epoch_work`), not by the clock, and within a stage no run depends
    on another (`Stage`): the same command gives the same bits, however busy the machine is and however many
    cores it has.

    In the first stage all candidates share half of the budget, so that none keeps the others from being
    tried; one of which a single epoch takes more than its share is left out, unless it is the first. Those
    that have not ended by then wait; the better half of them goes on, then the better half of these
    (successive halving), and the others end with the best weights they had, as do those that are clearly
    behind another. With what is left further runs are begun, each only if, by what the runs before it took,
    it ends within the budget; a candidate that is clearly behind sits out.

    The winner for the whole graph is the candidate with the best mean held-out score (`mcn.train.held_out`)
    over its runs; of equals the earlier, cheaper one. All runs of a candidate are kept, and predict together
    by the mean of their probabilities.

    Where chance drew the split, most runs have other training and validation nodes (`Rounds`): their scores
    are of other nodes and count as much.

    At the end the held-out nodes decide whether the winner predicts, a blend of candidates, or for every node
    a candidate of its own (`mcn.train.select.judge`).
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
        self._rounds = Rounds.of(problem.known, config.repeats, config.cross_fit)
        assert config.metric is not None
        self._judge = Judge(problem.task, problem.val_labels.numpy(), config.metric, config.seed)
        self._further = 1  # the number of the next runs
        self._told: deque[Epoch] = deque()  # epochs that are done, and that nobody was told of yet
        self._decision: Decision | None = None
        # What labels nearby add to candidates (`corrections`): to all nodes, and to validation nodes if only
        # training labels are known.
        self._added: dict[str, Float] = {}
        self._added_held_out: dict[str, Float] = {}
        share, counts = 30 * config.minutes / len(candidates), problem.inputs.counts
        # A tenth of the budget, which they are not counted in, is what inputs may take.
        self._left_out = [
            one.name for one in candidates[1:] if one.config.inputs_work(counts) > 6 * config.minutes
        ]
        names = [name for name in self._candidates if name not in self._left_out]
        self._stage = Stage(self._turn, [(name, 0, share) for name in names])

    @property
    def work(self) -> float:
        """The work of all runs so far."""
        running = self._stage.running
        return math.fsum([*(run["work"] for run in self.runs), *(turn.work for turn in running)])

    @property
    def _left(self) -> float:
        """The work that is left of the budget."""
        return float(60 * self.config.minutes - self.work)

    @property
    def progress(self) -> float:
        """How many of the runs, or how much of the budget, is done."""
        if self.stopped:
            return 1.0
        rounds = self._rounds.total - self._further
        ahead = [turn.trainer.progress for turn in self._stage.running]
        runs = len(self.runs) + len(ahead) + len(self._stage.planned) + rounds * len(self._candidates)
        return float(
            min(0.99, max((len(self.runs) + sum(ahead)) / runs, 1 - self._left / (60 * self.config.minutes)))
        )

    def _turn(self, name: str, number: int, share: float) -> Turn:
        """Make a fresh training run of a candidate."""
        candidate = self._candidates[name].seeded(self.config.seed * 1000 + number)
        problem = Problem(self.problem.inputs.of(candidate), self._parts(number))
        trainer = work_of(candidate.config).trainer(problem, candidate.config)
        assert isinstance(trainer, Trainer)
        trainer.hold_out(self.config.seed)
        turn = Turn(name, number, trainer, share)
        if number == 0 and turn.epoch_work > share and name != next(iter(self._candidates)):
            turn.share = 0.0
        return turn

    def _parts(self, number: int) -> Known:
        """Return what the runs of a number know."""
        return self._rounds.known(self.problem.known, number, self.config.seed)

    def run_epoch(self) -> Epoch:
        """Train the candidates of this stage on; tell of one epoch.

        One is held back until there is another: who hears of the last one hears that it is the last.
        """
        while len(self._told) < 2 and self._decision is None:
            self._told.extend(self._stage.advance())
            if self._stage.over:
                self._next_stage()
            under_way = sum(turn.trainer.seconds for turn in self._stage.running)
            self.seconds = sum(run["seconds"] for run in self.runs) + under_way
        self.epoch += 1
        epoch = self._told.popleft()
        self.stopped = self._decision is not None and not self._told
        return epoch

    def _next_stage(self) -> None:
        """End the runs of a stage or let them go on; plan further ones, or decide if there are none."""
        cut = []
        for turn in self._stage.running:
            turn.cut = not turn.trainer.stopped
            if not turn.trainer.epoch:
                self._left_out.append(turn.name)
            elif turn.cut and turn.number == 0:
                cut.append(turn)
            else:
                self._end(turn)
        self._stage = self._halved(cut)
        while self._stage.over and self._further < self._rounds.total:
            self._stage = self._further_runs()
        if self._stage.over:
            self._decision = self._decide()

    def _halved(self, cut: list[Turn]) -> Stage:
        """Let the better half of some runs go on, with their share of the budget; end the others."""
        self._stage = Stage(self._turn)
        merits = {turn.name: self._held_out_merit(turn) for turn in cut}
        leader = max([*merits.values(), *(run["held_out"] for run in self.runs if run["round"] == 0)])
        kept = sorted(merits, key=lambda name: -merits[name])[: max(1, len(cut) // 2)]
        halvings = math.ceil(math.log2(max(1, len(kept)))) + 1
        left = self._left - math.fsum(turn.work for turn in cut)
        better = {name for name in kept if left > 0 and not self._is_far(leader, merits[name])}
        for turn in cut:
            if turn.name in better:
                turn.share = turn.work + left / halvings / len(better)
            else:
                self._end(turn)
        return Stage(self._turn, running=[turn for turn in cut if turn.name in better])

    def _further_runs(self) -> Stage:
        """Plan another run of the candidates that are not clearly behind, as far as the budget goes."""
        expected, left = {}, self._left
        for name in self._candidates:
            work = float(np.mean([run["work"] for run in self._runs(name)] or [math.inf]))
            if work <= left and not self._is_behind(name):
                expected[name] = work
                left -= work
        spare = left / max(1, len(expected))
        planned = [(name, self._further, work + spare) for name, work in expected.items()]
        self._further += 1
        return Stage(self._turn, planned)

    def _is_far(self, leader: float, merit: float) -> bool:
        """Whether a run is clearly behind another one, as far as one run can tell."""
        return self.config.metric in CHOOSABLE and clearly_above(leader, merit, len(self._judge.targets))

    def _is_behind(self, name: str) -> bool:
        """Whether a candidate's runs so far are clearly behind those of another."""
        rows = self.table()
        row = next((row for row in rows if row["candidate"] == name), None)
        if row is None:
            return False
        if self.config.metric not in CHOOSABLE:
            return several_behind(row)
        units = self._rounds.scores(self.runs)[name]
        others = sum(len(self._parts(unit).val) for unit in units if self._rounds.elsewhere(unit))
        return clearly_above(rows[0]["score"], row["score"], len(self._judge.targets) + others)

    def _held_out_merit(self, turn: Turn) -> float:
        """Return how good a run is on nodes that chose no epoch."""
        held = turn.trainer.held_out
        assert held is not None
        return self._judge.merit(held.outputs, turn.trainer.problem.val_labels.numpy())

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
                "seconds": result.seconds,
                "work": turn.work,
                "cut": turn.cut,
                **({} if turn.number else trainer.notes()),
            }
        )
        self._logits.setdefault(turn.name, {})[turn.number] = held.logits.clone()
        if self._rounds.keeps(turn.number):
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
        if self.config.propagate:
            self._confirm_corrections(names)
        winner, state = self.table()[0]["candidate"], self.problem.inputs.node_state[self.problem.val]
        with threadpool_limits(1, "blas"):
            return self._judge.decide(
                names, self._held, winner, np.asarray(state), self._held_out_scores(winner)
            )

    def _confirm_corrections(self, names: list[str]) -> None:
        """Find what known labels nearby add to candidates, where held-out nodes confirm it.

        Runs on the given parts say whether it helps. Where validation nodes teach, their labels then add too.
        """
        problem = self.problem
        edges = walk_matrix(problem.inputs.counts.adjacency("edge"))
        for name in names:
            given = [number for number in self._kept[name] if not self._rounds.elsewhere(number)]
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

        A node has one row, or one for each of the dealt parts in which it was held out.
        """
        val, held = self.problem.val, self._held
        others = [number for number in sorted(self._logits[winner]) if self._rounds.elsewhere(number)]
        if self._rounds.deals:
            parts = [val, *(self._parts(number).val for number in others)]
            said = {
                name: np.concatenate([held[name], *(self._outputs(name, number) for number in others)])
                for name in held
                if set(others) <= self._logits[name].keys()
            }
        else:
            judged = np.unique(np.concatenate([val, *(self._parts(number).val for number in others)]))
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
            self.problem.inputs.node_state.shape[1],
        )
        task, targets = self.problem.task, self._judge.targets
        temperatures = [task.temperature(held[name], targets) for name in decision.names]
        self.model.temperatures.copy_(torch.tensor(temperatures))
        if decision.blend is not None:
            self.model.shares.copy_(torch.from_numpy(decision.blend.shares))
        if decision.chooser is not None:
            self.model.set_chooser(decision.chooser)
        self.model.set_added(self._added, self.problem.inputs.edges_digest)
        self.model.eval()
        self.problem.inputs.model = self.model
        winner = decision.winner
        kept_runs = [run for run in self._runs(winner) if self._rounds.keeps(run["round"])]
        best = max(kept_runs, key=lambda run: float(run["held_out"]))
        scores = Scores(best["loss"], best["accuracy"], best["score"])
        if len(kept_runs) > 1 or winner in self._added:  # what is said of nodes that chose no epoch
            scores = self._judge.scores(held[winner])
        if decision.mode == NODES:  # what the choices earn on nodes that they were not fitted on
            earned = decision.evidence[1].value
            scores = Scores(scores.loss, earned, earned)
        if decision.mode == BLEND:  # likewise, by shares that were not fitted on them
            assert decision.blend is not None
            scores = self._judge.scores(decision.blend.held_out)
        loss, accuracy, score = scores
        return FitResult(self.epoch, best["best_epoch"], accuracy, loss, score, self.seconds)

    def _runs(self, name: str) -> list[dict[str, Any]]:
        return [run for run in self.runs if run["candidate"] == name]

    def table(self) -> list[dict[str, Any]]:
        """Return how the candidates stand, the best first (`mcn.train.select.schedule.standings`)."""
        return standings(self.runs, self._rounds, list(self._candidates))

    def notes(self) -> dict[str, Any]:
        """Return the table, all runs of the candidates, and what was decided by which evidence."""
        deals = {run["round"] for run in self.runs if self._rounds.elsewhere(run["round"])}
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
        return self._held[decision.winner], len(decision.names)

    @property
    def learned_from_validation(self) -> bool:
        """Whether a network that predicts was trained on validation nodes."""
        decision, rounds = self._decision, self._rounds
        used = [] if decision is None else decision.predicting
        return any(rounds.elsewhere(number) for name in used for number in self._kept[name])

    def remarks(self) -> list[str]:
        """Return what predicts and what choosing per node is worth, in sentences."""
        if self._decision is None:
            return []
        said = self._decision.sentences()
        if self.learned_from_validation:
            said.append(
                "validation nodes teach what predicts too: each of its networks has learned from four fifths "
                "of all labelled nodes and was judged by the others"
            )
        near = [name for name in self._decision.predicting if name in self._added]
        if near:
            said.append(f"known labels nearby correct what is predicted by {', '.join(near)}")
        if self._left_out:
            said.append(
                f"too large for this budget, left out: {', '.join(self._left_out)}; give more minutes"
            )
        return said

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
            "left_out": self._left_out,
            "further": self._further,
            "planned": self._stage.planned,
            "running": [turn.state() for turn in self._stage.running],
            "decided": self._decision is not None,
        }

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave; what was decided is decided again, by the same."""
        self.epoch, self.stopped, self.seconds = state["epoch"], state["stopped"], state["seconds"]
        self.runs, self._left_out, self._further = state["runs"], state["left_out"], state["further"]
        self._told = deque(Epoch(**values) for values in state["told"])
        kept, held = below("kept.", tensors), below("held.", tensors)
        self._kept, self._logits = {}, {}
        for run in self.runs:
            name, number = run["candidate"], run["round"]
            self._logits.setdefault(name, {})[number] = held[f"{name}.{number}"].clone()
            if self._rounds.keeps(number):
                weights = below(f"{name}.{number}.", kept)
                self._kept.setdefault(name, {})[number] = self._network(self._candidates[name], weights)
        turns = []
        for place, values in enumerate(state["running"]):
            turn = self._turn(values["name"], values["number"], values["share"])
            turn.cut = values["cut"]
            turn.trainer.load(below(f"turn.{place}.", tensors), values["trainer"])
            turns.append(turn)
        planned = [(name, number, share) for name, number, share in state["planned"]]
        self._stage = Stage(self._turn, planned, turns)
        self._decision = self._decide() if state["decided"] else None

    def _network(self, candidate: Candidate, weights: dict[str, torch.Tensor]) -> torch.nn.Module:
        """Make the network of a run that a checkpoint has the weights of."""
        inputs = self.problem.inputs.of(candidate)
        network = work_of(candidate.config).network(
            inputs.in_channels, self.problem.num_classes, candidate.config
        )
        network.load_state_dict(weights)
        return network.eval()
