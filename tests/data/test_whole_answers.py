"""What a user is told of files: every column, all problems at once, and what cannot be learned."""

import re
from pathlib import Path
from typing import Any

import pandas
import pytest

import mcn
from mcn.cli.main import main
from mcn.data import check_data
from tests.conftest import refuses

RING = [(i, (i + d) % 60) for i in range(60) for d in (1, 2)]


def _load(folder: Path, columns: dict[str, Any], edges: str = "", /, **options: Any) -> Any:
    """A ring of 60 nodes with these columns, each a function of the node's number."""
    rows = (",".join(str(cell(i)) for cell in columns.values()) for i in range(60))
    (folder / "n.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")
    (folder / "e.csv").write_text(edges or "source,target\n" + "".join(f"{u},{v}\n" for u, v in RING))
    return mcn.load_graph(folder / "e.csv", folder / "n.csv", **options)


USUAL: dict[str, Any] = {"id": int, "label": lambda i: "ab"[i // 5 % 2], "size": lambda i: i * 7 % 31}
DAY = {"day": lambda i: "2020-02-03"}
COLUMNS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {}, "id 'id'; label 'label'; numbers 'size'"),
    (
        {"team": lambda i: "xyz"[i % 3], "ok": lambda i: ["yes", "no"][i % 2], "text": lambda i: f"t{i}"},
        {"drop": ["size"], "seed": 1, "split": "95/4/1"},
        "id 'id'; label 'label'; categories 'team'; yes or no 'ok'; left out as asked 'size'; "
        "not used (no values, or too many texts) 'text'",
    ),
    (DAY | {"split": lambda i: ""}, {"features": ["size"], "split_by": "day"},
     "id 'id'; label 'label'; numbers 'size'; split by 'day'; split 'split'"),
    ({"w": lambda i: 1}, {"features": "degree"}, "id 'id'; label 'label'; not used 'size', 'w'"),
    ({f"c{c}": lambda i: i for c in range(2000)}, {},
     "id 'id'; label 'label'; numbers 'size', 'c0', 'c1', 'c2', 'c3' and 1,996 more"),
]  # fmt: skip


@pytest.mark.parametrize("more, options, said", COLUMNS)
def test_every_column_of_the_node_table(more: Any, options: Any, said: str, tmp_path: Path) -> None:
    report = _load(tmp_path, USUAL | more, **options).report
    assert f"node columns: {said}" in report


TRANSFERS = "from,to,amount,time,kind\n" + "".join(f"{u},{v},{u + 1},16{v}00,x\n" for u, v in RING * 2)


def test_every_column_of_the_edges(tmp_path: Path) -> None:
    report = _load(tmp_path, USUAL, TRANSFERS).report
    assert "(120 repeated entries merged)" in report[0]
    unused = "not used: 'amount', 'time', 'kind'; weights='amount' makes weights of a column of numbers"
    assert report[1] == f"header: an edge is 'from' and 'to'; {unused}"
    report = _load(tmp_path, USUAL, TRANSFERS, weights="amount").report
    assert "header: an edge is 'from' and 'to', its weight 'amount'; not used: 'time', 'kind'" in report
    assert not any("unweighted" in line for line in report)


CANNOT = [
    (
        lambda i: f"t{i}",
        "60 of 60 classes ('t0', 't1', 't10' and 57 more) have too few nodes to be learned",
    ),
    (
        lambda i: "yes" if i == 7 else "no",
        "1 of 2 classes ('yes') have too few nodes to be learned and judged",
    ),
    (lambda i: "yes" if i in (3, 9) else "no", "1 of 2 classes ('yes') have too few nodes to be learned"),
    (lambda i: "ab"[i % 2] if i < 2 else "", "2 of 2 classes ('a', 'b') have too few nodes to be learned"),
]


