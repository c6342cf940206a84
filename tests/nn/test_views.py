import numpy as np
import pytest
import torch

from mcn.data import load_dataset
from mcn.matrices import PageRankRows, view_rows
from mcn.motifs import count_motifs
from mcn.nn import MotifViews, exact_features, mix_features
from mcn.nn.features import SparseFeatures, sparse_features

N, F = 34, 12


@pytest.fixture(scope="module")
def rows() -> PageRankRows:
    data = load_dataset("karate")
    counts = count_motifs(data.edge_index, data.num_nodes)
    return view_rows(counts, ["edge", "triangle"], order=3, alpha=0.3, top=6)


@pytest.fixture(scope="module")
def x() -> torch.Tensor:
    values = torch.rand(N, F, generator=torch.Generator().manual_seed(0))
    return torch.where(values < 0.6, torch.zeros(()), values)


@pytest.fixture
def held(x: torch.Tensor) -> SparseFeatures:
    return sparse_features(x.to_sparse_csr())


def mean_row(rows: PageRankRows, view: int, node: int) -> np.ndarray:
    row = rows.matrix(view).toarray()[node]
    return row / row.sum()


def test_features_are_means_over_the_row(rows: PageRankRows, x: torch.Tensor, held: SparseFeatures) -> None:
    nodes, views = np.array([0, 0, 5, 33]), np.array([0, 1, 1, 0])
    mixed = mix_features(rows, held, nodes, views).numpy()
    wanted = np.stack([mean_row(rows, t, i) @ x.numpy() for i, t in zip(nodes, views, strict=True)])
    np.testing.assert_allclose(mixed, wanted, atol=1e-6)
    exact = exact_features(rows, held, nodes[2:]).numpy()
    both = [np.mean([mean_row(rows, t, i) @ x.numpy() for t in (0, 1)], axis=0) for i in nodes[2:]]
    np.testing.assert_allclose(exact, both, atol=1e-6)


def test_dropped_neighbours_leave_a_mean_of_the_others(rows: PageRankRows) -> None:
    """With the identity as features the result is the row itself: some of its entries, summing to one."""
    held = sparse_features(torch.eye(N).to_sparse_csr())
    nodes = np.repeat(np.arange(N), 40)
    views = np.zeros(len(nodes), np.int64)
    mixed = mix_features(rows, held, nodes, views, drop_neighbours=0.5, key=7).numpy()
    full = rows.matrix(0).toarray()[nodes]
    assert not (mixed > 0)[full == 0].any()
    heard = mixed.sum(1)
    assert np.all(np.isclose(heard, 1, atol=1e-5) | (heard == 0))
    kept = (mixed > 0).sum() / (full > 0).sum()
    assert abs(kept - 0.5) < 0.03
    # Those that are kept keep their proportions.
    entry = next(b for b in range(len(nodes)) if (mixed[b] > 0).sum() >= 3)
    some = mixed[entry] > 0
    np.testing.assert_allclose(mixed[entry][some], full[entry][some] / full[entry][some].sum(), rtol=1e-4)


def test_dropout_keeps_the_mean_and_a_key_decides(rows: PageRankRows, held: SparseFeatures) -> None:
    nodes = np.repeat(np.arange(N), 60)
    views = np.ones(len(nodes), np.int64)
    whole = mix_features(rows, held, nodes, views).numpy()
    one, same, other = (
        mix_features(rows, held, nodes, views, dropout=0.25, key=key).numpy() for key in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    kept = one != 0
    np.testing.assert_allclose(one[kept], whole[kept] / 0.75, rtol=1e-5)
    assert abs(kept.sum() / (whole != 0).sum() - 0.75) < 0.01


def test_the_network_is_a_perceptron_after_norms_of_rows_and_batches() -> None:
    torch.manual_seed(0)
    model = MotifViews(F, 5, 3, 2).eval()
    x = torch.rand(4, F)
    first, last = model.layers
    wanted = torch.relu(x @ first.weight.T + first.bias) @ last.weight.T + last.bias  # type: ignore[operator, union-attr]
    torch.testing.assert_close(model(x), wanted)
    model = MotifViews(F, 5, 3, 1, batch_norm=True, row_norm=True, input_dropout=0.4).eval()
    assert model.mixes_dropout == 0.0  # the dropout has to come after them
    torch.testing.assert_close(model(x), model(3 * x))
    plain = MotifViews(F, 5, 3, 2, input_dropout=0.4)
    assert plain.mixes_dropout == 0.4


def test_the_first_layer_may_come_first(rows: PageRankRows, x: torch.Tensor, held: SparseFeatures) -> None:
    model = MotifViews(F, 5, 3, num_layers=3)
    views = np.arange(N) % 2
    mixed = mix_features(rows, held, np.arange(N), views)
    torch.testing.assert_close(model.whole(held, rows.select(views)), model(mixed))
    torch.testing.assert_close(model.whole(held, rows.mean), model(exact_features(rows, held, np.arange(N))))
    keep = (torch.arange(N) % 3).view(-1, 1).float()
    own = torch.stack([torch.from_numpy(mean_row(rows, t, i)).float() for i, t in enumerate(views)])
    torch.testing.assert_close(model.whole(held, rows.select(views), keep), model(own @ (keep * x)))


def test_a_key_decides_the_dropout_of_passes(rows: PageRankRows, held: SparseFeatures) -> None:
    model, x = MotifViews(F, 64, 3, 2, dropout=0.5), torch.rand(4, F)
    torch.testing.assert_close(model(x, 5), model(x, 5), rtol=0, atol=0)
    assert not torch.equal(model(x, 5), model(x, 6))
    assert not torch.equal(model(x, 5), model(x))
    model = MotifViews(F, 5, 3, input_dropout=0.4, dropout=0.4)
    first, again, other = (model.whole(held, rows.mean, None, key) for key in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    with pytest.raises(ValueError, match="batch_norm and row_norm need mixed features"):
        MotifViews(F, 5, 3, row_norm=True).whole(held, rows.mean)
