"""Mini-batches, in memory and from disk: the full batch where nothing is left out, exact in validation."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

import mcn
from mcn.data.sparse import feature_csr
from mcn.matrices import PSI_NAMES
from mcn.train import fit, prepare, train
from mcn.train.loop import below
from mcn.train.mcn.batches import mean_share
from mcn.train.memory import fit_into_memory, store_bytes, too_large
from tests.conftest import refuses
from tests.train.graphs import new_trainer, predicted, same_tensors, settings, small_config, small_graph

PLAIN: dict[str, Any] = {"dropout": 0.0, "epsilon": 0.0}
KINDS: dict[str, dict[str, Any]] = {
    "mcn": {"attention": "gated", "gate": True},
    "paper": {"attention": "paper", "steps": 2, "psi": "transition"},
    "learned value": {"attention": "paper", "advantage": "learned"},
    "gat": {"motifs": ("edge",), "motif_attention": False},
    "gcn": {"motifs": ("edge",), "motif_attention": False, "self_attention": False, "heads": 1},
}


def run(trainer: Any, epochs: int) -> dict[str, torch.Tensor]:
    for _ in range(epochs):
        trainer.run_epoch()
    return dict(trainer.tensors())


@pytest.mark.parametrize("kind", KINDS)
def test_one_batch_of_everybody_and_all_neighbours_is_the_full_batch(kind: str) -> None:
    data, config = small_graph(), small_config(**PLAIN, **KINDS[kind])
    full = run(new_trainer(data, config), 3)
    own = run(new_trainer(data, config.replace(batch_size=1000, neighbours=(-1,))), 3)
    assert own.keys() == full.keys()
    for name, value in full.items():
        torch.testing.assert_close(own[name], value, rtol=1e-4, atol=1e-5, msg=name)


def test_resumed_bit_by_bit_with_any_number_of_workers() -> None:
    data, config = small_graph(), small_config(batch_size=7, neighbours=(3, 2))
    whole = new_trainer(data, config)
    saved = {name: value.clone() for name, value in run(whole, 2).items()}, whole.state()
    undisturbed = run(whole, 2)
    for workers in (0, 2):
        resumed = new_trainer(data, config.replace(loader_workers=workers))
        resumed.load(*saved)
        assert same_tensors(run(resumed, 2), undisturbed)


@pytest.mark.parametrize("batch_size", [4, 7])
def test_the_running_mean_of_the_weights_is_validated_and_kept(batch_size: int) -> None:
    config = small_config(batch_size=batch_size, neighbours=(2,), **KINDS["paper"])
    trainer = new_trainer(small_graph(), config)
    seen: list[dict[str, torch.Tensor]] = []

    def look(*_: Any) -> None:
        seen.append({name: value.detach().clone() for name, value in trainer.model.named_parameters()})

    trainer.optimizer.register_step_post_hook(look)
    trainer.run_epoch()
    epoch = trainer.run_epoch()
    steps = -(-len(trainer.problem.train) // batch_size)
    assert len(seen) == 2 * steps
    assert steps > 2
    kept = trainer.best if trainer.best_epoch == 2 else below("mean.", trainer.tensors())
    weights = torch.arange(1.0, len(seen) + 1)  # the n-th step weighs n
    for name, value in trainer.model.named_parameters():
        assert torch.equal(value, seen[-1][name])
        expected = torch.tensordot(weights / weights.sum(), torch.stack([one[name] for one in seen]), 1)
        torch.testing.assert_close(kept[name], expected, rtol=1e-5, atol=1e-7)
    trainer.model.load_state_dict(kept)
    with torch.no_grad():
        assert trainer.final_scores().loss == pytest.approx(epoch.val_loss, rel=1e-6)


def test_later_the_mean_remembers_three_epochs_or_a_hundred_steps_or_an_epoch() -> None:
    assert mean_share(57, 10) == pytest.approx(2 / 59)
    assert mean_share(58, 10) == mean_share(10_000, 10) == 1 / 30
    assert mean_share(10_000, 60) == 1 / 100
    assert mean_share(10_000, 400) == 1 / 400
    assert mean_share(0, 1) == mean_share(77, 1) == 1.0


def test_a_run_with_one_batch_an_epoch_goes_on_with_several() -> None:
    """As with other processes, whose batches together are smaller; but not with another network's mean."""
    data, config = small_graph(), small_config(batch_size=1000, neighbours=(2,), **KINDS["gat"])
    trainer = new_trainer(data, config)
    tensors = run(trainer, 2)
    further = new_trainer(data, config.replace(batch_size=7))
    further.load(tensors, trainer.state())
    assert same_tensors(below("mean.", further.tensors()), below("model.", tensors))
    tensors = run(further, 1)
    tensors[next(name for name in tensors if name.startswith("mean."))] = torch.zeros(3, 1)
    other = new_trainer(data, config.replace(batch_size=7))
    refuses("the mean weights are not those of this network", other.load, tensors, further.state())


