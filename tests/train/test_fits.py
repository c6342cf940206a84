"""Full batch while it fits, mini-batches where it does not, and one line that says so."""

from __future__ import annotations

import pytest
from mcn.train.fits import decide, full_batch_bytes

import mcn
from mcn.train import MCNConfig, ViewsConfig
from tests.train.graphs import small_graph


@pytest.fixture(scope="module")
def counts() -> mcn.MotifCounts:
    data = small_graph()
    return mcn.count_motifs(data.edge_index, data.num_nodes)


def test_the_estimate_by_hand(counts: mcn.MotifCounts) -> None:
    config = MCNConfig(motifs=("edge",), motif_attention=False, heads=2, hidden=3, gate=False)
    n, m = counts.num_nodes, len(counts.pairs)
    entries = 2 * m + n
    matrices = (8 * entries + 8 * n) + 12 * entries + 8 * entries
    assert full_batch_bytes(counts, config) == matrices + 4 * (2 * 3 * entries + 6 * 12 * n)


def test_what_is_decided(counts: mcn.MotifCounts) -> None:
    config = MCNConfig()
    kept = decide(config, counts, free=1e9)
    assert kept.config == config
    assert kept.line is not None
    assert kept.line.endswith("the whole graph in every step")
    smaller = decide(config, counts, free=1e5)
    assert smaller.config == config.replace(batch_size=1024)
    assert smaller.line is not None
    assert "mini-batches of 1,024 nodes with 10 neighbours" in smaller.line
    assert "97.7 KiB are free" in smaller.line
    own = config.replace(batch_size=7)
    assert decide(own, counts, free=1.0) == (own, None)
    assert decide(ViewsConfig(), counts, free=1.0) == (ViewsConfig(), None)
    agreeing = config.replace(consistency=1.0)
    refused = decide(agreeing, counts, free=1e5)
    assert refused.config == agreeing
    assert refused.line is not None
    assert "batch_size needs consistency 0" in refused.line


def test_more_of_everything_needs_more(counts: mcn.MotifCounts) -> None:
    least = full_batch_bytes(counts, MCNConfig(motifs=("edge",)))
    more = [{"motifs": ("edge", "triangle")}, {"steps": 2}, {"heads": 9}, {"hidden": 9}, {"num_layers": 3}]
    for each in more:
        assert full_batch_bytes(counts, MCNConfig(**{"motifs": ("edge",), **each})) > least, each  # type: ignore[arg-type]
