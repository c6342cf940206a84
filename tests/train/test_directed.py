"""Training with direction: the layer that sums, a planted digraph, what the data says, and run folders."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import mcn
from graphmotifs.graph import simple_graph
from mcn.motifs import count_motifs
from mcn.nn import SumConv
from mcn.train import RECIPES, load_run, prepare, train
from mcn.viz.explanation import explain
from tests.conftest import refuses
from tests.train.graphs import settings, train_until_killed

CANDIDATES = ("mlp", "gcn", "dir-sage", "mcn-dir")
SUMS = {"motifs": ("out", "in"), "sum_motifs": True, "self_attention": False, "heads": 1}


def planted(directed: bool = True) -> Data:
    """Members point to three hubs of their class and three others point to them: no edge tells them apart."""
    rng = np.random.default_rng(0)
    y, hubs, arcs = rng.integers(0, 2, 240), 240 + np.arange(40).reshape(2, 20), []
    for node, own in enumerate(y):
        arcs += [(node, hub) for hub in rng.choice(hubs[own], 3, replace=False)]
        arcs += [(hub, node) for hub in rng.choice(hubs[1 - own], 3, replace=False)]
    kind = np.repeat([0, 1, 2], [240, 20, 20])
    data = Data(x=torch.eye(3)[kind], edge_index=torch.tensor(np.array(arcs).T), num_nodes=280)
    data.y = torch.tensor([*y, *[-1] * 40])
    part = torch.tensor([*rng.permutation(240) % 3, *[3] * 40])
    data.train_mask, data.val_mask, data.test_mask = part == 0, part == 1, part == 2
    data.directed = directed
    if not directed:
        data.edge_index = torch.from_numpy(simple_graph(data.edge_index, data.num_nodes).edge_index)
    return data


@pytest.mark.parametrize("self_weights", [False, True])
def test_a_layer_that_sums_equals_dense_torch_and_so_do_its_gradients(self_weights):
    torch.manual_seed(0)
    counts = count_motifs(np.random.default_rng(0).integers(0, 12, (2, 30)), 12, directed=True)
    stack = mcn.MotifStack.from_counts(counts, ["out", "in"], steps=2, psi="transition")
    conv = SumConv(5, 3, 2, 2, self_weights=self_weights).double()
    x = torch.randn(12, 5, dtype=torch.float64, requires_grad=True)
    expected = own = conv.bias + (x @ conv.self_weight if self_weights else 0)
    for option, weight in enumerate(conv.weight.chunk(4, 1)):
        matrix = torch.from_numpy(stack.matrix(stack.motifs[option // 2], option % 2 + 1).toarray())
        expected = expected + matrix / (matrix.sum(1)[:, None] * matrix.sum(0)).sqrt() @ x @ weight
    found = conv(x, stack)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-7)  # rows are float32
    weights, inputs = torch.randn_like(found), [x, *conv.parameters()]
    one, other = (torch.autograd.grad((out * weights).sum(), inputs) for out in (found, expected))
    for a, b in zip(one, other, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
    parts = [conv.what_if(x, stack, option, None)[0] for option in range(4)]
    torch.testing.assert_close(sum(parts), found + 3 * own)
    block = stack.block([0, 1, 2])
    refuses("has no choices, and needs a whole MotifStack", conv, x[torch.from_numpy(block.src)], block)


def test_only_direction_tells_the_class():
    data, without = planted(), planted(directed=False)
    auto = mcn.AutoClassifier(candidates=CANDIDATES, minutes=0.03, random_state=0).fit(data)
    assert auto.score(data) >= 0.9
    assert mcn.MCNClassifier(motifs=("in", "out", "edge"), max_epochs=150).fit(data).score(data) >= 0.9
    plain = mcn.AutoClassifier(candidates=("gcn", "trees", "mcn"), minutes=0.03).fit(without)
    assert plain.score(without) < 0.65
    columns = prepare(data, settings("trees", motifs=("edge", "in", "out"))).inputs.columns()
    assert {"in-degree", "out-degree", "mean of column 0 over in-neighbours"} <= {name for name, _ in columns}
    refuses("motif 'in' needs direction", mcn.MCNClassifier(motifs=("in", "out")).fit, without)
    refuses("motif 'out' needs direction", mcn.AutoClassifier(candidates=("dir-sage",)).fit, without)
    data.edge_weight = torch.ones(data.num_edges)
    refuses(
        "data.directed does not go with data.edge_weight: leave out the one", mcn.MCNClassifier().fit, data
    )


def test_direction_is_tried_where_the_graph_has_it_and_nowhere_else():
    for directed, expected in ((True, {"dir-trees", "dir-sage", "dir-sage-3", "mcn-dir"}), (False, set())):
        data = planted(directed=directed)
        config = RECIPES["auto"].config().settled(prepare(data, RECIPES["auto"].config()))
        assert set(config.candidates) - set(RECIPES["auto"].config().candidates) == expected
    turned = planted()
    turned.edge_index = turned.edge_index.flip(0)
    assert len({prepare(each, settings("mcn")).fingerprint() for each in (planted(), turned, data)}) == 3
    refuses("batch_size 9 does not go with sum_motifs true", settings, "mcn", batch_size=9, **SUMS)
    refuses(
        "sum_motifs true does not go with self_attention true: set self_attention to false",
        settings,
        "mcn",
        sum_motifs=True,
    )
    refuses(
        r"direction \(motifs in\) does not go with the recipe views: use the recipe mcn",
        prepare,
        planted(),
        settings("views", motifs=("in",)),
    )


@pytest.mark.parametrize("config", [settings("mcn", **SUMS), settings("mcn", motifs=("edge", "in", "out"))])
def test_a_run_is_saved_resumed_explained_and_predicts_the_same(config, tmp_path: Path):
    data, config = planted(), config.replace(max_epochs=12)
    whole = train(data, config, tmp_path / "whole")
    train_until_killed(data, config, tmp_path / "resumed", 5)
    resumed = train(data, config, tmp_path / "resumed", resume=True)
    for run in (resumed, load_run(tmp_path / "whole"), load_run(tmp_path / "resumed")):
        assert np.array_equal(whole.predict(data).probabilities, run.predict(data).probabilities)
    shown = explain(load_run(tmp_path / "whole"), data)
    assert (shown.kind, shown.motif.shape[1]) == (("sums", 0) if config.sum_motifs else ("choices", 2))
    assert [option.motif for option in shown.options] == list(config.motifs)
