"""Graphs from files of one's own: edges, and a node table if there is one."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphmotifs._messages import one_of, shown
from graphmotifs.graph import SimpleGraph, known_ways, simple_graph
from mcn._composition import check_composition
from mcn._names import spell_option
from mcn.data.edge_files import NETWORKX, TEXT, edge_format, graph_of_edges, read_edges
from mcn.data.edge_list import EdgeList, IdIndex, Layout, kind_of, object_edges, report_graph
from mcn.data.edge_text import EdgeText
from mcn.data.limits import Problems, check_size, existing_file, listed, reading
from mcn.data.node_columns import NodeColumns, check_sum_of
from mcn.data.node_table import NodeTable, RawTable, frame_table, node_table, read_table, with_nodes
from mcn.data.sparse import as_tensor, thin_or_dense
from mcn.data.splits import Parts, SplitRequest, find_parts
from mcn.data.structure_features import degree_columns, wl_features
from mcn.data.targets import TASKS, Targets, copies_of_labels, known_targets, read_targets, target_kind
from mcn.data.text import is_number
from mcn.data.treatment import SCALINGS, Treatment, describe, fit_treatment

if TYPE_CHECKING:
    from torch_geometric.data import Data

_STRUCTURAL = ("degree", "wl")
_HOLDS = {"number": "numbers", "boolean": "yes or no", "category": "categories"}
UNKNOWN_IDS = ("error", "skip", "add")
SKIPPED = "edges skipped, as an end is not in the node table: "


def load_graph(
    edges: Any,
    nodes: Any = None,
    *,
    id: str | None = None,
    label: str | Sequence[str] | None = None,
    task: str | None = None,
    split: str | Sequence[str] | None = None,
    split_index: int = 0,
    split_by: str | None = None,
    folds: int | None = None,
    features: Sequence[str] | str | None = None,
    drop: Sequence[str] = (),
    scaling: str = "auto",
    treatment: Treatment | None = None,
    source: str | None = None,
    target: str | None = None,
    weights: str | None = None,
    unknown_ids: str = "error",
    directed: bool = False,
    seed: int = 0,
    delimiter: str | None = None,
    header: bool | None = None,
    dense: bool = False,
) -> Data:
    """Read a graph from an edge file and, optionally, a node table; `docs/data.md` has the formats.

    Edges are made simple: undirected unless `directed`, no self-loops, no repeats. `data.node_ids` holds the
    ids of the nodes in their order (that of the table, else ascending): int64, or Python strings if any is
    not a number. `data.report` says in plain lines what was done; `data.one_way` counts the edges that were
    given in one direction, where most were and it is not used.

    Reading a file may take at most 2 GiB of memory, the arrays of its graph counted; the environment variable
    `MCN_MAX_BYTES` sets another limit, in bytes.

    Args:
        edges: a csv, tsv, txt, edges, edgelist, mtx, npz, graphml, gexf or gml file, also with `.gz`; a
            parquet, feather or arrow file; or a frame of pandas or polars, a graph of NetworkX or igraph, a
            SciPy sparse matrix.
        nodes: a csv or tsv file with a header, or a parquet or feather file, or a frame: one line per node.
        id: the table's id column; by default one named id, node, node_id or nodeid, else the first.
        label: its label column; by default one named label, class, y or target, if any. Several ("a,b" or a
            sequence) are yes/no targets. An empty cell, NA, nan or ? is a missing label: `y` is -1 (floats:
            NaN) and the node is in no mask.
        task: "classes", "regression" (`y` is numbers) or "multilabel" (several yes/no); by default many
            different numbers with fractions are regression, which the report says.
        split: its column of train, val and test, or several such columns; by default one named split. Or a
            rule: "60/20/20", percentages of each class, or "20-per-class", that many of each class for
            training (at most half of it) and the others halved. `docs/data.md` has what is drawn without.
        split_index: which of several split columns or folds; for a drawn split it is added to `seed`.
        split_by: a column by which nodes are divided 60/20/20, so that no value is in two parts. Numbers and
            dates: the largest are for testing, those before them for validation. Text: groups are drawn.
        folds: K parts in which every class is spread evenly; part `split_index` is for testing, a fifth of
            the others for validation.
        features: its feature columns; by default all other columns. "degree" or "wl" for features from the
            graph alone; "degree" is also what a graph without columns gets.
        drop: columns of the table that are left out.
        scaling: what is done to numbers: "standard" (minus the mean, divided by the deviation of the training
            nodes), "rows" or "unit" (training divides each row by its sum or length), "raw" (nothing), or
            "auto": rows or unit if the columns look like counts of words, else standard.
        treatment: what is done to the columns for `data.x`, learned from another table (its
            `data.treatment`). Estimators do not need it: they apply their own treatment to `data.columns`.
        source, target: the two columns of the edge list that are an edge, by name or counted from 1; by
            default a usual pair of names in the header, else the first two that do not number the rows.
        weights: a column of the edge list (an attribute of the edges, for graphs; any name for the values of
            a SciPy matrix) with positive numbers, kept as `data.edge_weight`, float32, in the order of
            `data.edge_index`. Repeated edges are summed; both directions of an edge too, unless all edges are
            given in both with the same weight.
        unknown_ids: what to do about edges to ids that are not in the table. "error": refuse the file.
            "skip": leave them out. "add": add nodes without features and label.
        directed: edges are arcs from source to target, and their direction is used (`docs/directed.md`):
            `data.edge_index` has the arcs alone, and `data.directed` is True.
        seed: decides the drawn split.
        delimiter: separator of both text files; by default found from the first line.
        header: whether the edge list has a header line; by default found from its first lines.
        dense: keep `x` dense; by default it is CSR when fewer than a tenth of its values are not zero.

    Raises:
        ValueError: names the file, the line and the value; also for a file that is too large or damaged.
        OSError: a file is not there (FileNotFoundError) or cannot be read.
    """
    if isinstance(features, str) and features not in _STRUCTURAL:
        raise ValueError(f'features must be column names, "degree" or "wl", got {features!r}')
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"delimiter must be one character, got {delimiter!r}")
    if delimiter is not None and delimiter in '"\r\n':
        raise ValueError(f"delimiter must be neither a quote nor a line end, got {delimiter!r}")
    one_of("scaling", scaling, SCALINGS)
    one_of("unknown_ids", unknown_ids, UNKNOWN_IDS)
    one_of("task", task or "classes", TASKS)
    layout = Layout(delimiter, header, source, target)
    weighted = None if weights is None else spell_option("weights", weights)
    check_composition({"direction": directed and spell_option("directed", True), "edge weights": weighted})
    if treatment is not None and features is not None:
        raise ValueError("give features or treatment, not both: a treatment names its columns")
    request = SplitRequest(split, split_by, folds, split_index, seed)
    columns = features if features is None else [] if isinstance(features, str) else list(features)
    kind = kind_of(edges)  # None: a file
    problems, path, table_path, table, found = Problems(), None, None, None, None
    with problems.noted():
        path = existing_file(edges) if kind is None else None
    with problems.noted():
        table_path = None if nodes is None or kind_of(nodes) else existing_file(nodes)
    problems.raise_all()
    name = "edges" if path is None else str(path)

    def read(as_text: bool, weights: str | None) -> EdgeList:
        with reading(name, "not a readable graph"):  # inside of what collects problems: each names its file
            if path is None:
                return object_edges(edges, layout, weights=weights, as_text=as_text)
            return read_edges(path, layout, as_text=as_text, weights=weights)

    with reading(name, "not a readable graph", table_path or "nodes"):
        named = bool(label or task or request.columns or split_by or columns or drop or treatment)
        of_graph = kind in ("networkx", "igraph") or (path is not None and edge_format(path) in NETWORKX)
        with problems.noted():
            raw = None if table_path is None else read_table(table_path, delimiter)
            if nodes is not None and raw is None:
                with reading("nodes", "not a readable table"):
                    raw = frame_table(nodes, "nodes")
            elif raw is None and of_graph:
                found = read(False, weights)
                if named:
                    raw = _attribute_table(name, found)
                    id = raw.header[0]
            elif raw is None and (id or named):
                raise ValueError(
                    f"{name}: {_wanted_columns(treatment)}, but there is no node table; give one by "
                    f"{spell_option('nodes')}"
                )
            if raw is not None:
                kept = None
                with problems.noted():
                    kept = raw.without(drop)
                table = node_table(
                    kept or raw,
                    id=id,
                    label=label,
                    task=task,
                    splits=request.columns,
                    split_by=split_by,
                    features=[] if kept is None else columns,
                    needs_labels=treatment is None,
                    problems=problems,
                )
        as_text = table is not None and table.ids.dtype == object
        for weighted in dict.fromkeys((weights, None)):  # what else is wrong does not depend on weights
            with problems.noted():
                found = read(as_text, weighted) if found is None else found
        if table is None:
            problems.raise_all()
        report: list[str] = []
        graph = simple_graph([[], []], 0 if table is None else len(table.ids))
        if found is not None:
            with problems.noted():
                if table is not None:
                    found, table = match_nodes(found, table, unknown_ids, name, layout)
                graph = graph_of_edges(replace(found, ids=found.ids if table is None else table.ids))
                report = report_graph(graph, found.notes, directed)
        wanted = FeatureRequest(features, scaling, treatment, dense)
        ends = graph.arcs if directed else graph.edge_index
        wl = (lambda: wl_features(graph, iterations=3)) if features == "wl" else None
        of_nodes: dict[str, Any] = {}
        with problems.noted():
            of_nodes = node_values(table, wanted, request, report, graph.degrees, wl, drop)
        problems.raise_all()
        assert found is not None
        import torch  # behind all that can be wrong with the files
        from torch_geometric.data import Data

        data = Data(edge_index=torch.from_numpy(ends), num_nodes=graph.num_nodes)
        data.node_ids = found.ids if table is None else table.ids
        if directed:
            data.directed = True
        elif one_way := _given_direction(graph):
            data.one_way = one_way
        for key, value in of_nodes.items():
            array = isinstance(value, np.ndarray) or sparse.issparse(value)
            setattr(data, key, as_tensor(value) if array else value)
        if "columns" in of_nodes:
            made = check_sum_of(data.x, sparse.issparse(of_nodes["x"]))
            data.columns = replace(data.columns, made=made)
        if found.weights is not None:
            from mcn.data.checks import edge_weights

            data.edge_weight, note = edge_weights(graph, found.ends, found.weights)
            data.report.insert(1, f"edge weights from {shown(str(weights))}{note}")
        return data


def _given_direction(graph: SimpleGraph) -> int:
    """Count the edges that are given in one direction, if most are and it seems to mean something.

    Where nine tenths of them begin at the node of the smaller number, or at that of the larger, the list
    seems to name each edge once, and the count is 0.
    """
    up, down, _ = np.bincount(known_ways(graph), minlength=4)[1:]
    seems = 2 * (up + down) > graph.num_edges and 10 * min(up, down) >= up + down
    return int(up + down) if seems else 0


@dataclass(frozen=True)
class FeatureRequest:
    """Which features were asked for."""

    names: Sequence[str] | str | None
    scaling: str
    treatment: Treatment | None
    dense: bool


def _wanted_columns(treatment: Treatment | None) -> str:
    """Say why a node table is needed."""
    if treatment is None:
        return "columns were named"
    names = [column.name for column in treatment.columns]
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f"the network was trained on columns of a node table ({', '.join(names[:5])}{more})"


def _attribute_table(graph: str, edges: EdgeList) -> RawTable:
    """The attributes of a graph's nodes as a node table."""
    attributes = edges.attributes or []
    names = sorted({key for row in attributes for key in row})
    check_size(graph, 8 * len(names) * len(attributes), "has node attributes that make a table of")
    nodes = [str(name) for name in edges.ids]
    columns = [nodes, *([row.get(name, "") for row in attributes] for name in names)]
    # A blank first name cannot collide with an attribute.
    return RawTable(graph, ["", *names], columns, "node", [shown(node) for node in nodes])


