"""What a `Data` must hold before it is trained on, and the edge weights that it carries."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from graphmotifs._messages import brief
from graphmotifs._sparse import check_csr
from graphmotifs.graph import SimpleGraph, simple_graph
from mcn._composition import check_composition
from mcn._names import spell_option
from mcn.data.edge_list import checked_weights
from mcn.data.limits import listed
from mcn.data.sparse import csr_parts
from mcn.data.targets import known_targets as known_targets
from mcn.data.targets import target_kind as target_kind
from mcn.data.text import is_number

if TYPE_CHECKING:
    from torch_geometric.data import Data

_CLASSES = 2**16  # numbers that classes may have even if there are fewer nodes
_MASKS = ("train_mask", "val_mask", "test_mask")
_KINDS = {"classes": "integers", "regression": "numbers", "multilabel": "yes/no targets"}


def told_nodes(data: Data) -> int | None:
    """Return the number of nodes that a `Data` states, or that PyG tells by what it holds."""
    try:
        count: int | None = data.num_nodes
    except (IndexError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"data.num_nodes is not given and cannot be told ({brief(error)})") from error
    return count


def usable_data(data: Any) -> Any:
    """Return a `Data` in the form that `check_data` asks for, where nothing has to be guessed for that.

    Labels and masks [N, 1], as OGB has them, become [N]; a missing test mask is one without nodes; features
    are taken without their gradient. Class numbers with gaps, such as 5 and 9, become 0, 1, …:
    `data.class_numbers` [C] keeps them, and `data.classes` has them as names. Numbers and yes/no targets
    become float32, NaN where they are not known; of several targets, all are known or none. What is fine
    already, or is no `Data`, is returned as it is; the given one is never changed.
    """
    from torch_geometric.data import Data  # slow to import, and there already where it matters

    if not isinstance(data, Data):
        return data
    changes: dict[str, Any] = {}
    for name in ("y", *_MASKS):
        value = data.get(name)
        if isinstance(value, Tensor) and value.dim() == 2 and value.shape[1] == 1 and not value.is_sparse:
            changes[name] = value[:, 0]
    if data.get("test_mask") is None and isinstance(data.get("train_mask"), Tensor):
        changes["test_mask"] = torch.zeros_like(changes.get("train_mask", data.train_mask))
    if isinstance(data.x, Tensor) and data.x.requires_grad:
        changes["x"] = data.x.detach()
    targets = changes.get("y", data.y)
    if _holds_numbers(targets) and target_kind(targets) != "classes":
        known = known_targets(targets)
        known = known[:, None] if targets.dim() == 2 else known
        plain = torch.where(known, targets.float(), torch.nan)
        if targets.dtype != plain.dtype or not torch.equal(targets.isnan(), plain.isnan()):
            changes["y"] = plain
    given = {name: changes.get(name, data.get(name)) for name in ("y", *_MASKS)}
    numbers = _numbers_with_gaps(given) if getattr(data, "classes", None) is None else None
    if numbers is not None:
        changes["y"] = renumbered(given["y"], numbers)
        changes |= {"class_numbers": numbers, "classes": [str(number) for number in numbers.tolist()]}
    if not changes:
        return data
    usable = copy.copy(data)
    for name, value in changes.items():
        usable[name] = value
    return usable


def _holds_numbers(value: Any) -> bool:
    """Whether a value is a dense tensor of real numbers; those on the device meta are empty."""
    dense = isinstance(value, Tensor) and value.layout == torch.strided
    return dense and not value.is_meta and not value.is_complex()


def _numbers_with_gaps(given: dict[str, Any]) -> Tensor | None:
    """Return the class numbers of the nodes in a mask; None if all numbers are 0, 1, … without a gap.

    That a class exists is no secret of the test nodes: it is part of the task.
    """
    y, masks = given["y"], [given[name] for name in _MASKS]
    if not all(map(_holds_numbers, (y, *masks))):
        return None  # `check_data` says what is wrong, here and below
    if target_kind(y) != "classes" or any(m.dtype != torch.bool or m.shape != y.shape for m in masks):
        return None
    known = torch.unique(y[y >= 0])
    if known.tolist() == list(range(len(known))):
        return None
    numbers = torch.unique(y[(masks[0] | masks[1] | masks[2]) & (y >= 0)])
    return numbers if len(numbers) > 1 else None


def renumbered(y: Tensor, numbers: Tensor) -> Tensor:
    """Return the place of every class number among `numbers`, which ascend; -1 where it is not there."""
    place = torch.searchsorted(numbers, y.to(numbers.dtype)).clamp(max=len(numbers) - 1)
    return torch.where(numbers[place] == y, place, -1)


def check_data(data: Data) -> SimpleGraph:
    """Check a `Data` before training: edges, features, targets of any kind (`target_kind`) and masks.

    Warns of a class without a training node, of a yes/no target that is the same for all nodes, and of what
    the edges have that training does not use.

    Returns:
        The graph of its edges, for whoever counts, weighs or propagates next: it need not be made again.
    """
    n = told_nodes(data)
    if n is None or data.edge_index is None:
        raise ValueError("data has no edge_index or no num_nodes; expected both")
    graph = simple_graph(data.edge_index, n)
    _check_features(data.x, n)
    masks = {name: _mask(data, name, n) for name in _MASKS}
    for first, second in combinations(_MASKS, 2):
        both = (masks[first] & masks[second]).nonzero()
        if len(both):
            raise ValueError(
                f"data.{first} and data.{second} overlap in {len(both)} nodes, first in node {int(both[0])}; "
                "expected every node in one part at most"
            )
    _check_labels(data.y, masks, n, getattr(data, "classes", None))
    warn_of_unused(data, graph, used=("edge_weight",))
    return graph


def both_ways(data: Data) -> Tensor:
    """Return the edges of a `Data` as given, or in both directions where they are arcs (`data.directed`)."""
    if not data.get("directed"):
        edges: Tensor = data.edge_index
        return edges
    return torch.from_numpy(simple_graph(data.edge_index, data.num_nodes).edge_index)


def unused_of_edges(data: Data, num_nodes: int, used: tuple[str, ...] = ()) -> list[str]:
    """Say what a `Data` has for every edge beside what is `used`: weights, features, times."""
    count = np.shape(data.edge_index)[1]
    unused = [
        f"data.{name} {list(value.shape)}"
        for name, value in data.to_dict().items()
        if isinstance(value, Tensor) and value.dim() > 0 and value.shape[0] == count
        if count != num_nodes or name.startswith("edge_")
        if name not in (*used, "edge_index")
    ]
    weights = "; weights are read from data.edge_weight" if used else ""
    return [f"{', '.join(unused)} of the edges: not used{weights}"] if unused else []


def direction_note(one_way: int, how: str) -> str:
    """Say that the direction of so many edges is not used, and `how` it would be."""
    return f"{one_way:,} edges are given in one direction only: direction is not used; {how} uses it"


def warn_of_unused(data: Data, graph: SimpleGraph, used: tuple[str, ...] = ()) -> None:
    """Warn, once, of what a `Data` says of its edges beside what is `used`, and of direction."""
    notes = unused_of_edges(data, graph.num_nodes, used)
    if graph.one_way and not getattr(data, "directed", False):
        notes.append(direction_note(graph.one_way, "data.directed = True"))
    if notes:
        warnings.warn(". ".join(notes), stacklevel=3)


def _check_features(x: Any, n: int) -> None:
    if x is None:
        raise ValueError(
            "data.x is missing; expected features [num_nodes, F]. Without any of your own: "
            "data.x = mcn.data.feature_tensor(mcn.data.degree_features(data))"
        )
    if not isinstance(x, Tensor):
        raise ValueError(
            f"data.x is a {type(x).__name__}; expected a torch tensor: torch.from_numpy for an array, "
            "mcn.data.feature_tensor for a sparse matrix"
        )
    if x.layout not in (torch.strided, torch.sparse_csr):
        raise ValueError(
            f"data.x has the layout {x.layout}; expected dense or CSR, such as x.to_sparse_csr()"
        )
    if x.is_meta:
        raise ValueError("data.x is on the device meta, where tensors hold no numbers; expected cpu or cuda")
    if x.is_complex() or x.is_quantized:
        raise ValueError(f"data.x holds {x.dtype}; expected real numbers")
    if x.dim() != 2 or x.shape[0] != n:
        raise ValueError(f"data.x has shape {list(x.shape)}; expected [{n}, F], a row per node")
    if x.layout == torch.sparse_csr:
        check_csr(*csr_parts(x, "data.x"), x.shape, "data.x", values=x.values())
    values = x.values() if x.layout == torch.sparse_csr else x
    bad = (~torch.isfinite(values)).nonzero()
    if len(bad) == 0:
        return
    if x.layout == torch.sparse_csr:
        place = int(bad[0, 0])
        node = int(torch.searchsorted(x.crow_indices(), place, right=True)) - 1
        column, value = int(x.col_indices()[place]), float(values[place])
    else:
        node, column = (int(i) for i in bad[0])
        value = float(x[node, column])
    raise ValueError(f"data.x holds {value} at node {node}, column {column}; expected finite numbers")


def _mask(data: Data, name: str, n: int) -> Tensor:
    mask = data.get(name)
    if mask is None:
        raise ValueError(f"data.{name} is missing; draw one with mcn.data.random_split(data.y)")
    if isinstance(mask, Tensor) and mask.dim() == 2 and mask.shape[0] == n:
        raise ValueError(
            f"data.{name} has shape {list(mask.shape)}: {mask.shape[1]} splits; take one of them, for "
            f"instance data.{name} = data.{name}[:, 0], and the same of the other masks"
        )
    return _per_node(mask, name, [n], "bool", lambda tensor: tensor.dtype == torch.bool)


def _per_node(value: Any, name: str, shape: list[int], kind: str, fits: Callable[[Tensor], bool]) -> Tensor:
    """Return an attribute that must be a dense tensor of a shape and kind; those on meta hold nothing."""
    expected = f"{kind} of shape {shape}"
    if not isinstance(value, Tensor) or value.layout != torch.strided or value.is_meta:
        tensor = isinstance(value, Tensor)
        what = f"tensor of layout {value.layout} on {value.device}" if tensor else type(value).__name__
        raise ValueError(f"data.{name} is a {what}; expected a dense tensor, {expected}")
    if list(value.shape) != shape or not fits(value):
        raise ValueError(
            f"data.{name} has shape {list(value.shape)}, dtype {value.dtype}; expected {expected}"
        )
    return value


def _check_labels(y: Any, masks: dict[str, Tensor], n: int, names: Any) -> None:
    if y is None:
        raise ValueError("data.y is missing; expected a class for every node in a mask")
    kind = target_kind(y) if isinstance(y, Tensor) else "classes"
    shape = [n, y.shape[1]] if kind == "multilabel" else [n]
    _per_node(y, "y", shape, _KINDS[kind], lambda tensor: not tensor.is_complex())
    known = known_targets(y)
    for name, mask in masks.items():
        missing = (mask & ~known).nonzero()
        if len(missing):
            node = int(missing[0])
            raise ValueError(f"data.{name} holds node {node}, which has no label (y = {y[node].tolist()})")
    train = masks["train_mask"]
    if not train.any():
        why = "" if known.any() else "no node has a label, so that "
        raise ValueError(
            f"{why}there are no training nodes (data.train_mask is empty); expected some to learn from"
        )
    if kind == "classes":
        _check_classes(y, train, masks["val_mask"], n, names)
    else:
        _check_values(y.reshape(n, -1), known, kind, names)


def _check_classes(y: Tensor, train: Tensor, val: Tensor, n: int, names: Any) -> None:
    most = max(n, _CLASSES)
    if int(y.max()) >= most:
        raise ValueError(
            f"data.y holds class {int(y.max())}; a network has an output for every number below: expected "
            f"classes numbered from 0 without gaps, below {most:,}"
        )
    classes = torch.unique(y[y >= 0]).long()
    if len(classes) < 2:
        only = int(classes[0])
        named = f": every label is {str(names[only])!r}" if names is not None and len(names) > only else ""
        raise ValueError(f"data.y holds one class only ({only}){named}; expected at least two")
    sizes = dict(zip(classes.tolist(), torch.bincount(y[y >= 0].long())[classes].tolist(), strict=True))
    titles = {c: str(c if names is None or c >= len(names) else names[c]) for c in sizes}
    judged = set(y[val].tolist())
    rare = [titles[c] for c, size in sizes.items() if size == 1 or (size == 2 and c not in judged)]
    if len(sizes) - len(rare) < 2:
        numbers = f", or learn numbers ({spell_option('task', 'regression')})" * all(map(is_number, rare))
        raise ValueError(
            f"{len(rare):,} of {len(sizes):,} classes ({listed(rare, 3)}) have too few nodes to be learned "
            f"and judged, one or two of {sum(sizes.values()):,} labelled ones: label more nodes, or name "
            f"another column of labels ({spell_option('label')}){numbers}"
        )
    trained = set(y[train].tolist())
    if len(trained) == 1:
        raise ValueError(
            f"all {int(train.sum()):,} training nodes are of class {titles[trained.pop()]!r}; label more "
            f"nodes, or divide them in another way ({spell_option('split')})"
        )
    untrained = sorted(sizes.keys() - trained)
    if untrained:
        warnings.warn(
            f"no training node of class {', '.join(map(str, untrained))}: it can never be predicted",
            stacklevel=4,
        )


def _check_values(y: Tensor, known: Tensor, kind: str, names: Any) -> None:
    """Check numbers, or yes/no targets in several columns."""
    several, columns = kind == "multilabel", y.shape[1]
    if several and names is not None and len(names) != columns:
        raise ValueError(f"data.classes has {len(names)} names for the {columns} columns of data.y")
    wrong = (known[:, None] & ((y != 0) & (y != 1) if several else torch.isinf(y))).nonzero()
    if len(wrong):
        node, column = wrong[0].tolist()
        at, expected = (f", column {column}", "0 or 1") if several else ("", "finite numbers")
        value = y[node, column].item()
        raise ValueError(f"data.y holds {value} at node {node}{at}; expected {expected}, NaN where unknown")
    first = y[known][0]
    constant = (y[known] == first).all(0)
    if bool(constant.all()):
        every = ", ".join(f"{value:g}" for value in first.tolist())
        raise ValueError(f"data.y: every target is {every}; there is nothing to learn")
    alike = [str(column if names is None else names[column]) for column in constant.nonzero()[:, 0].tolist()]
    if alike:
        which = ", ".join(alike)
        warnings.warn(f"target {which} is the same for all labelled nodes: it cannot be judged", stacklevel=4)


def given_weights(data: Data) -> tuple[str, Tensor] | None:
    """Return the name and the values of a graph's edge weights, `data.edge_weight`; None if it has none.

    `data.edge_attr` holds features of the edges, whatever its shape: it is never taken for weights.
    """
    weight = data.get("edge_weight")
    return None if weight is None else ("edge_weight", weight)


def weight_matrix(data: Data) -> csr_array | None:
    """Return W, float64 CSR [N, N], symmetric, with the weight of every edge; None for a graph without.

    Repeated entries of `data.edge_index` are summed, and so are the two directions of an edge, unless all
    edges are given in both with the same weight. Self-loops are left out, as they are of the graph.
    """
    given = given_weights(data)
    if given is None:
        return None
    asked = {"direction": data.get("directed") and "data.directed", "edge weights": "data.edge_weight"}
    check_composition(asked)
    name, values = given
    edges = np.asarray(data.edge_index)
    if list(values.shape) != [edges.shape[1]]:
        raise ValueError(
            f"data.{name} has shape {list(values.shape)}; expected [{edges.shape[1]}], one number per edge"
        )
    cells: Any = values.detach().double().numpy()
    checked = checked_weights(cells, lambda at: f"data.{name}, edge {at}", name)
    graph = simple_graph(edges, data.num_nodes)
    symmetric, _ = edge_weights(graph, edges, checked)
    shape = (graph.num_nodes, graph.num_nodes)
    return csr_array((symmetric.numpy().astype(np.float64), tuple(graph.edge_index)), shape=shape)


def edge_weights(
    graph: SimpleGraph, ends: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[Tensor, str]:
    """Return the weight of every entry of `graph.edge_index`, float32, and a note on what was summed."""
    kept = ends[0] != ends[1]
    given: Any = csr_array((weights[kept], tuple(ends[:, kept])), shape=(graph.num_nodes, graph.num_nodes))
    both = given.nnz > 0 and (given != given.T).nnz == 0
    total = given if both else csr_array(given + given.T)
    total.sort_indices()  # the order of `graph.edge_index`
    repeated = not both and int(kept.sum()) > graph.num_edges
    note = "; those of repeated edges are summed" if repeated else ""
    return torch.from_numpy(total.data.astype(np.float32)), note
