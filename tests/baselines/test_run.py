from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from mcn.baselines import BASELINES, Task, register, run
from mcn.train import compare, dataset_config, result_row
from tests.baselines.graphs import blocks


@pytest.fixture(autouse=True)
def own_entries() -> Iterator[None]:
    """Take out again what a test registers."""
    before = dict(BASELINES)
    yield
    BASELINES.clear()
    BASELINES.update(before)


def test_a_method_of_ones_own() -> None:
    seen = []

    @register("class-number")
    def class_number(task: Task, seed: int) -> NDArray[np.float32]:
        seen.append((task.dataset, seed))
        return np.eye(3, dtype=np.float32)[blocks().y]  # always right

    told: list[float] = []
    rows = run(["class-number", "majority", "class-number"], blocks(), [4, 7], "mine", told.append)
    assert [row["method"] for row in rows] == ["class-number", "majority"]
    assert seen == [("mine", 4), ("mine", 7)]
    assert told == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert list(rows[0]) == list(result_row("", [], [0], [], [0]))
    assert (rows[0]["test"], rows[0]["test_std"], rows[0]["val_mean"]) == ([100.0, 100.0], 0.0, 100.0)
    assert rows[0]["seeds"] == [4, 7]


@pytest.mark.parametrize("method", ["gcn", "gat", "mlp"])
def test_the_same_as_compare(method: str) -> None:
    (own,) = run(method, blocks(), [1])
    (row,) = compare(blocks(), dataset_config(None), [method], [1])
    assert (own["test"], own["val_mean"]) == (row["test"], row["val_mean"])


def test_scores_of_another_shape() -> None:
    register("short")(lambda task, seed: np.zeros((2, 3), np.float32))
    with pytest.raises(ValueError, match=r"'short' returned scores of shape \(2, 3\); expected \(150, 3\)"):
        run("short", blocks(), [0])


def test_scores_that_are_not_finite() -> None:
    register("nan")(lambda task, seed: np.full((150, 3), np.nan, np.float32))
    with pytest.raises(ValueError, match="'nan' returned scores that are not finite"):
        run("nan", blocks(), [0])


def test_an_unknown_method_before_any_work() -> None:
    register("never")(lambda task, seed: pytest.fail("it was run"))
    with pytest.raises(ValueError, match="got 'majorty'; did you mean 'majority'"):
        run(["never", "majorty"], blocks(), [0])
