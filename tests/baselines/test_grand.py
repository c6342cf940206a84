from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from mcn._threads import kernel_threads
from mcn.baselines import Task
from mcn.baselines._fit import seeded
from mcn.baselines._grand_input import ProjectFirst, PropagateFirst
from mcn.baselines._grand_mixed import MixFirst
from mcn.baselines._random_propagation import Propagation, keep, propagate_views
from mcn.baselines.grand import ELSEWHERE, Setting, _fit, _Network, consistency_loss, grand
from mcn.data import feature_tensor
from mcn.nn._rng import derive
from tests.baselines.graphs import block_task


def random_task(seed: int, columns: int = 150, sparse: bool = True) -> Task:
    """40 nodes, some of them isolated; 150 columns are three blocks, the last one partly filled."""
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(rng.random((40, 40)) < 0.06, 1)).T
    x = rng.random((40, columns)) * (rng.random((40, columns)) < 0.2)
    labels = torch.from_numpy(rng.integers(3, size=40))
    edges = np.concatenate([pairs, pairs[::-1]], axis=1)
    features = feature_tensor(x.astype(np.float32), dense=not sparse)
    return Task(features, edges, labels, np.arange(10), np.arange(10, 20), 3)


def dense_mean_of_powers(task: Task, order: int) -> np.ndarray:
    a = np.eye(task.num_nodes)
    a[tuple(task.edge_index)] = 1
    root = 1 / np.sqrt(a.sum(1))
    a = root[:, None] * a * root
    return np.asarray(sum(np.linalg.matrix_power(a, k) for k in range(order + 1))) / (order + 1)


def mixed_features(task: Task, order: int, kept: np.ndarray) -> torch.Tensor:
    """Views [S, N, F], multiplied out."""
    views = dense_mean_of_powers(task, order) @ (kept[:, :, None] * task.x.to_dense().numpy())
    return torch.from_numpy(views).float()


@pytest.mark.parametrize("order", [0, 1, 2, 5, 8])
@pytest.mark.parametrize(("seed", "columns"), [(0, 7), (1, 32), (2, 77)])
def test_propagation_is_the_mean_of_the_powers(order: int, seed: int, columns: int) -> None:
    task = random_task(seed)
    x = np.random.default_rng(seed).standard_normal((40, columns)).astype(np.float32)
    expected = dense_mean_of_powers(task, order) @ x
    np.testing.assert_allclose(Propagation(task, order)(x.copy()), expected, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 0.6])
def test_what_is_kept_makes_up_for_what_is_dropped(p: float) -> None:
    mask = keep((300, 400), p, 77)
    assert set(np.unique(mask)) <= {np.float32(0), np.float32(1 / (1 - p))}
    assert mask.mean() == pytest.approx(1, abs=0.02)  # six standard deviations
    np.testing.assert_array_equal(mask, keep((300, 400), p, 77))
    assert p == 0 or not np.array_equal(mask, keep((300, 400), p, 78))


def test_views_have_the_exact_propagation_as_their_mean() -> None:
    task = random_task(3)
    propagation = Propagation(task, 4)
    z = torch.ones(40, 1)
    views = propagate_views(z, keep((4000, 40), 0.5, 5), propagation)
    exact = propagate_views(z, np.ones((1, 40), np.float32), propagation)[0]
    torch.testing.assert_close(views.mean(0), exact, rtol=0, atol=0.06)
    assert views.std(0).min() > 0.05


@pytest.mark.parametrize("sparse", [True, False])
def test_every_order_gives_the_same_views_and_gradients(sparse: bool) -> None:
    task = random_task(1, sparse=sparse)
    propagation, kept = Propagation(task, 3), keep((2, 40), 0.5, 9)
    outputs, gradients, exact = [], [], []
    layers = (
        ProjectFirst(task, propagation),
        PropagateFirst(task, propagation, 2, 0.0, None),
        MixFirst(task, propagation, 2, 0.0),
    )
    for layer in layers:
        weight = torch.linspace(-1, 1, 150 * 4).sin().view(150, 4).requires_grad_()
        out = layer.views(weight, kept, 0)
        (out * torch.arange(2 * 40 * 4).view(2, 40, 4).cos()).sum().backward()  # type: ignore[no-untyped-call]
        assert weight.grad is not None
        outputs.append(out.detach())
        gradients.append(weight.grad)
        exact.append(layer.exact(weight.detach(), torch.tensor([7, 0, 39])))
    for first, *others in (outputs, gradients, exact):
        for other in others:
            torch.testing.assert_close(first, other, rtol=1e-4, atol=1e-5)
    expected = mixed_features(task, 3, kept) @ weight.detach()
    torch.testing.assert_close(outputs[0], expected, rtol=1e-3, atol=1e-5)