def match_nodes(
    found: EdgeList, table: NodeTable, unknown: str, path: str, layout: Layout
) -> tuple[EdgeList, NodeTable]:
    """Translate the ends of the edges into rows of the table; refuse, skip or add ids that it lacks."""
    place = IdIndex(table.ids).find(found.ids)
    missing = (place < 0)[found.ends] if (place < 0).any() else np.zeros(2, np.bool_)
    if not missing.any():
        return replace(found, ends=place[found.ends]), table
    file = Path(path) if Path(path).is_file() and edge_format(Path(path)) in TEXT else None
    first_alone = missing[:, 0].all() and missing.sum() == 2
    text = EdgeText.open(file, layout) if file is not None and (first_alone or unknown == "error") else None
    if text is not None and text.guessed and not text.columns and first_alone:
        words = [str(word) for word in found.ids[found.ends[:, 0]].tolist()]
        if not any(map(is_number, words)):
            what = f"the first line names the columns ({listed(words)}): the node table has neither as an id"
            found = replace(found, ends=found.ends[:, 1:], notes=[what, *found.notes])
            return replace(found, ends=place[found.ends]), table
    if unknown == "skip":
        kept = ~missing.any(axis=0)
        weights = None if found.weights is None else found.weights[kept]
        notes = [*found.notes, f"{SKIPPED}{int((~kept).sum()):,}"]
        return replace(found, ends=place[found.ends[:, kept]], weights=weights, notes=notes), table
    if unknown == "add":
        new = np.unique(found.ends[missing])
        place[new] = len(table.ids) + np.arange(len(new))
        table = with_nodes(table, [str(value) for value in found.ids[new].tolist()])
        return replace(found, ends=place[found.ends]), table
    edge = int(np.argmax(missing.any(axis=0)))
    value = found.ids[found.ends[np.argmax(missing[:, edge]), edge]]
    at = f"edge {edge}" if text is None else f"line {text.line_of(edge)}"
    strangers = found.ids[place < 0].tolist()
    refuse_unknown(f"{path}, {at}", str(value), table, strangers, every=bool(missing.all()))


