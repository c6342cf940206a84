"""Treatment of columns belongs to the model: what it predicts of a row does not depend on the other rows."""

import copy
import csv
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch_geometric.data import Data

import mcn
from mcn.cli.main import main
from mcn.store import pack_graph
from mcn.train import RECIPES, train
from tests.conftest import refuses

ROWS = 240
SETTINGS: dict[str, dict[str, Any]] = {
    "mcn": {"max_epochs": 12},
    "paper": {"max_epochs": 12},
    "views": {"max_epochs": 12, "walk_length": 2},
    "trees": {"max_epochs": 4},
    "auto": {"candidates": ("mlp", "trees"), "repeats": 1, "max_epochs": 8},
}


def people() -> pd.DataFrame:
    """People whose age says their class, beside a number with gaps, a yes or no and a category."""
    rng = np.random.default_rng(0)
    age = rng.uniform(10, 90, ROWS).round(1)
    return pd.DataFrame(
        {
            "id": [f"p{row}" for row in range(ROWS)],
            "label": np.where(age + rng.normal(0, 4, ROWS) > 50, "y", "n"),
            "age": age,
            "height": [value if value < 1.9 else None for value in rng.uniform(1.5, 2, ROWS).round(2)],
            "member": rng.choice(["yes", "no"], ROWS),
            "town": rng.choice(["Aa", "Bb", "Cc"], ROWS),
        }
    )


def written(folder: Path, table: pd.DataFrame, name: str) -> tuple[Path, Path]:
    """Write a table and an edge list without an edge, a self-loop; return both files, the edges first."""
    edges, nodes = folder / f"{name}-edges.csv", folder / f"{name}.csv"
    edges.write_text(f"source,target\n{table.id.iloc[0]},{table.id.iloc[0]}\n")
    table.to_csv(nodes, index=False)
    return edges, nodes