def test_norm_and_dropout_are_those_of_torch() -> None:
    task, key, p = random_task(2), 1234, 0.6
    propagation, kept = Propagation(task, 2), keep((3, 40), 0.5, 9)
    own, theirs = torch.nn.BatchNorm1d(150), torch.nn.BatchNorm1d(150)
    for norm in (own, theirs):
        norm.weight.data = torch.linspace(0.5, 1.5, 150)
        norm.bias.data = torch.linspace(-1, 1, 150)
    weights = [torch.linspace(-1, 1, 150 * 4).sin().view(150, 4).requires_grad_() for _ in range(2)]
    layer = PropagateFirst(task, propagation, 3, p, own)
    out = layer.views(weights[0], kept, key)
    mixed = mixed_features(task, 2, kept)
    masks = [
        np.concatenate([keep((40, w), p, derive(key, s, i)) for i, w in enumerate((64, 64, 22))], axis=1)
        for s in range(3)
    ]
    views = [(theirs(m) * torch.from_numpy(mask)) @ weights[1] for m, mask in zip(mixed, masks, strict=True)]
    expected = torch.stack(views)
    torch.testing.assert_close(out, expected, rtol=1e-3, atol=1e-4)
    for result in (out, expected):
        result.square().sum().backward()  # type: ignore[no-untyped-call]
    pairs = [(weights[0].grad, weights[1].grad), (own.weight.grad, theirs.weight.grad)]
    pairs += [(own.bias.grad, theirs.bias.grad)]
    pairs += [(own.running_mean, theirs.running_mean), (own.running_var, theirs.running_var)]
    for first, second in pairs:
        torch.testing.assert_close(first, second, rtol=1e-3, atol=1e-3)
    own.eval()
    theirs.eval()
    exact = theirs(mixed_features(task, 2, np.ones((1, 40)))[0]) @ weights[1]
    torch.testing.assert_close(layer.exact(weights[0], slice(None)), exact, rtol=1e-3, atol=1e-4)


def test_small_graphs_drop_out_every_propagated_word_by_itself() -> None:
    task, key, p = random_task(2), 1234, 0.6
    kept = keep((3, 40), 0.5, 9)
    weight = torch.linspace(-1, 1, 150 * 4).sin().view(150, 4).requires_grad_()
    out = MixFirst(task, Propagation(task, 2), 3, p).views(weight, kept, key)
    masks = [torch.from_numpy(keep((150, 40), p, derive(key, s))).T for s in range(3)]
    dropped = mixed_features(task, 2, kept) * torch.stack(masks)
    torch.testing.assert_close(out.detach(), dropped @ weight.detach(), rtol=1e-3, atol=1e-5)
    g = torch.arange(3 * 40 * 4).view(3, 40, 4).cos()
    (out * g).sum().backward()  # type: ignore[no-untyped-call]
    assert weight.grad is not None
    expected = torch.einsum("snf,snc->fc", dropped, g)
    torch.testing.assert_close(weight.grad, expected, rtol=1e-3, atol=1e-4)


def test_tiles_may_be_full_or_not() -> None:
    rng = np.random.default_rng(0)
    for nodes in (1, 63, 64, 65, 130):
        x = feature_tensor(rng.random((nodes, 9)).astype(np.float32))
        task = dataclasses.replace(random_task(0), x=x, edge_index=np.empty((2, 0), np.int64))
        weight, kept = torch.ones(9, 2), keep((1, nodes), 0.5, 3)
        # Without edges nothing is heard but oneself: every power of the propagation is the identity.
        expected = torch.from_numpy(kept.T) * (x.to_dense() @ weight)
        torch.testing.assert_close(
            MixFirst(task, Propagation(task, 3), 1, 0.0).views(weight, kept, 0)[0], expected
        )