def refuse_unknown(
    where: str, value: str, table: NodeTable, strangers: Sequence[Any], every: bool = False
) -> NoReturn:
    """Raise for an id that the table lacks; `strangers` are such ids, `every` that no edge has others."""
    ends = f"{spell_option('source')} and {spell_option('target')}"
    others = [name for name in map(str, strangers) if name != value]
    if not every:
        more = f"nor {listed(others, 3)}; " if others else ""
        ways = f"{spell_option('unknown_ids', 'skip')} or {spell_option('unknown_ids', 'add')}"
        advice = f"{more}add {'them' if others else 'it'} there, or say {ways}"
    else:
        sides = (strangers[:3], table.ids[:3].tolist())
        theirs, own = (", ".join(shown(str(one)) for one in side) for side in sides)
        advice = (
            f"nor is any other: edges have {theirs}, the table has {own}; {spell_option('id')} names its "
            f"column of ids, {ends} those of the edges"
        )
    if where.endswith(", line 1"):
        header = spell_option("header", True)
        advice += f"; if this line names the columns, {header} says so, and {ends} which are an edge"
    raise ValueError(f"{where}: node id {shown(value)} is not in the node table {table.raw.name}; {advice}")


def node_values(
    table: NodeTable | None,
    wanted: FeatureRequest,
    request: SplitRequest,
    report: list[str],
    degree: NDArray[np.int64],
    wl: Callable[[], sparse.csr_array[Any]] | None = None,
    drop: Sequence[str] = (),
) -> dict[str, Any]:
    """Return features, labels, split and report of a graph, as arrays by the names that a `Data` has.

    Features are made of the `degree` of every node if the table has none, or by `wl` if that is given.
    The report names the columns that were left out (`drop`), too.
    """
    values: dict[str, Any] = {}
    problems = Problems()
    parts, origin, targets = None, "", None
    own: dict[str, Any] = {}
    made: list[str] = []  # what is said of the features
    with problems.noted():
        targets = None if table is None else read_targets(table)
        if table is not None and targets is not None:
            parts, origin = find_parts(request, table.raw, targets.y, table.splits)
            values["split_at_random"] = request.at_random(table.splits)
    with problems.noted():
        own = _table_features(table, wanted, parts, made)
    problems.raise_all()
    if table is not None:
        columns = own["treatment"].columns if own else ()
        report.append(table.describe_columns({column.name: _HOLDS[column.kind] for column in columns}, drop))
        report += table.notes
    report += [*(targets.notes if targets else []), *made]
    values |= own
    if not own:
        values["scaling"] = "raw" if wanted.scaling == "raw" else "rows"
        x = (degree_columns(degree) if wl is None else wl()).astype(np.float32)
        # Colours are numbered within one graph: their names keep them from being taken for another's.
        graph = f"graph {zlib.crc32(x.indices.tobytes()):08x}"
        width = range(x.shape[1])
        values["feature_names"] = [
            f"degree below {2**column}" if wl is None else f"colour {column} of {graph}" for column in width
        ]
        values["x"] = x.toarray() if wanted.dense else x
        report.append(
            "features: one-hot size of the degree (no feature columns)"
            if wl is None
            else "features: one-hot colours of 3 Weisfeiler–Lehman iterations"
        )
    if table is not None and targets is not None and parts is not None:
        if wanted.treatment is None and own:
            known = (parts == 0) | (parts == 1)  # never the test nodes: their labels are for the end
            names = [column.name for column in own["treatment"].columns]
            report += copies_of_labels(table.raw, names, targets, known)
        values |= _labels(targets, parts, origin, report)
    else:
        there = "" if table is None else ", ".join(map(shown, table.raw.header[:10]))
        report.append(f"no labels; {spell_option('label')} takes one of {there}" if there else "no labels")
    return values | {"report": report}