@pytest.mark.parametrize("kind", ["mcn", "gcn"])
def test_validation_and_prediction_are_those_of_full_passes(kind: str) -> None:
    data, config = small_graph(), small_config(batch_size=5, neighbours=(2,), max_epochs=3, **KINDS[kind])
    trainer = new_trainer(data, config)
    result = fit(trainer)
    full = new_trainer(data, config.replace(batch_size=None))
    full.model.load_state_dict(trainer.model.state_dict())
    full.model.eval()
    with torch.no_grad():
        expected = full.final_scores()
    assert result.val_accuracy == expected.accuracy
    assert result.val_loss == pytest.approx(expected.loss, rel=1e-6)
    own, other = predicted(trainer), predicted(full)
    np.testing.assert_allclose(own.probabilities, other.probabilities, atol=1e-6)
    np.testing.assert_array_equal(own.motif, other.motif)
    np.testing.assert_array_equal(own.step, other.step)


def test_nodes_alone_are_trained_on() -> None:
    """Every training node is isolated: batches without an edge."""
    data = small_graph()
    alone, ends = data.train_mask, data.edge_index
    data.edge_index = ends[:, ~(alone[ends[0]] | alone[ends[1]])]
    for kind in KINDS.values():
        run(new_trainer(data, small_config(batch_size=4, **kind)), 1)


# From disk.

ON_DISK = small_config(motifs=("edge",), motif_attention=False, batch_size=5, neighbours=(3,), max_epochs=3)


def stored(path: Path, data: Any, **changes: Any) -> mcn.GraphStore:
    given = {"x": data.x.to_dense().numpy(), "y": data.y.numpy(), "classes": None}
    given |= {name: data[name].numpy() for name in ("train_mask", "val_mask", "test_mask")}
    return mcn.GraphStore.write(path, [data.edge_index.numpy()], data.num_nodes, **{**given, **changes})


@pytest.mark.parametrize("psi", PSI_NAMES)
def test_rows_on_disk_are_those_of_the_graph_in_memory(psi: str, tmp_path: Path) -> None:
    data, config, nodes = small_graph(), ON_DISK.replace(psi=psi), np.array([4, 0, 88])
    expected = prepare(data, config).inputs.stack.rows_of(nodes, np.zeros(3, np.int64))
    inputs = prepare(stored(tmp_path / "graph", data, x=feature_csr(data.x)), config).inputs
    for own in (inputs.graph.exact(nodes, np.zeros(3, np.int64)), inputs.graph.exact_base(nodes)):
        np.testing.assert_array_equal(own.indptr, expected.indptr)
        np.testing.assert_array_equal(own.indices, expected.indices)
        np.testing.assert_allclose(own.values, expected.values, rtol=1e-6)
    taken = inputs.features(nodes)
    words = csr_array((taken.values, taken.indices, taken.indptr), shape=(3, 60)).toarray()
    dense = data.x.to_dense()[torch.from_numpy(nodes)]
    np.testing.assert_allclose(words, dense / dense.sum(1, keepdim=True), rtol=1e-6)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_training_from_disk_is_training_from_memory(form: str, tmp_path: Path) -> None:
    data = small_graph()
    if form == "dense":
        data.x = data.x.to_dense() + 0.01  # not mostly zero, so that it stays dense
    store = stored(tmp_path / "graph", data, **({} if form == "dense" else {"x": feature_csr(data.x)}))
    memory, disk = (train(graph, ON_DISK) for graph in (data, store))
    assert memory.result.val_loss == pytest.approx(disk.result.val_loss, rel=1e-4)
    expected = disk.predict(store).probabilities
    np.testing.assert_allclose(memory.predict(data).probabilities, expected, atol=1e-4)
    params = {name: value for name, value in ON_DISK.to_dict().items() if name != "seed"}
    clf = mcn.MCNClassifier(**params).fit(store)
    np.testing.assert_allclose(clf.predict_proba(store), expected, atol=1e-6)
    np.testing.assert_allclose(clf.predict_proba(data), expected, atol=1e-4)


