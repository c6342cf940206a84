"""Full batch while it fits, mini-batches where it does not, and a graph that stays on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcn
from mcn.train.memory import fit_into_memory, store_bytes, too_large
from tests.train.graphs import settings, small_graph


@pytest.fixture(scope="module")
def counts() -> mcn.MotifCounts:
    data = small_graph()
    return mcn.count_motifs(data.edge_index, data.num_nodes)


def test_the_estimate_by_hand(counts: mcn.MotifCounts) -> None:
    config = settings("mcn", motifs=("edge",), motif_attention=False, heads=2, hidden=3, gate=False)
    n, m = counts.num_nodes, len(counts.pairs)
    entries = 2 * m + n
    matrices = (8 * entries + 8 * n) + 12 * entries + 8 * entries
    assert config.full_batch_bytes(counts) == matrices + 4 * (2 * 3 * entries + 6 * 12 * n)
    least = settings("mcn", motifs=("edge",)).full_batch_bytes(counts)
    for more in (
        {"motifs": ("edge", "triangle")},
        {"steps": 2},
        {"heads": 9},
        {"hidden": 9},
        {"num_layers": 3},
    ):
        assert settings("mcn", **{"motifs": ("edge",), **more}).full_batch_bytes(counts) > least, more
    assert settings("auto").full_batch_bytes(counts) == settings("mcn").full_batch_bytes(counts)


def test_what_is_decided(counts: mcn.MotifCounts) -> None:
    for recipe in ("mcn", "auto"):
        config = settings(recipe)
        assert fit_into_memory(config, counts, free=1e9) == (config, None)
        smaller, line = fit_into_memory(config, counts, free=1e5)
        assert smaller == config.replace(batch_size=1024)
        assert line is not None
        assert "mini-batches of 1,024 nodes" in line
        assert "97.7 KiB are free" in line
        own = config.replace(batch_size=7)
        assert fit_into_memory(own, counts, free=1.0) == (own, None)
    assert fit_into_memory(settings("views"), counts, free=1.0) == (settings("views"), None)
    agreeing = settings("mcn", consistency=1.0)
    same, line = fit_into_memory(agreeing, counts, free=1e5)
    assert same == agreeing
    assert line is not None
    assert "batch_size needs consistency 0" in line


def test_a_packed_graph_that_is_too_large(tmp_path: Path) -> None:
    data = small_graph(dense=True)
    store = mcn.GraphStore.write(
        tmp_path / "graph", [data.edge_index.numpy()], data.num_nodes, x=data.x.numpy()
    )
    need = 122 * store.num_edges + 2 * 4 * 90 * 60 + 64 * 90
    assert store_bytes(store) == need
    assert too_large(store, free=need / 0.7 + 1) is None
    said = too_large(store, processes=3, free=need)
    assert said is not None
    assert said.startswith("the graph in memory needs about ")
    assert " in 3 processes, " in said


def test_settings_for_a_graph_on_disk() -> None:
    own = settings("mcn", hidden=3)
    assert own.for_disk(()) == own.replace(batch_size=1024)
    assert own.replace(batch_size=7).for_disk(()) == own.replace(batch_size=7)
    assert settings("auto", hidden=3, seed=5).for_disk(["hidden"]) == own.replace(batch_size=1024, seed=5)
    for config, given in ((settings("auto"), ["recipe"]), (settings("views"), [])):
        with pytest.raises(ValueError, match=f"the recipe {config.recipe} needs the graph in memory"):
            config.for_disk(given)
    with pytest.raises(ValueError, match="minutes is a setting of the recipe auto; the recipe mcn has none"):
        settings("auto", minutes=1).for_disk(["minutes"])
