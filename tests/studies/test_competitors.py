"""The methods of the studies, by hand and beside PyG's own layers."""

import math

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCNConv, SAGEConv
from torch_geometric.nn.models import LINKX

from mcn.baselines import METHODS, FixedProduct, adjacency, train_scores, val_accuracy
from studies.competitors.acm_gcn import Mixing
from studies.competitors.gpr_gnn import STEPS, GprNetwork, gpr_gnn, pagerank_weights
from studies.competitors.grand import GrandNetwork, GrandSettings, consistency_loss
from studies.competitors.graphsage import WIDTH as SAGE_WIDTH
from studies.competitors.graphsage import SageNetwork, graphsage
from studies.competitors.link import link
from studies.competitors.linkx import WIDTH as LINKX_WIDTH
from studies.competitors.linkx import LinkxNetwork
from studies.competitors.matrices import row_means, with_self
from studies.ensembles import EnsembleNetwork, motif_products, reaching
from tests.baselines.graphs import block_problem, made_problem, path_problem


def test_they_are_registered_by_the_hook_of_users() -> None:
    names = ("graphsage", "gpr-gnn", "acm-gcn", "linkx", "link", "grand", "gcn-ensemble-15")
    assert all(not METHODS[name].trained and METHODS[name].title for name in names)


def test_graphsage_is_pygs_and_learns() -> None:
    problem = block_problem(sparse=False)
    network = SageNetwork(problem).eval()
    torch.nn.init.normal_(network.bias)
    first, last = SAGEConv(30, SAGE_WIDTH), SAGEConv(SAGE_WIDTH, 3)
    own, around = network.first.weight.data.T.chunk(2)
    first.load_state_dict({"lin_r.weight": own, "lin_l.weight": around, "lin_l.bias": network.bias.data})
    last.lin_r.weight.data, last.lin_l.weight.data = network.own.weight.data, network.mean.weight.data
    last.lin_l.bias.data = network.own.bias.data
    edges = torch.from_numpy(problem.inputs.edge_index)
    expected = last(torch.relu(first(problem.inputs.x, edges)), edges)
    torch.testing.assert_close(network(), expected, rtol=1e-4, atol=1e-5)
    assert val_accuracy(problem, graphsage(problem, 0)) > 0.55


def test_linkx_is_pygs() -> None:
    problem = block_problem(sparse=False)
    network, theirs = LinkxNetwork(problem).eval(), LINKX(150, 30, LINKX_WIDTH, 3, num_layers=2).eval()
    generator = torch.Generator().manual_seed(0)
    for part in [*network.bias, network.norm.weight, network.norm.running_mean]:
        part.data = torch.randn(LINKX_WIDTH, generator=generator)
    with torch.no_grad():
        theirs.edge_lin.weight.copy_(network.edges.weight)
        theirs.edge_lin.bias.copy_(network.bias[0])
        theirs.node_mlp.lins[0].weight.copy_(network.nodes.weight.T)
        theirs.node_mlp.lins[0].bias.copy_(network.bias[1])
    for own, other in (
        (network.join[0], theirs.cat_lin1),
        (network.join[1], theirs.cat_lin2),
        (network.hidden, theirs.final_mlp.lins[0]),
        (network.last, theirs.final_mlp.lins[1]),
        (network.norm, theirs.final_mlp.norms[0].module),
    ):
        other.load_state_dict(own.state_dict())
    expected = theirs(network.features(problem), torch.from_numpy(problem.inputs.edge_index))
    torch.testing.assert_close(network(), expected, rtol=1e-4, atol=1e-5)


def test_channels_of_acm_node_by_node() -> None:
    mixing = Mixing(FixedProduct(row_means(with_self(path_problem()))), 2)
    z = torch.randn(5, 6, generator=torch.Generator().manual_seed(0))
    found = mixing(z).detach().numpy()
    near = [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3], [4]]  # of the path 0 - 1 - 2 - 3 and of 4, each with itself
    values, score, mix = (t.detach().numpy().astype(np.float64) for t in (z, mixing.score, mixing.mix))
    for i, around in enumerate(near):
        mean = values[around].mean(0)
        channels = [mean[:2], values[i, 2:4] - mean[2:4], values[i, 4:]]
        channels = [np.maximum(0, channel) for channel in channels]
        gates = [1 / (1 + math.exp(-channel @ own)) for channel, own in zip(channels, score, strict=True)]
        strength = np.exp(np.array(gates) @ mix / 3)
        weights = strength / strength.sum()
        expected = 3 * sum(w * channel for w, channel in zip(weights, channels, strict=True))
        np.testing.assert_allclose(found[i], expected, rtol=1e-5, atol=1e-6)


def test_gpr_is_the_sum_over_powers() -> None:
    np.testing.assert_allclose(pagerank_weights(0.5, 3), [0.5, 0.25, 0.125, 0.125])
    network = GprNetwork(path_problem(), 0.1, 0.5).eval()
    torch.nn.init.normal_(network.gamma)
    # 0 - 1 - 2 - 3 and 4 alone, with loops: degrees 2, 3, 3, 2, 1.
    a = torch.eye(5, dtype=torch.float64)
    for i, j in ((0, 1), (1, 2), (2, 3)):
        a[i, j] = a[j, i] = 1
    root = torch.tensor([2, 3, 3, 2, 1], dtype=torch.float64).rsqrt()
    a = root[:, None] * a * root
    z = network.last(torch.relu(network.first.weight + network.bias)).double()  # x is the identity
    expected = sum(network.gamma[k] * (torch.linalg.matrix_power(a, k) @ z) for k in range(STEPS + 1))
    torch.testing.assert_close(network().double(), expected, rtol=1e-4, atol=1e-5)