def test_views_are_the_same_on_any_number_of_threads() -> None:
    task = random_task(4, columns=30_000)  # enough work for threads to be started
    weight, kept = torch.linspace(-1, 1, 30_000).view(-1, 1), keep((4, 40), 0.5, 9)
    results = []
    for threads in (1, 3):
        with kernel_threads(threads):
            layer = PropagateFirst(task, Propagation(task, 2), 4, 0.5, torch.nn.BatchNorm1d(30_000))
            mixed = MixFirst(task, Propagation(task, 2), 4, 0.5)
            results.append([each.views(weight, kept, 8).detach() for each in (layer, mixed)])
    for one, three in zip(*results, strict=True):
        assert torch.equal(one, three)


def test_consistency_by_hand() -> None:
    # The mean is (0.7, 0.3); squared and made to sum to one it is (49, 9) / 58.
    p = torch.tensor([[[0.9, 0.1]], [[0.5, 0.5]]], dtype=torch.float64, requires_grad=True)
    loss = consistency_loss(p, 0.5)
    q = np.array([49, 9]) / 58
    assert float(loss.detach()) == pytest.approx((2 * (0.9 - q[0]) ** 2 + 2 * (0.5 - q[0]) ** 2) / 2)
    loss.backward()  # type: ignore[no-untyped-call]
    assert p.grad is not None
    np.testing.assert_allclose(p.grad.numpy()[:, 0], [[0.9, 0.1] - q, [0.5, 0.5] - q])  # nothing through q


def test_the_mean_is_over_views_and_nodes() -> None:
    one = torch.tensor([[[0.9, 0.1]], [[0.5, 0.5]]])
    agreed = torch.tensor([[[1.0, 0.0]], [[1.0, 0.0]]])
    both = torch.cat([one, agreed], dim=1)
    torch.testing.assert_close(consistency_loss(both, 0.5), consistency_loss(one, 0.5) / 2)


@pytest.mark.parametrize("dataset", ["cora", "citeseer", "pubmed"])
def test_every_setting_learns_and_is_decided_by_its_seed(
    dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = dataclasses.replace(block_task(), dataset=dataset)
    monkeypatch.setitem(task.published("grand"), "max_epochs", 150)
    scores = grand(task, 4)
    np.testing.assert_allclose(scores.sum(1), 1, rtol=1e-5)
    assert task.val_accuracy(scores) > 0.55
    torch.manual_seed(17)
    np.testing.assert_array_equal(grand(task, 4), scores)
    assert not np.array_equal(grand(task, 5), scores)


def published(dataset: str) -> Setting:
    return Setting(**dataclasses.replace(block_task(), dataset=dataset).published("grand"))


def test_the_published_settings() -> None:
    assert published("cora") == Setting(8, 4, 1.0, 0.5, 0.5, 0.5)
    assert published("citeseer") == Setting(2, 2, 0.7, 0.3, 0.0, 0.2)
    assert published("pubmed") == Setting(5, 4, 1.0, 0.2, 0.6, 0.8, lr=0.2, patience=100, batch_norm=True)


def test_other_graphs_have_the_settings_of_cora_but_an_end() -> None:
    assert dataclasses.replace(ELSEWHERE, max_epochs=5000) == published("cora")
    assert ELSEWHERE.max_epochs < 5000


def test_kept_is_the_epoch_with_the_lowest_validation_loss() -> None:
    task, setting = block_task(), dataclasses.replace(published("citeseer"), lr=0.3)
    val = torch.from_numpy(task.val)

    def kept_loss(epochs: int) -> float:
        shorter = dataclasses.replace(setting, max_epochs=epochs)
        with seeded(0):
            network = _Network(task, shorter)
            _fit(network, task, shorter)
        return float(torch.nn.functional.cross_entropy(network.exact(val), task.labels[val]))

    losses = [kept_loss(epochs) for epochs in range(1, 21)]
    assert losses == sorted(losses, reverse=True)
    assert 1 < len(set(losses)) < 20  # some epochs were kept, some were not