def parts(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return rows that are and rows that are not like the others; columns in another order, and one more."""
    turned = table[["town", "member", "id", "height", "age", "label"]].assign(extra="x")
    return {"some": turned.iloc[5::7], "old": turned[table.age > 70], "one": turned[table.age > 70].iloc[:1]}


@pytest.mark.parametrize("recipe", SETTINGS)
def test_a_row_is_predicted_alike_in_any_table(recipe: str, tmp_path: Path, capsys: Any) -> None:
    table = people()
    files = written(tmp_path, table, "all")
    config = RECIPES[recipe].config(**SETTINGS[recipe])
    run = train(mcn.load_graph(*files), config, tmp_path / "run")
    with (tmp_path / "run" / "predictions.csv").open() as file:
        whole = {row["node"]: row for row in csv.DictReader(file)}
    assert {row["predicted"] for row in whole.values()} == {"y", "n"}
    for name, part in parts(table).items():
        graph = mcn.load_graph(*written(tmp_path, part, name), label="label")
        rows = part.index.to_numpy()
        outputs = run.predict(mcn.load_graph(*files)).probabilities[rows]
        np.testing.assert_allclose(run.predict(graph).probabilities, outputs, atol=1e-6)
        words = ["--graph", tmp_path / f"{name}-edges.csv", "--nodes", tmp_path / f"{name}.csv"]
        assert main(["predict", str(tmp_path / "run"), *map(str, words)]) == 0
        for row in csv.DictReader(capsys.readouterr().out.splitlines()):
            assert row["predicted"] == whole[row["node"]]["predicted"]
            assert float(row["p_y"]) == pytest.approx(float(whole[row["node"]]["p_y"]), abs=2e-6)


@pytest.fixture(scope="module")
def fitted() -> mcn.MCNClassifier:
    return mcn.MCNClassifier(max_epochs=12).fit(graph_of(people()))


def graph_of(table: pd.DataFrame, **options: Any) -> Data:
    return mcn.load_graph(pd.DataFrame({"a": [table.id.iloc[0]], "b": [table.id.iloc[0]]}), table, **options)


def test_an_estimator_says_which_columns_it_needs(fitted: mcn.MCNClassifier, tmp_path: Path) -> None:
    table = people()
    old = table[table.age > 70]
    predicted = fitted.predict(graph_of(old))
    np.testing.assert_array_equal(predicted, fitted.predict(graph_of(table))[old.index])
    assert fitted.feature_names_in_ == fitted.treatment_.feature_names == fitted.feature_names_
    refuses("no feature column 'age', which training had", fitted.predict, graph_of(old.drop(columns="age")))
    turned = old.rename(columns={"age": "Age"})
    refuses("no feature column 'age'.*did you mean 'Age'", fitted.predict, graph_of(turned))
    refuses(
        r"no feature column 'age' \(nor 2 others\)", fitted.predict, graph_of(old[["id", "label", "town"]])
    )
    refuses("row 1: 'tall' in feature column 'height'", fitted.predict, graph_of(old.assign(height="tall")))
    with pytest.warns(
        UserWarning, match="'town': .* a category that no training node has.*'Zz', nodes, row 1"
    ):
        fitted.predict(graph_of(old.assign(town="Zz")))
    again = mcn.load((fitted.save(tmp_path / "saved"), tmp_path / "saved")[1])
    np.testing.assert_array_equal(again.predict(graph_of(old)), predicted)
    assert again.treatment_ == fitted.treatment_


def test_a_bare_graph_and_one_that_was_changed(fitted: mcn.MCNClassifier, tmp_path: Path) -> None:
    """Without columns a graph has to say how it was treated; a changed matrix is taken as it is."""
    data = graph_of(people())
    expected = fitted.predict_proba(data)
    bare = Data(x=data.x, edge_index=data.edge_index)
    refuses(
        r"data\.x: features that were not treated as those trained on.*data\.treatment = clf",
        fitted.predict,
        bare,
    )
    bare.treatment = fitted.treatment_
    for same in (bare, pickle.loads(pickle.dumps(data)), copy.copy(data), data.clone(), data.to("cpu")):
        np.testing.assert_array_equal(fitted.predict_proba(same), expected)
    np.testing.assert_array_equal(fitted.predict_proba(Data.from_dict(data.to_dict())), expected)
    del data.node_ids  # an array, which PyG cannot cut
    cut = data.subgraph(torch.arange(40, 90))
    np.testing.assert_allclose(fitted.predict_proba(cut), expected[40:90], atol=1e-6)
    other = graph_of(people().iloc[:80])
    del other.node_ids
    refuses(
        "features that were not treated as those trained on", fitted.predict, other.subgraph(torch.arange(9))
    )
    changed = graph_of(people())
    changed.x = changed.x[:, :2] * 100
    clf = mcn.MCNClassifier(max_epochs=2).fit(changed)
    assert (clf.treatment_, clf.n_features_in_) == (None, 2)
    assert clf.predict(changed).shape == (ROWS,)
    with pytest.warns(UserWarning, match="trained on data.x as it was given"):
        refuses("data.x has 7 features, but the network was trained on 2", clf.predict, graph_of(people()))
    edges, nodes = written(tmp_path, people(), "all")
    edges.write_text("".join(f"p{row},p{row + 1}\n" for row in range(40)))
    for rows, name in ((slice(None), "all"), (slice(0, 80), "some")):
        people().iloc[rows].to_csv(nodes, index=False)
        pack_graph(edges, nodes, out=tmp_path / f"packed-{name}")
    packed = [mcn.GraphStore.open(tmp_path / f"packed-{name}") for name in ("all", "some")]
    assert fitted.predict(packed[0]).shape == (ROWS,)
    for graph in (packed[1], packed[1].to_data()):
        refuses("features that were not treated as those trained on", fitted.predict, graph)


def test_other_training_nodes_teach_another_treatment() -> None:
    """Of masks that were changed after reading, the treatment is that of the new training nodes."""
    data, table = graph_of(people()), people()
    before = data.x.clone()
    data.train_mask = torch.from_numpy((table.age < 60).to_numpy(copy=True))
    data.val_mask, data.test_mask = ~data.train_mask & (torch.arange(ROWS) % 2 == 0), None
    clf = mcn.MCNClassifier(max_epochs=2).fit(data)
    age = clf.treatment_.columns[0]
    assert age.mean == pytest.approx(table.age[table.age < 60].mean())
    assert data.treatment.columns[0].mean != age.mean
    assert torch.equal(data.x, before)
    split = table.assign(split=np.where(table.age < 60, "train", np.where(data.val_mask, "val", "test")))
    assert mcn.MCNClassifier(max_epochs=2).fit(graph_of(split)).treatment_ == clf.treatment_


def test_trees_name_their_columns() -> None:
    """Components of words are named by their words, in the report's list and in the importances."""
    rng = np.random.default_rng(0)
    counts = (rng.random((ROWS, 230)) < 0.05).astype(int)
    counts[:, :3] = np.where(people().age.to_numpy()[:, None] > 50, 3, 0)
    names = ["neural", "network", "learning", *(f"w{column}" for column in range(227))]
    words = pd.concat([people()[["id", "label"]], pd.DataFrame(counts, columns=names)], axis=1)
    clf = mcn.AutoClassifier(candidates=("trees",), repeats=1, max_epochs=3).fit(graph_of(words))
    assert set(clf.feature_importances_names_[0][7:].split(", ")) == {"neural", "network", "learning"}
    assert clf.feature_importances_.argmax() == 0
    assert clf.feature_importances_.sum() == pytest.approx(1)
    assert clf.feature_importances_.shape == clf.feature_importances_names_.shape
    run = train(graph_of(words), RECIPES["trees"].config(max_epochs=3))
    assert run.notes["columns"][0]["column"] == clf.feature_importances_names_[0]
    clf = mcn.AutoClassifier(candidates=("trees",), repeats=1, max_epochs=3).fit(graph_of(people()))
    assert clf.feature_importances_names_[:3].tolist() == ["age", "height", "height missing"]
    assert clf.feature_importances_.argmax() == 0
    assert not hasattr(
        mcn.AutoClassifier(candidates=("mlp",), max_epochs=2).fit(graph_of(people())), "feature_importances_"
    )


def test_features_of_the_graph_alone() -> None:
    """Sizes of degrees mean the same everywhere; Weisfeiler–Lehman colours do not, and are refused."""

    def path(nodes: int, features: str) -> Data:
        table = pd.DataFrame({"id": range(nodes), "label": np.arange(nodes) % 2})
        ends = {"a": range(nodes - 1), "b": range(1, nodes)}
        return mcn.load_graph(pd.DataFrame(ends), table, features=features)

    config = {"max_epochs": 2}
    clf = mcn.MCNClassifier(**config).fit(path(40, "degree"))
    assert clf.feature_names_in_[:3] == ["degree below 1", "degree below 2", "degree below 4"]
    assert clf.predict(path(30, "degree")).shape == (30,)
    clf = mcn.MCNClassifier(**config).fit(path(40, "wl"))
    assert clf.predict(path(40, "wl")).shape == (40,)
    refuses("not those the network was trained on: missing .*colour 0 of graph", clf.predict, path(30, "wl"))
    refuses("not those the network was trained on", clf.predict, path(40, "degree"))