def test_gpr_has_the_authors_settings_of_a_known_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.competitors.gpr_gnn.MAX_EPOCHS", 3)
    own, other = (gpr_gnn(block_problem(dataset=name), 0) for name in ("texas", "mine"))
    assert not np.array_equal(own, other)


def test_who_shares_neighbours_shares_the_class_by_link() -> None:
    """Hubs 0 and 1 with six leaves each: a leaf's class is that of the other leaves of its hub."""
    leaves = np.arange(2, 14)
    hub = leaves % 2
    edges = np.concatenate([[hub, leaves], [leaves, hub]], axis=1)
    labels = torch.full((14,), -1)
    labels[2:8] = torch.from_numpy(1 - hub[:6])  # unlike their hub's number: nothing is passed along edges
    problem = made_problem(torch.zeros(14, 1), edges, labels, np.arange(2, 6), np.arange(6, 8), 2)
    scores = link(problem, 0)
    np.testing.assert_array_equal(scores[leaves].argmax(1), 1 - hub)
    np.testing.assert_allclose(scores.sum(1), 1, rtol=1e-5)


class TestGrand:
    def test_consistency_by_hand(self) -> None:
        # The mean is (0.7, 0.3); squared and made to sum to one it is (49, 9) / 58.
        p = torch.tensor([[[0.9, 0.1]], [[0.5, 0.5]]], dtype=torch.float64, requires_grad=True)
        loss = consistency_loss(p, 0.5)
        q = np.array([49, 9]) / 58
        assert float(loss.detach()) == pytest.approx((2 * (0.9 - q[0]) ** 2 + 2 * (0.5 - q[0]) ** 2) / 2)
        loss.backward()  # type: ignore[no-untyped-call]
        np.testing.assert_allclose(p.grad.numpy()[:, 0], [[0.9, 0.1] - q, [0.5, 0.5] - q])

    def test_prediction_is_a_perceptron_on_the_mean_of_the_powers(self) -> None:
        problem, settings = block_problem(sparse=False), GrandSettings(order=3)
        network = GrandNetwork(problem, settings).eval()
        a = adjacency(problem).toarray() + np.eye(150)
        root = 1 / np.sqrt(a.sum(1))
        a = root[:, None] * a * root
        mixed = sum(np.linalg.matrix_power(a, k) for k in range(4)) / 4 @ (problem.inputs.x.numpy() / 2)
        first, last = network.layers
        expected = last(torch.relu(first(torch.from_numpy(mixed).float())))
        torch.testing.assert_close(network.at(None)(), expected, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("batch_norm", [False, True])
    def test_it_learns_and_is_decided_by_its_seed(self, batch_norm: bool) -> None:
        problem = block_problem()
        settings = GrandSettings(order=2, samples=2, batch_norm=batch_norm)

        def scores(seed: int) -> np.ndarray:
            adam = {"lr": 0.05, "weight_decay": 5e-4}
            return train_scores(
                lambda: GrandNetwork(problem, settings),
                problem,
                seed,
                optimizer=lambda network: torch.optim.Adam(network.parameters(), **adam),
                max_epochs=60,
                stopping="loss",
            )

        first = scores(4)
        np.testing.assert_allclose(first.sum(1), 1, rtol=1e-5)
        assert val_accuracy(problem, first) > 0.55
        np.testing.assert_array_equal(scores(4), first)
        assert not np.array_equal(scores(5), first)


class TestEnsembles:
    def test_with_the_edge_motif_alone_it_is_a_gcn(self) -> None:
        problem = block_problem(sparse=False)
        network = EnsembleNetwork(problem, motif_products(problem, ["edge"], 1), 16, 0.5).eval()
        first, second = GCNConv(30, 16), GCNConv(16, 16, bias=False)
        first.lin.weight.data = network.first.weight.data.T
        second.lin.weight.data = network.second[0].weight.data
        edges = torch.from_numpy(problem.inputs.edge_index)
        hidden = torch.relu(first(problem.inputs.x, edges))
        network.second[0].bias.data.zero_()
        expected = network.classify(second(hidden, edges))
        torch.testing.assert_close(network.at(None)(), expected, rtol=1e-4, atol=1e-5)
        nodes = np.array([7, 3, 140])
        torch.testing.assert_close(network.at(nodes)(), expected[nodes], rtol=1e-4, atol=1e-5)

    def test_one_network_per_motif_and_step_over_what_they_reach(self) -> None:
        problem = block_problem()
        products = motif_products(problem, ["edge", "triangle"], 2)
        assert EnsembleNetwork(problem, products, 24, 0.5).classify.in_features == 4 * 24
        rows, z = np.array([4, 1]), torch.randn(150, 3)
        parts, columns = reaching(products, rows)
        assert columns.tolist() == sorted(set(np.concatenate([p.matrix[rows].indices for p in products])))
        for part, whole in zip(parts, products, strict=True):
            torch.testing.assert_close(part(z[torch.from_numpy(columns)]), whole(z)[rows])