@pytest.mark.parametrize("label, message", CANNOT)
def test_what_cannot_be_learned(label: Any, message: str, tmp_path: Path, capsys: Any) -> None:
    refuses(re.escape(message), check_data, _load(tmp_path, USUAL | {"label": label}))
    files = ["--graph", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv"]
    for verb in ("check", "train"):
        assert main([verb, *map(str, files)]) == 2
        assert capsys.readouterr().err.startswith(f"mcn: {message}")


def test_a_label_that_is_the_id_and_training_nodes_of_one_class(tmp_path: Path) -> None:
    refuses("column 'id' has the ids, and no label can be learned", _load, tmp_path, USUAL, label="id")
    part = {"split": lambda i: "train" if i // 5 % 2 else ["val", "test"][i % 2]}
    refuses("all 30 training nodes are of class 'b'", check_data, _load(tmp_path, USUAL | part))


THOUSANDS = "commas read as separators of thousands (1,023 is 1023) in 'size'"


def test_separators_of_thousands(tmp_path: Path) -> None:
    data = _load(tmp_path, USUAL | {"size": lambda i: f'"{i},023"' if i else "7"}, scaling="raw")
    assert data.x[:3, 0].tolist() == [7, 1023, 2023]
    assert THOUSANDS in data.report


@pytest.mark.parametrize(
    "header, name, told",
    [
        ("worker_a,worker_b", "W", "header: an edge is 'worker_a' and 'worker_b'"),
        (
            "fan,star",
            "W",
            "the first line names the columns ('fan', 'star'): the node table has neither as an id",
        ),
    ],
)
def test_a_header_over_ids_of_text(header: str, name: str, told: str, tmp_path: Path) -> None:
    edges = header + "\n" + "".join(f"{name}{u},{name}{v}\n" for u, v in RING)
    data = _load(tmp_path, USUAL | {"id": lambda i: f"{name}{i}"}, edges)
    assert (data.num_nodes, data.num_edges, told in data.report) == (60, 240, True)
    if "_" in header:
        assert mcn.load_graph(tmp_path / "e.csv").num_nodes == 60
    assert mcn.load_graph(tmp_path / "e.csv", header=False).num_nodes == 62


def test_ids_in_the_index_of_a_frame_and_missing_booleans(tmp_path: Path) -> None:
    plain = pandas.DataFrame({"label": list("ab") * 3, "ok": pandas.array([True, None] * 3, "boolean")})
    edges = pandas.DataFrame({"u": list("pqrstu"), "v": list("qrstup")})
    for name in ("who", None):
        nodes = plain.set_axis(pandas.Index(list("utsrqp"), name=name))
        data = mcn.load_graph(edges, nodes)
        assert data.node_ids.tolist() == list("utsrqp")
        assert data.feature_names == ["ok", "ok missing"]
    two = plain.set_index(["label", "ok"])
    refuses("nodes: the index has 2 levels", mcn.load_graph, edges, two)


def test_all_problems_of_both_files_at_once(tmp_path: Path, capsys: Any) -> None:
    bad = {"size": lambda i: "n/k" if i in (4, 9, 11) else i, "split": lambda i: "tset" if i < 2 else "train"}
    edges = "source,target,w\n" + "".join(f"{u},{v},{u}\n" for u, v in [*RING, (1, 77), (78, 2)])
    expected = [
        "n.csv, line 2: split 'tset' in column 'split'; expected train, val, test or nothing; also in line 3",
        "e.csv, line 2: '0' in weight column 'w'; expected a positive finite number (and in 1 more edges)",
        "e.csv, line 122: node id '77' is not in the node table N; nor '78'; add them there, or say "
        "unknown_ids='skip' or unknown_ids='add'",
        "n.csv, line 6: 'n/k' in feature column 'size'; expected a finite number; also in lines 11, 13",
        "n.csv, line 3: '2020-02-03' in feature column 'day' is a date; leave it out with drop='day', or "
        "name the columns to use with features=, which makes a number of days of it; split_by='day' divides "
        "by it",
    ]
    with pytest.raises(ValueError, match="tset") as caught:
        _load(tmp_path, USUAL | bad | DAY, edges, weights="w")
    said = (
        str(caught.value).replace(str(tmp_path / "n.csv") + ";", "N;").replace(f"{tmp_path}/", "").split("\n")
    )
    assert said == expected
    words = {"drop='day'": "--drop day", "features=": "--columns", "split_by='day'": "--split-by day"}
    words |= {"unknown_ids='skip'": "--unknown-ids skip", "unknown_ids='add'": "--unknown-ids add"}
    files = ["--graph", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv", "--weights", "w"]
    for verb in ("check", "train"):
        assert main([verb, *map(str, files)]) == 2
        told = (
            capsys.readouterr().err.replace(str(tmp_path / "n.csv") + ";", "N;").replace(f"{tmp_path}/", "")
        )
        for python, flag in words.items():
            told = told.replace(flag, python)
        assert told.splitlines() == [f"mcn: {line}" for line in expected]


def test_many_problems_are_counted(tmp_path: Path) -> None:
    bad = {f"c{c}": lambda i: "x" if i == 3 else i for c in range(40)}
    with pytest.raises(ValueError, match="and 30 more problems") as caught:
        _load(tmp_path, USUAL | bad)
    assert str(caught.value).count("\n") == 10


@pytest.mark.parametrize("verb", ["check", "train"])
def test_weights_and_direction(verb: str, tmp_path: Path, capsys: Any) -> None:
    _load(tmp_path, USUAL, TRANSFERS)
    files = ["--graph", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv"]
    assert main([verb, *map(str, files), "--weights", "amount", "--directed"]) == 2
    said = "--directed does not go with --weights amount: leave out the one to use the other"
    assert capsys.readouterr().err == f"mcn: {said}\n"