@pytest.mark.parametrize(
    ("given", "config", "message"),
    [
        ({}, ON_DISK.replace(steps=2), "does not go with steps 2: it needs the whole graph in memory"),
        (
            {},
            ON_DISK.replace(batch_size=None),
            "does not go with batch_size none: give batch_size: it needs the whole",
        ),
        (
            {},
            ON_DISK.replace(features="both"),
            "does not go with features both: it needs the whole graph in memory",
        ),
        ({}, ON_DISK.replace(motifs=("edge", "triangle")), "triangle is not counted yet"),
        ({"x": None}, ON_DISK, "the store has no features"),
        ({"val_mask": None}, ON_DISK, "no split in the store"),
        (
            {},
            settings("auto"),
            "a GraphStore does not go with the recipe auto: choose the recipe mcn or paper",
        ),
    ],
)
def test_what_a_store_cannot_give(given: Any, config: Any, message: str, tmp_path: Path) -> None:
    refuses(message, prepare, stored(tmp_path / "graph", small_graph(), **given), config)


# Full batch while it fits, mini-batches where it does not, and a graph that stays on disk.


@pytest.fixture(scope="module")
def counts() -> mcn.MotifCounts:
    data = small_graph()
    return mcn.count_motifs(data.edge_index, data.num_nodes)


def test_the_estimate_by_hand_and_what_is_decided(counts: mcn.MotifCounts) -> None:
    config = settings("mcn", motifs=("edge",), motif_attention=False, heads=2, hidden=3, gate=False)
    n, m = counts.num_nodes, len(counts.pairs)
    entries = 2 * m + n
    matrices = (8 * entries + 8 * n) + 12 * entries + 8 * entries
    assert config.full_batch_bytes(counts) == matrices + 4 * (2 * 3 * entries + 6 * 12 * n)
    least = settings("mcn", motifs=("edge",)).full_batch_bytes(counts)
    larger = {"motifs": ("edge", "triangle"), "steps": 2, "heads": 9, "hidden": 9, "num_layers": 3}
    for name, value in larger.items():
        config = settings("mcn", **{"motifs": ("edge",), name: value})
        assert config.full_batch_bytes(counts) > least, name
    assert settings("auto").full_batch_bytes(counts) == settings("mcn").full_batch_bytes(counts)
    for recipe in ("mcn", "auto"):
        config = settings(recipe)
        assert fit_into_memory(config, counts, free=1e9) == (config, None)
        smaller, line = fit_into_memory(config, counts, free=1e5)
        assert smaller == config.replace(batch_size=1024)
        drawn = " with 10 neighbours" if recipe == "mcn" else ""
        assert f"mini-batches of 1,024 nodes{drawn} (--batch-size, --neighbours)" in line
        assert "97.7 KiB are free" in line
        own = config.replace(batch_size=7)
        assert fit_into_memory(own, counts, free=1.0) == (own, None)
    assert fit_into_memory(settings("views"), counts, free=1.0) == (settings("views"), None)
    agreeing = settings("mcn", consistency=1.0)
    same, line = fit_into_memory(agreeing, counts, free=1e5)
    assert same == agreeing
    assert "does not go with consistency" in line


def test_a_packed_graph_that_is_too_large(tmp_path: Path) -> None:
    store = stored(tmp_path / "graph", small_graph())
    need = 122 * store.num_edges + 2 * 4 * 90 * 60 + 64 * 90
    assert store_bytes(store) == need
    assert too_large(store, free=need / 0.7 + 1) is None
    said = too_large(store, processes=3, free=need)
    assert said.startswith("the graph in memory needs about ")
    assert " in 3 processes, " in said


def test_settings_for_a_graph_on_disk() -> None:
    own = settings("mcn", hidden=3)
    assert own.for_disk(()) == own.replace(batch_size=1024)
    assert own.replace(batch_size=7).for_disk(()) == own.replace(batch_size=7)
    assert settings("auto", hidden=3, seed=5).for_disk(["hidden"]) == own.replace(batch_size=1024, seed=5)
    for config, given in ((settings("auto"), ["recipe"]), (settings("views"), [])):
        refuses(f"the recipe {config.recipe} needs the graph in memory", config.for_disk, given)
    message = "minutes is a setting of the recipe auto; the recipe mcn has none"
    refuses(message, settings("auto", minutes=1).for_disk, ["minutes"])
