"""Boosted trees: the kernel, the columns, training, what is stored of them, and which columns mattered."""

import copy
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from torch_geometric.data import Data

from mcn.data import strong_ties
from mcn.data.sparse import feature_csr, feature_tensor
from mcn.train import accuracy_on_test, fit, load_run, train
from mcn.train.checkpoint import load_tensors, save_tensors
from mcn.train.recipes import work_of
from mcn.train.trees.boosting import Trees
from mcn.viz import explain
from tests.conftest import refuses
from tests.train.graphs import (
    new_trainer,
    on_cores,
    predicted,
    same_weights,
    settings,
    train_until_killed,
    trained,
    with_other_test_labels,
)

SHORT = settings("trees", max_epochs=4)
NAN = pytest.approx(float("nan"), nan_ok=True)
pytestmark = pytest.mark.filterwarnings("ignore:.* direction is not used")


@pytest.fixture(scope="module")
def ties() -> Data:
    return strong_ties(num_nodes=200, val=50, test=50)


@pytest.fixture(scope="module")
def run(ties: Data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trees") / "run"
    train(ties, SHORT, folder)
    return folder


def planted(nodes: int = 600, seed: int = 0, wide: int = 0) -> Data:
    """A random graph whose nodes have the class that the mean of column 1 over their neighbours says.

    wide: columns of words, mostly zero, instead; the sum of the first half is as column 1 would be.
    """
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (2, 4 * nodes))
    ends = ends[:, ends[0] != ends[1]]
    x = rng.normal(size=(nodes, 3)).astype(np.float32)
    if wide:
        x = (rng.random((nodes, wide)) < 0.02 + 0.1 * (rng.random((nodes, 1)) < 0.5)).astype(np.float32)
    told = x[:, : wide // 2].sum(1) if wide else x[:, 1]
    near = np.zeros((nodes, nodes), bool)
    near[ends[0], ends[1]] = near[ends[1], ends[0]] = True
    degree = near.sum(1)
    mean = near @ told / np.maximum(degree, 1)
    data = Data(x=torch.from_numpy(x), edge_index=torch.from_numpy(ends), num_nodes=nodes)
    data.y = torch.from_numpy((mean > np.median(mean)).astype(np.int64))
    part = rng.permutation(nodes) % 3
    data.train_mask, data.val_mask, data.test_mask = (torch.from_numpy(part == i) for i in range(3))
    return data


class TestKernel:
    @pytest.mark.parametrize("present", [[0, 1], [1, 3], [0, 1, 2, 3, 4], [0, 2, 4]])
    def test_the_probabilities_of_scikit_learn(self, present: list[int]) -> None:
        """Five classes, of which some have no training node; a fifth of all values is missing."""
        rng = np.random.default_rng(0)
        table = rng.normal(size=(400, 6)).astype(np.float32)
        borders = np.linspace(-1, 1, len(present) + 1)[1:-1]
        y = np.asarray(present)[np.digitize(table[:, 0] + table[:, 1], borders)]
        table[rng.random(table.shape) < 0.2] = np.nan
        y[np.isnan(table[:, 2])] = present[0]  # so that missing or not is a split of its own
        model = HistGradientBoostingClassifier(max_iter=8, early_stopping=False, random_state=0).fit(table, y)
        trees = Trees(6, 5)
        trees.baseline.fill_(np.log(1e-7))[present] = 0.0
        baseline = model._baseline_prediction.ravel()
        classes = present[-len(baseline) :]
        trees.baseline[classes] = torch.from_numpy(baseline)
        trees.append([tree.nodes for trees in model._predictors for tree in trees], classes * 8)
        logits = trees.logits(table)
        assert torch.isfinite(logits).all()
        found = logits.softmax(1).numpy()
        np.testing.assert_allclose(found[:, present], model.predict_proba(table), atol=1e-6)
        absent = [number for number in range(5) if number not in present]
        assert found[:, absent].max(initial=0) < 1e-6

    def test_stored_without_infinity(self) -> None:
        """A split of numbers from missing values has an infinite threshold in scikit-learn."""
        table = np.full((40, 1), np.nan, np.float32)
        table[:20, 0] = np.arange(20)
        y = np.repeat([0, 1], 20)
        model = HistGradientBoostingClassifier(max_iter=1, early_stopping=False).fit(table, y)
        (nodes,) = [tree.nodes for trees in model._predictors for tree in trees]
        assert np.isinf(nodes["num_threshold"]).any()
        trees = Trees(1, 2)
        trees.append([nodes], [1])
        trees.load_state_dict(trees.state_dict())  # which refuses what is not finite
        logits = trees.logits(table)
        assert (logits[:20, 1] < 0).all()
        assert (logits[20:, 1] > 0).all()


class TestColumns:
    def table(self, data: Data, **changes: Any) -> dict[str, list[float]]:
        config = settings("trees", **changes)
        held = work_of(config).inputs(data, config)
        table = held.table(torch.empty(0, 0))
        names = [name for name, _ in held.columns()]
        assert table.shape == (data.num_nodes, len(names)) == (data.num_nodes, held.in_channels)
        assert len(set(names)) == len(names)
        return dict(zip(names, table.T.astype(np.float64).round(4).tolist(), strict=True))

    def graph(self) -> Data:
        """A triangle 0 1 2 with the tail 2 – 3, and node 4 alone."""
        edges = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
        data = Data(x=torch.tensor([[1.0], [2.0], [4.0], [8.0], [16.0]]), edge_index=edges, num_nodes=5)
        data.feature_names = ["age"]
        return data

    def test_by_hand(self) -> None:
        found = self.table(self.graph())
        assert found["age"] == [1, 2, 4, 8, 16]
        assert found["degree"] == [2, 2, 3, 1, 0]
        assert found["count of triangle"] == [1, 1, 1, 0, 0]
        assert found["mean of age over edge neighbours"] == [3, 2.5, 3.6667, 4, NAN]
        assert found["mean of age over triangle neighbours"] == [3, 2.5, 1.5, NAN, NAN]
        assert found["mean of age over 2 steps"] == [3.0833, 3.3333, 3.1667, 3.6667, NAN]
        assert found["deviation of age over edge neighbours"] == [1, 1.5, 3.0912, 0, NAN]
        assert found["maximum of age over edge neighbours"] == [4, 4, 8, 4, NAN]
        assert len(found) == 1 + 15 + 5
        assert "mean of age over 3 steps" in self.table(self.graph(), walk_length=3)
        found = self.table(self.graph(), features="both", motifs=("triangle",))
        assert found["mean of degree over triangle neighbours"] == [2.5, 2.5, 2, NAN, NAN]
        without = self.table(self.graph(), features="motifs", motifs=("triangle",))
        assert set(found) - set(without) == {"age", "mean of age over triangle neighbours"}

    def test_missing_values_do_not_count_and_edges_have_weights(self) -> None:
        data = self.graph()
        data.x[1] = float("nan")
        found = self.table(data, motifs=("edge",))
        assert found["age"] == [1, NAN, 4, 8, 16]
        assert found["mean of age over edge neighbours"] == [4, 2.5, 4.5, 4, NAN]
        assert found["maximum of age over edge neighbours"] == [4, 4, 8, 4, NAN]
        data = self.graph()
        data.edge_weight = torch.tensor([1.0, 3.0, 1.0, 2.0])  # 0 – 1, 1 – 2, 2 – 0, 2 – 3
        found = self.table(data)
        assert found["mean of age over edge neighbours"] == [3, 3.25, 3.8333, 4, NAN]
        assert found["mean of age over triangle neighbours"] == [3, 3.25, 1.75, NAN, NAN]


class TestTraining:
    def test_neighbours_tell_what_a_node_does_not(self) -> None:
        """On the planted graph the node's own columns are worth nothing, its neighbours' nearly all."""
        data = planted()
        own = trained(data, settings("trees"))
        (x, y), (test, seen) = (data.x.numpy(), data.y.numpy()), (data.test_mask, data.train_mask)
        alone = HistGradientBoostingClassifier(random_state=0).fit(x[seen], y[seen])
        assert accuracy_on_test(data, predicted(own).labels) > alone.score(x[test], y[test]) + 0.3
        rows = own.notes()["columns"]
        assert rows[0]["column"] == "mean of column 1 over edge neighbours"
        assert 2 <= len(rows) <= 10
        assert rows[0]["loss"] > 5 * rows[1]["loss"] > 0
        assert rows == sorted(rows, key=lambda row: -row["loss"])
        assert "mean of column 1 over edge neighbours" in own.remarks()[0]

    @pytest.mark.parametrize("labels", [[0, 1], [0, 2]])
    def test_classes_without_a_training_node(self, ties: Data, labels: list[int]) -> None:
        data = copy.copy(ties)
        kept = torch.isin(data.y, torch.tensor(labels))
        data.train_mask = data.train_mask & kept
        with pytest.warns(UserWarning, match="no training node"):
            own = new_trainer(data, SHORT)
        result = fit(own)
        probabilities = predicted(own).probabilities
        assert np.isfinite(result.val_loss)
        assert set(predicted(own).labels.tolist()) <= set(labels)
        np.testing.assert_allclose(probabilities[:, labels].sum(1), 1, atol=1e-6)

    def test_a_motif_that_is_nowhere(self) -> None:
        """Its columns have no value, and the trees are grown as if they were not there."""
        data = planted(200)
        own = trained(data, SHORT.replace(motifs=("edge", "4-clique"), column_share=1.0))
        assert np.isnan(own.problem.inputs.table(own.model.projection)).all(0).sum() == 3
        edges = trained(data, SHORT.replace(motifs=("edge",), column_share=1.0))
        np.testing.assert_array_equal(predicted(own).probabilities, predicted(edges).probabilities)

    def test_balanced_classes_weigh_the_same(self) -> None:
        data = planted()
        rare = (data.y == 1) & data.train_mask
        data.train_mask[rare.nonzero()[15:]] = False
        both = (trained(data, SHORT.replace(class_weight=kind)) for kind in ("none", "balanced"))
        plain, balanced = (predicted(each).probabilities[:, 1].mean() for each in both)
        assert balanced > plain + 0.2

    def test_cores_and_test_labels_change_no_bit(self) -> None:
        data = planted(200, wide=300)
        with on_cores(1):
            first = trained(data, SHORT)
        with on_cores(2):
            second = trained(with_other_test_labels(data), SHORT)
        assert same_weights(first, second)
        assert len(first.model.projection) == 300

    @pytest.mark.parametrize(
        "change",
        [
            lambda tensors, _: [tensors.pop(name) for name in list(tensors) if name.startswith("best.")],
            lambda tensors, _: tensors["model.numbers"].mul_(2),
            lambda _, state: state.update(epoch=1),
            lambda _, state: state.update(epoch="x"),
        ],
    )
    def test_a_checkpoint_of_other_trees(self, ties: Data, tmp_path: Path, change: Any) -> None:
        train_until_killed(ties, SHORT, tmp_path, 2)
        path = tmp_path / "last.safetensors"
        tensors, state = load_tensors(path)
        change(tensors, state)
        save_tensors(path, tensors, state)
        refuses(r"last\.safetensors: not a checkpoint of this run", train, ties, SHORT, tmp_path, resume=True)


class TestRun:
    def test_another_graph_goes_through_the_stored_components(self, tmp_path: Path) -> None:
        """Words of 300 columns; a run that is read again says the same, of its own graph and of a new one."""
        data, other = planted(wide=300), planted(seed=1, wide=300)
        other.x = feature_tensor(feature_csr(other.x))  # the same columns, another layout
        run = train(data, settings("trees"), tmp_path / "run")
        again = load_run(tmp_path / "run")
        assert same_weights(run, again)
        for graph in (data, other):
            found = again.predict(graph)
            np.testing.assert_array_equal(found.probabilities, run.predict(graph).probabilities)
            assert accuracy_on_test(graph, found.labels) > 0.7
        assert again.is_about(data)
        assert not again.is_about(other)
        assert again.summary["columns"] == run.notes["columns"]
        refuses(r"data\.x has 3 features, but the network was trained on 300", again.predict, planted())

    def test_a_wide_table_of_numbers_stays_as_it_is(self) -> None:
        data = planted(200)
        rng = torch.Generator().manual_seed(0)
        data.x = torch.cat([data.x, torch.randn(200, 250, generator=rng)], 1)
        own = trained(data, SHORT.replace(max_epochs=1))
        names = [name for name, _ in own.problem.inputs.columns()]
        assert names[:253] == [f"column {number}" for number in range(253)]
        assert "mean of column 1 over edge neighbours" in names
        assert "maximum of column 1 over edge neighbours" not in names

    @pytest.mark.parametrize(
        ("name", "at", "value", "message"),
        [
            ("splits", (0, 1), 0, "a child does not come after its parent"),
            ("splits", (0, 2), 10**6, "a child does not come after its parent"),
            ("splits", (0, 0), 10**6, "a split is at a column that is not among the"),
            ("trees", (0, 1), 5, "one adds to a class that there is not"),
            ("trees", (1, 0), 0, "their roots are not in order"),
            ("numbers", slice(1, None), None, "their arrays do not have the same sizes"),
            ("splits", (slice(None), slice(2)), None, "their arrays do not have the same sizes"),
            ("numbers", 0, np.nan, "holds numbers that are not finite"),
            ("gain", slice(1, None), None, "weights of another architecture"),
        ],
    )
    def test_no_trees(self, run: Path, tmp_path: Path, name: str, at: Any, value: Any, message: str) -> None:
        folder = Path(shutil.copytree(run, tmp_path / "run"))
        tensors, state = load_tensors(folder / "model.safetensors")
        if value is None:
            tensors[name] = tensors[name][at].clone()
        else:
            tensors[name][at] = value
        save_tensors(folder / "model.safetensors", tensors, state)
        refuses(message, load_run, folder)

    def test_explained(self, run: Path, ties: Data) -> None:
        """A node hears itself and the neighbours of each motif; without the other motif it may change."""
        shown = explain(load_run(run), ties)
        assert shown.predictor.sentence == "All nodes are predicted by boosted trees."
        assert [option.motif for option in shown.options] == ["edge", "triangle"]
        np.testing.assert_allclose(shown.alternatives.sum(2), 1, atol=1e-5)
        assert not np.array_equal(shown.alternatives[0], shown.alternatives[1])
        edges = shown.options[0]
        degree = np.bincount(shown.edges.ravel(), minlength=ties.num_nodes)
        np.testing.assert_array_equal(edges.total, degree + 1)
        np.testing.assert_allclose(edges.coefficients[0][edges.row(3)], 1 / (degree[3] + 1))