def _table_features(
    table: NodeTable | None, wanted: FeatureRequest, parts: Parts | None, report: list[str]
) -> dict[str, Any]:
    """Return the features of the node table, if it has any and they are wanted."""
    if table is None or isinstance(wanted.names, str):
        return {}
    treatment, columns = (
        wanted.treatment,
        NodeColumns.of_table(table.raw, table.feature_names, wanted.scaling),
    )
    if treatment is None:
        train = np.zeros(0, np.bool_) if parts is None else parts == 0
        seen = train if train.any() else np.ones(len(table.ids), np.bool_)
        treatment, notes = fit_treatment(columns, seen)
        report += notes
    if not treatment.columns:
        return {}
    values, notes = treatment.apply(columns)
    again = ", treated as before" if wanted.treatment is not None else ""
    report += [describe(treatment, wanted.scaling) + again, *notes]
    names = {"scaling": treatment.scaling, "feature_names": treatment.feature_names}
    return {
        "columns": columns,
        "treatment": treatment,
        **names,
        "x": thin_or_dense(values, wanted.dense),
    }


def _labels(targets: Targets, parts: Parts, origin: str, report: list[str]) -> dict[str, Any]:
    unlabelled = int((~known_targets(targets.y)).sum())
    missing = f", {unlabelled:,} nodes without a label" if unlabelled else ""
    names = {"classes": "classes", "regression": "numeric target", "multilabel": "yes/no targets"}
    report.append(f"labels: {len(targets.classes)} {names[target_kind(targets.y)]}{missing}")
    masks = {name: parts == part for part, name in enumerate(("train_mask", "val_mask", "test_mask"))}
    sizes = [int(mask.sum()) for mask in masks.values()]
    report.append(f"split: {sizes[0]:,} training, {sizes[1]:,} validation, {sizes[2]:,} test nodes, {origin}")
    return {"y": targets.y, "classes": targets.classes, **masks}
