"""MCN: f and f' choose in every epoch; the seed decides everything, threads and test labels nothing."""

import random
from functools import cache
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.modules.module import register_module_forward_hook
from torch_geometric.data import Data

import mcn
from mcn.data import load_dataset, load_graph, strong_ties
from mcn.nn._parallel import one_torch_thread
from mcn.nn.selector import Selector
from mcn.train import Predictions, accuracy_on_test, train
from mcn.train.mcn.config import ATTENTION, CHANGES
from mcn.train.presets import dataset_config
from tests.train.graphs import (
    history,
    new_trainer,
    on_cores,
    predicted,
    same_tensors,
    same_weights,
    settings,
    small_config,
    small_graph,
    trained,
    with_other_test_labels,
)

# MCN is MCN.


@pytest.mark.parametrize("way", ["estimator", "train"])
def test_the_selectors_run_in_every_epoch(way: str) -> None:
    """Every epoch asks f and f' of both layers while it trains, then while it validates."""
    data = load_dataset("strong-ties")
    training: list[bool] = []

    def note(module: torch.nn.Module, _inputs: Any, _output: Any) -> None:
        if isinstance(module, Selector):
            training.append(module.training)

    hook = register_module_forward_hook(note)
    try:
        if way == "estimator":
            model = mcn.MCNClassifier(max_epochs=5).fit(data).model_
        else:
            model = train(data, dataset_config("mcn", "strong-ties", max_epochs=5)).model
    finally:
        hook.remove()
    assert isinstance(model, mcn.MCN)
    turns = [(flag, len(list(calls))) for flag, calls in groupby(training)]
    assert [flag for flag, _ in turns] == [True, False] * 5
    assert [count for flag, count in turns if flag] == [2] * 5
    assert all(count >= 2 for _, count in turns)


# The seed decides everything; threads, interruptions and test labels decide nothing.


def test_the_seed_decides_everything() -> None:
    data = small_graph()
    torch.manual_seed(1)
    first = trained(data, small_config(seed=3))
    torch.manual_seed(2)  # the global generator plays no part, nor is it touched
    before = torch.get_rng_state()
    second = trained(data, small_config(seed=3))
    assert torch.equal(torch.get_rng_state(), before)
    assert same_weights(first, second)
    assert not same_weights(first, trained(data, small_config(seed=4)))


def test_threads_decide_nothing() -> None:
    """Counting, building the stack and training with one core, and with two."""
    data = small_graph(num_nodes=1500, num_words=600, words_per_node=60)
    config = small_config(hidden=16, heads=8, max_epochs=3, steps=2, motifs=("edge", "triangle", "4-path"))
    results = []
    for count in (1, 2):
        with on_cores(count):
            trainer = trained(data, config)
            probabilities = torch.from_numpy(predicted(trainer).probabilities)
            results.append({**trainer.model.state_dict(), "probabilities": probabilities})
            assert torch.get_num_threads() == count  # torch has its threads back
    assert same_tensors(*results)


def test_test_labels_decide_nothing() -> None:
    data = small_graph()
    for attention in ATTENTION:
        config = small_config(attention=attention)
        first, second = (new_trainer(graph, config) for graph in (data, with_other_test_labels(data)))
        assert history(first) == history(second)
        assert same_weights(first, second)


