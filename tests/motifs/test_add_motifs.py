import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData
from torch_geometric.transforms import Compose, ToUndirected

import mcn
from tests.conftest import refuses

# Both directions, one direction, a repeat and a self-loop, in no order: a triangle 0-1-2 with the tail 2-3.
EDGE_INDEX = torch.tensor([[3, 0, 1, 2, 1, 2, 0, 1], [2, 1, 0, 0, 2, 2, 1, 0]])


def test_by_hand() -> None:
    data = Data(edge_index=EDGE_INDEX.clone(), num_nodes=5)
    add = mcn.AddMotifs(["triangle", "tailed-triangle-tail", "tailed-triangle"], induced=True)
    assert repr(add) == "AddMotifs(['triangle', 'tailed-triangle-tail', 'tailed-triangle'], induced=True)"
    out = add(data)
    assert torch.equal(out.edge_index, EDGE_INDEX)
    assert out.motif_edge.dtype == torch.int64
    assert out.motif_edge.tolist() == [
        [0, 1, 1],  # 3-2
        [1, 0, 1],  # 0-1
        [1, 0, 1],  # 1-0
        [1, 0, 1],  # 2-0
        [1, 0, 1],  # 1-2
        [0, 0, 0],  # 2-2
        [1, 0, 1],  # 0-1 again
        [1, 0, 1],  # 1-0 again
    ]
    assert out.motif_node.shape == (5, 15)
    assert out.motif_node[:, 3].tolist() == [1, 1, 1, 0, 0]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25), st.booleans())
def test_every_column_carries_the_counts_of_its_edge(edges: list[tuple[int, int]], induced: bool) -> None:
    edge_index = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T
    data = mcn.AddMotifs(induced=induced)(Data(edge_index=edge_index, num_nodes=8))
    counts = mcn.count_motifs(edge_index, 8, induced=induced)
    of_pair = dict(zip(map(tuple, counts.pairs.tolist()), counts.per_edge.tolist(), strict=True))
    expected = [of_pair.get((min(e), max(e)), [0] * 13) for e in edges]
    assert data.motif_edge.shape == (len(edges), 13)
    assert data.motif_edge.tolist() == expected
    np.testing.assert_array_equal(data.motif_node.numpy(), counts.per_node)


def test_composes_and_leaves_the_input_alone() -> None:
    data = Data(edge_index=torch.tensor([[0, 1, 0], [1, 2, 2]]), x=torch.ones(3, 2))
    out = Compose([ToUndirected(), mcn.AddMotifs(["triangle"])])(data)
    assert out.motif_edge.tolist() == [[1]] * 6
    assert "motif_edge" not in data
    assert torch.equal(out.x, data.x)


def test_errors() -> None:
    message = r"^unknown motif 'triangel'; did you mean 'triangle' or 'tailed-triangle'\?"
    refuses(message, mcn.AddMotifs, ["triangel"])
    refuses(r"^motifs must be several names, .* 'edge'; write \['edge'\]$", mcn.AddMotifs, "edge")
    refuses(r"works on a torch_geometric\.data\.Data, got HeteroData", mcn.AddMotifs(), HeteroData())
    refuses(r"needs data\.edge_index, and this Data has none", mcn.AddMotifs(), Data(x=torch.ones(3, 1)))
    refuses("a negative node id", mcn.AddMotifs(), Data(edge_index=torch.tensor([[0], [-1]]), num_nodes=2))


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.filterwarnings("ignore:Unable to accurately infer 'num_nodes'")
def test_nodes_that_cannot_be_told() -> None:
    data = Data(edge_index=torch.tensor([[0], [1]]).to_sparse_csr())
    refuses(r"^data\.num_nodes is not given and cannot be told", mcn.AddMotifs(), data)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
def test_ids_of_few_bits_find_their_edges(dtype: torch.dtype) -> None:
    edge_index = torch.stack([torch.arange(100), torch.arange(1, 101)])
    expected = mcn.AddMotifs(["2-star"])(Data(edge_index=edge_index, num_nodes=101)).motif_edge
    found = mcn.AddMotifs(["2-star"])(Data(edge_index=edge_index.to(dtype), num_nodes=101)).motif_edge
    assert torch.equal(found, expected)
