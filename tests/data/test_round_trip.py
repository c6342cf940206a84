"""Edge tables as other programs write them are read as written, refused in a line, or noted in the report."""

import csv
import io
import random
import re
from collections import Counter
from pathlib import Path

import networkx
import pandas as pd
import pytest

import mcn
from mcn.store import pack_graph

NAMES = "source-target Source-Target src-dst from-to u-v head-tail"
NAMES += " follower-followee node_1-node_2 FromNodeId-ToNodeId a-b who-whom"
IDS = {
    "integers": lambda at: str(3 * at + 1),
    "names": lambda at: f"person {at}" if at % 2 else f"p{at}",
    "words": lambda at: f"n{at}",
    "accents": lambda at: f"é{at}",
    "hashtags": lambda at: f"#tag{at}" if at % 3 else f"%{at}",
    "commas": lambda at: f"Smith, {at}",
    "padded": lambda at: f"{at:04}",
    "letters": lambda at: "abcdefghijkl"[at],
}
ASSUMED = ("header: ", "no header: ", "the first line (", "lines skipped as comments")


def _table(draw: random.Random) -> tuple[pd.DataFrame, tuple[str, str]]:
    """A table of edges between a few nodes, and the names of the two columns that are an edge."""
    name = IDS[draw.choice(list(IDS))]
    ends = [draw.sample(range(12), 2) for _ in range(draw.randint(3, 20))]
    source, target = draw.choice(NAMES.split()).split("-")
    columns = {source: [name(u) for u, _ in ends], target: [name(v) for _, v in ends]}
    further = {
        "weight": [draw.randint(1, 999) / 8 for _ in ends],
        "id": list(range(100, 100 + len(ends))),
        "kind": [draw.choice("xy") for _ in ends],
        "since": [f"20{draw.randint(10, 24)}-01-01" for _ in ends],
    }
    order = [*columns, *draw.sample(list(further), draw.randint(0, 3))]
    draw.shuffle(order)
    return pd.DataFrame({key: (columns | further)[key] for key in order}), (source, target)


def _pandas(frame: pd.DataFrame, draw: random.Random) -> str:
    mark = draw.choice(",;\t|")
    decimal = draw.choice(".,") if mark != "," else "."
    quoting = draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    header, index = draw.random() < 0.8, draw.random() < 0.5
    return frame.to_csv(sep=mark, decimal=decimal, quoting=quoting, header=header, index=index)


def _polars(frame: pd.DataFrame, draw: random.Random) -> str:
    mark = draw.choice(",;\t")
    try:
        import polars
    except ImportError:  # it writes what pandas writes without an index
        return frame.to_csv(sep=mark, index=False)
    return str(polars.DataFrame(frame.to_dict("list")).write_csv(separator=mark))


def _csv_module(frame: pd.DataFrame, draw: random.Random) -> str:
    out = io.StringIO()
    rows = csv.writer(out, delimiter=draw.choice(",;\t "))
    rows.writerows([*([frame.columns] if draw.random() < 0.7 else []), *frame.to_numpy().tolist()])
    return out.getvalue()


def _networkx(frame: pd.DataFrame, draw: random.Random, ends: tuple[str, str]) -> str:
    extra = [name for name in frame.columns if name not in ends]
    graph = networkx.from_pandas_edgelist(frame, *ends, edge_attr=extra or None)
    data = draw.choice([True, False, *([["weight"]] if "weight" in extra else [])])
    return "\n".join(networkx.generate_edgelist(graph, draw.choice(" \t,"), data)) + "\n"


def _r(frame: pd.DataFrame, draw: random.Random) -> str:
    """`write.table` and `write.csv2`: row names from 1, which the first has no name for."""
    mark, decimal = draw.choice([(" ", "."), ("\t", "."), (" ", ","), (";", ",")])
    frame = frame.set_index(pd.Index([str(row + 1) for row in range(len(frame))]))
    quoting = csv.QUOTE_NONNUMERIC if draw.random() < 0.7 or mark == " " else csv.QUOTE_MINIMAL
    text = frame.to_csv(sep=mark, decimal=decimal, quoting=quoting)
    return text if mark == ";" else text.removeprefix('""').removeprefix(mark)


def _excel(frame: pd.DataFrame, draw: random.Random) -> str:
    return "\ufeff" + frame.to_csv(sep=";", decimal=",", index=False, lineterminator="\r\n")


def _written(draw: random.Random) -> tuple[bytes, pd.DataFrame, tuple[str, str], str]:
    frame, ends = _table(draw)
    writers = {"pandas": _pandas, "polars": _polars, "csv": _csv_module, "r": _r, "excel": _excel}
    writer = draw.choice([*writers, "networkx"])
    text = _networkx(frame, draw, ends) if writer == "networkx" else writers[writer](frame, draw)
    if draw.random() < 0.3:
        text = draw.choice(["# made today\n", "#made today\n", "% x, y\n\n"]) + text.removeprefix("\ufeff")
    rare = ["utf-16", "latin-1", "utf-8-sig", "utf-16-le"]
    encoding = "utf-8" if draw.random() < 0.9 else draw.choice(rare)
    text = text if encoding.startswith("utf-8") else text.removeprefix("\ufeff")
    return text.encode(encoding), frame, ends, writer


def _outcome(seed: int, folder: Path) -> str:
    """What became of a table: the same graph, refused, or noted; anything else fails."""
    content, frame, ends, writer = _written(random.Random(seed))
    path = folder / f"{seed}.csv"
    path.write_bytes(content)
    shown = f"seed {seed}, {writer}: {content[:200]!r}"
    try:
        data = mcn.load_graph(path)
    except ValueError as error:
        return "refused" if re.fullmatch(f"{path}[^\n]+", str(error)) else f"badly refused: {shown}"
    packed = pack_graph(path, out=folder / f"{seed}").to_data()
    assert packed.edge_index.equal(data.edge_index), shown
    assert packed.node_ids.tolist() == data.node_ids.tolist(), shown
    names = list(map(str, data.node_ids.tolist()))
    read = {frozenset((names[u], names[v])) for u, v in data.edge_index.T.tolist()}
    if read == {frozenset(pair) for pair in zip(frame[ends[0]], frame[ends[1]], strict=True)}:
        return "same"
    assert any(line.startswith(ASSUMED) for line in data.report), f"{shown}\n{data.report}"
    return "noted"


@pytest.mark.parametrize("tables", [150, pytest.param(2000, marks=pytest.mark.slow)])
def test_what_is_read_is_what_was_written(tables: int, tmp_path: Path) -> None:
    outcomes = Counter(_outcome(seed, tmp_path) for seed in range(tables))
    assert set(outcomes) == {"same", "noted", "refused"}, outcomes
    assert outcomes["same"] > 0.6 * tables, outcomes