@pytest.mark.parametrize("recipe", ["mcn", "auto"])
def test_edges_in_another_order_and_direction_change_no_byte(recipe: str, tmp_path: Path) -> None:
    data, nodes = strong_ties(num_nodes=240, val=60, test=60), tmp_path / "nodes.csv"
    rows = [[number, int(data.y[number]), number % 7, number * 13 % 11] for number in range(240)]
    nodes.write_text("id,label,a,b\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    edges = data.edge_index[:, data.edge_index[0] < data.edge_index[1]].T.tolist()
    draw = random.Random(0)
    other = [edge if draw.random() < 0.5 else edge[::-1] for edge in draw.sample(edges, len(edges))]
    config = settings(recipe, max_epochs=3, **({"repeats": 1} if recipe == "auto" else {}))
    for name, lines in (("given", edges), ("other", other)):
        path = tmp_path / f"{name}.csv"
        path.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in lines))
        train(load_graph(path, nodes), config, tmp_path / name)
    for name in ("model.safetensors", "predictions.csv"):
        assert (tmp_path / "given" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


# Learning, and the gate.


def test_a_closed_gate_means_no_choice() -> None:
    """The gate starts closed, opens when the learned choices lead, and is only there if asked for."""
    data = small_graph()
    trainer = new_trainer(data, small_config(attention="paper", gate=True, steps=2))
    assert trainer.plain
    trainer.lead = -1.0  # far behind: one epoch cannot open it
    with one_torch_thread():
        trainer.run_epoch()
    assert trainer.plain
    trainer.model.load_state_dict(trainer.best)
    own = predicted(trainer)
    assert not own.motif.any()
    assert (own.step == 1).all()
    trainer.lead = 0.1
    assert not trainer.plain
    assert not new_trainer(data, small_config(attention="paper", gate=False)).plain
    assert not new_trainer(data, small_config(motifs=("edge",), gate=True)).plain


@pytest.mark.parametrize("batches", [{}, {"batch_size": 7}], ids=["full", "batches"])
@pytest.mark.parametrize("lead", [-1.0, 1.0], ids=["closed", "open"])
def test_held_out_scores_are_of_the_choices_that_were_judged(lead: float, batches: dict[str, int]) -> None:
    """With a gate two passes are tried, and the one that counts is what a selection is told."""
    trainer = new_trainer(small_graph(), small_config(motifs=("triangle", "edge"), **batches))
    held: list[torch.Tensor] = []
    trainer.held_out = SimpleNamespace(update=lambda logits: held.append(logits.clone()))
    labels = trainer.problem.val_labels
    for _ in range(4):
        trainer.lead = lead
        epoch = trainer.run_epoch()
        assert trainer.plain == (lead < 0)
        assert float(torch.nn.functional.cross_entropy(held[-1], labels)) == epoch.val_loss
        assert float((held[-1].argmax(1) == labels).double().mean()) == epoch.val_accuracy


def test_the_selector_may_have_a_learning_rate_of_its_own() -> None:
    trainer = new_trainer(small_graph(), small_config(policy_lr=0.1, policy_decay=0.0))
    network, selector = trainer.optimizer.param_groups
    assert (network["lr"], network["weight_decay"]) == (0.005, 0.0005)
    assert (selector["lr"], selector["weight_decay"]) == (0.1, 0.0)
    names = [name for name, _ in trainer.model.named_parameters()]
    assert len(selector["params"]) == sum(".selector." in name for name in names) > 0
    assert len(network["params"]) + len(selector["params"]) == len(names)
    alike = new_trainer(small_graph(), small_config())
    assert {group["lr"] for group in alike.optimizer.param_groups} == {0.005}


# The embedded graph: where neighbourhoods differ by node, choosing per node pays.

SEEDS = (0, 1)
GAT, GCN = (settings("mcn", **CHANGES[name]) for name in ("gat", "gcn"))
TRIANGLE = settings("mcn", motifs=("triangle",), motif_attention=False)


@cache
def on_strong_ties(config: Any) -> tuple[float, Predictions]:
    """Test accuracy in percent on the embedded graph, and the predictions."""
    return on_graph(load_dataset("strong-ties"), config)


def on_graph(graph: Data, config: Any) -> tuple[float, Predictions]:
    own = train(graph, config).predict(graph)
    return 100 * accuracy_on_test(graph, own.labels), own


def mean(config: Any) -> float:
    return sum(on_strong_ties(config.replace(seed=seed))[0] for seed in SEEDS) / len(SEEDS)


def test_choosing_pays_on_a_smaller_graph() -> None:
    """One seed, few epochs: MCN is ahead of GAT, and its nodes choose as they should."""
    small = strong_ties(num_nodes=600, val=150, test=300)
    accuracy, own = on_graph(small, settings("mcn", attention="paper", max_epochs=150))
    assert accuracy > on_graph(small, GAT.replace(max_epochs=150))[0] + 10
    strong = small.strong.numpy()
    assert min(((layer == 1) == strong).mean() for layer in own.motif.T) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("attention", ATTENTION)
def test_choosing_pays(attention: str) -> None:
    config, strong = settings("mcn", attention=attention), load_dataset("strong-ties").strong.numpy()
    assert mean(config) >= max(mean(GAT), mean(GCN), mean(TRIANGLE)) + 10
    for seed in SEEDS:
        for layer in on_strong_ties(config.replace(seed=seed))[1].motif.T:
            assert (layer[strong] == 1).mean() >= 0.9
            assert (layer[~strong] == 0).mean() >= 0.9


@pytest.mark.slow
def test_without_the_triangle_the_gap_is_gone() -> None:
    assert abs(mean(settings("mcn", attention="paper", motifs=("edge", "2-star"))) - mean(GAT)) < 5


ARCHITECTURES = [{}, {"norm": "layer"}, {"norm": "batch"}, {"residual": True}, {"self_weights": True}]


@pytest.mark.parametrize("changes", ARCHITECTURES, ids=str)
def test_rows_made_when_chosen_predict_the_same(changes: dict[str, Any]) -> None:
    """A network with norms, residuals or self weights too, which is not inferred a few rows at a time."""
    config = settings("mcn", max_epochs=4, num_layers=3, hidden=4, heads=2, **changes)
    stored, made = (trained(small_graph(), config.replace(materialize=whole)) for whole in (True, False))
    assert np.allclose(predicted(stored).probabilities, predicted(made).probabilities, atol=1e-6)
