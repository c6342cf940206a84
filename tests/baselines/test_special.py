"""tab:gen: GCN and GAT are special cases, and their configurations make exactly them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.nn import GATConv, GCNConv

from mcn.nn import MCN, MCNConv
from mcn.train import METHODS, MCNConfig, build_model, configure, dataset_config, prepare
from mcn.train.mcn.config import ATTENTION
from mcn.train.problem import Problem
from tests.train.graphs import small_graph

BASE = MCNConfig(hidden=4, heads=3, output_heads=2, motifs=("edge", "triangle"), steps=2, psi="symmetric")


def ready(method: str) -> tuple[Any, Problem, MCN]:
    data, config = small_graph(dense=True), configure(method, BASE)
    problem = prepare(data, config)
    model = build_model(problem, config)
    with torch.no_grad():
        for conv in model.convs:
            conv.bias.uniform_(-1, 1)  # zero at first, which would hide a mistake
    return data, problem, model.eval()


def copy_weights(target: torch.nn.Module, source: MCNConv) -> None:
    with torch.no_grad():
        target.lin.weight.copy_(source.weight.T)
        target.bias.copy_(source.bias)
        if source.att_src is not None:
            target.att_src.copy_(source.att_src[None])
            target.att_dst.copy_(source.att_dst[None])


def test_gat_is_pygs() -> None:
    data, problem, model = ready("gat")
    first, second = GATConv(60, 4, heads=3), GATConv(12, 3, heads=2, concat=False)
    copy_weights(first, model.convs[0])
    copy_weights(second, model.convs[1])
    hidden = torch.nn.functional.elu(first(problem.x, data.edge_index))
    expected = second(hidden, data.edge_index)
    assert torch.allclose(model(problem.x, problem.stack), expected, atol=1e-5)
    rows = problem.val
    assert torch.allclose(model(problem.x, problem.stack, rows), expected[rows], atol=1e-5)


def test_gcn_is_pygs() -> None:
    data, problem, model = ready("gcn")
    first, second = GCNConv(60, 16), GCNConv(16, 3)
    copy_weights(first, model.convs[0])
    copy_weights(second, model.convs[1])
    hidden = torch.nn.functional.elu(first(problem.x, data.edge_index))
    expected = second(hidden, data.edge_index)
    assert torch.allclose(model(problem.x, problem.stack), expected, atol=1e-5)
    assert torch.allclose(model(problem.x, problem.stack, problem.val), expected[problem.val], atol=1e-5)


def test_mlp_looks_at_the_node_alone() -> None:
    _, problem, model = ready("mlp")
    out = model(problem.x, problem.stack)
    x = torch.rand_like(problem.x)
    x[7] = problem.x[7]
    assert torch.allclose(model(x, problem.stack)[7], out[7], atol=1e-6)
    assert not torch.allclose(model(x, problem.stack)[8], out[8], atol=1e-3)
    first, second = model.convs
    hidden = torch.nn.functional.elu(problem.x @ first.weight + first.bias)
    assert torch.allclose(out, hidden @ second.weight + second.bias, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_the_protocol_is_kept(method: str) -> None:
    base = BASE.replace(patience=7, stopping="loss", max_epochs=11, weight_decay=0.1, seed=5, normalize=False)
    config = configure(method, base)
    for name in ("patience", "stopping", "max_epochs", "weight_decay", "seed", "normalize"):
        assert getattr(config, name) == getattr(base, name)
    assert config.chooses is (method == "mcn")
    assert configure("mcn", base) == base


def test_an_unknown_method() -> None:
    with pytest.raises(
        ValueError, match=r"method must be one of mcn, gat, gcn, mlp, got 'gta'; did you mean"
    ):
        configure("gta", MCNConfig())


def test_gats_reference_departs_from_its_defaults() -> None:
    assert dataset_config("citeseer").stopping == "accuracy"
    pubmed = dataset_config("pubmed", steps=2)
    assert (pubmed.output_heads, pubmed.lr, pubmed.weight_decay, pubmed.steps) == (8, 0.01, 0.001, 2)
    assert dataset_config("pubmed", lr=0.5).lr == 0.5
    assert dataset_config(None) == dataset_config("karate") == MCNConfig()


@pytest.mark.parametrize("dataset", ["cora", "citeseer", "pubmed", "dd6"])
def test_the_paper_s_rule_is_the_paper_s_on_every_data_set(dataset: str) -> None:
    config = dataset_config(dataset, attention="paper")
    assert {name: getattr(config, name) for name in ATTENTION["paper"]} == ATTENTION["paper"]
    assert dataset_config(dataset, attention="paper", consistency=0.5).consistency == 0.5
