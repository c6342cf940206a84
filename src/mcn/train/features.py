"""Node features: made ready for a network, and checked against those it was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from graphmotifs._messages import one_of
from mcn.data.sparse import feature_csr, feature_tensor
from mcn.data.treatment import SCALINGS, like_words, moments, row_scaling
from mcn.matrices.state import NUM_COUNTS, check_scale, count_scale, standardise_counts
from mcn.motifs import MotifCounts, count_motifs
from mcn.nn.features import mostly_zero, scaled_rows, scaled_values
from mcn.train.problem import Memory

if TYPE_CHECKING:
    from torch_geometric.data import Data


class Ready(NamedTuple):
    """Features as a network takes them, and what was done to them: plain values, for another graph."""

    x: torch.Tensor
    state: dict[str, Any]


def features(x: torch.Tensor, scaling: str) -> torch.Tensor:
    """Return features in float32, dense or CSR if mostly zero; rows divided by sum or length if asked.

    scaling: "rows" for the sum, "unit" for the length (the root of the sum of squares), "raw" for neither.

    What comes as CSR stays CSR; a dense matrix that is mostly zero (bag-of-words features from PyG) becomes
    what it would be had it come as CSR.

    The sum is of absolute values: the same for bag-of-words features, and it cannot cancel to nearly
    nothing for features of both signs. A row of zeros stays as it is.
    """
    if x.layout == torch.strided:
        dense = x.to(torch.float32)
        if not mostly_zero(dense):
            return scaled_rows(dense, scaling)
        # SciPy has no half precision.
        x = (dense if x.dtype in (torch.float16, torch.bfloat16) else x).detach()
    csr: Any = feature_csr(x).astype(np.float64)
    csr.data = scaled_values(csr.indptr, csr.data, scaling)
    return feature_tensor(csr)


def node_features(
    data: Data, wanted: str = "given", counts: MotifCounts | None = None, memory: Memory | None = None
) -> Ready:
    """Return the features of a graph, made ready as `data.scaling` says.

    `scaling` is auto (also if it is missing), raw, rows, unit or standard. "auto" divides each row by its sum
    or length (see `row_scaling`) if the features look like counts of words or are mostly zero, and
    standardises columns otherwise. Features of files were treated column by column when they were read, and
    say so.

    Args:
        data: the graph; columns are scaled by its training nodes, motif counts by all of its nodes.
        wanted: "given" for the graph's own features, "motifs" for 15 columns (the logarithm of the node's
            degree and motif counts, standardised), "both" for the given ones and these beside them.
        counts: its motif counts, if they are known already.
        memory: of a trained network, which then decides what is done, by what it was trained on.
    """
    before = {} if memory is None else memory.state
    counted = None
    state: dict[str, Any] = {}
    if wanted != "given":
        counted, state["structure_scale"] = _counted(data, counts, before.get("structure_scale"))
        if wanted == "motifs":
            return Ready(torch.from_numpy(counted), state)
    scaling = before.get("scaling") or scaling_of(data)
    state["scaling"] = scaling
    if scaling == "standard":
        scale = before.get("feature_scale") or fitted_scale(data)
        state["feature_scale"] = scale
        x = _standardised(data.x, np.asarray(scale))
    else:
        x = features(data.x, scaling)
    return Ready(x if counted is None else _beside(x, counted), state)


def _counted(
    data: Data, counts: MotifCounts | None, scale: Any
) -> tuple[NDArray[np.float32], list[list[float]]]:
    """Return the logarithms of each node's motif counts, standardised; and the scale they are measured by."""
    per_node = (count_motifs(data.edge_index, data.num_nodes) if counts is None else counts).per_node
    if scale is None:
        scale = count_scale(per_node, data.num_nodes).tolist()
    return standardise_counts(per_node, data.num_nodes, np.asarray(scale)), scale


def scaling_of(data: Data) -> str:
    """Return what is to be done to the given features: rows, unit, raw or standard."""
    asked = getattr(data, "scaling", None)
    if asked is not None:
        one_of("data.scaling", asked, SCALINGS)
    return _fitting(data) if asked in (None, "auto") else str(asked)


def _fitting(data: Data) -> str:
    """Return what fits the features that the training nodes have."""
    x = data.x
    seen = _seen(data)
    if x.layout != torch.strided or mostly_zero(x):
        return row_scaling(seen, int(data.num_nodes))
    whole = bool((seen.data == np.floor(seen.data)).all())
    cells = seen.shape[0] * seen.shape[1]
    words = like_words(
        seen.shape[1], cells, cells - np.count_nonzero(seen.data), bool((seen.data < 0).any()), whole
    )
    return row_scaling(seen, int(data.num_nodes)) if words else "standard"


def _seen(data: Data) -> Any:
    """The features of the training nodes as float64 CSR."""
    nodes = data.train_mask.numpy().nonzero()[0]
    if data.x.layout == torch.strided:
        return feature_csr(data.x[torch.from_numpy(nodes)].to(torch.float64))
    return feature_csr(data.x)[nodes].astype(np.float64)


def fitted_scale(data: Data) -> list[list[float]]:
    """Return mean and deviation of every column over the training nodes."""
    seen = _seen(data).toarray()
    found = [moments(column) for column in seen.T]
    return [[mean for mean, _ in found], [deviation for _, deviation in found]]


def _standardised(x: torch.Tensor, scale: NDArray[np.float64]) -> torch.Tensor:
    dense = (x if x.layout == torch.strided else x.to_dense()).to(torch.float64)
    return ((dense - torch.from_numpy(scale[0])) / torch.from_numpy(scale[1])).to(torch.float32)


def _beside(x: torch.Tensor, columns: NDArray[np.float32]) -> torch.Tensor:
    """Return both side by side, in the layout of the first."""
    if x.layout == torch.strided:
        return torch.cat([x, torch.from_numpy(columns)], 1)
    return feature_tensor(sp.hstack([feature_csr(x), sp.csr_array(columns)], format="csr"))


def check_features(data: Data, memory: Memory) -> None:
    """Refuse a graph whose features are not those a network was trained on.

    Names are compared where both graphs have them.

    Raises:
        ValueError: no features, other ones, or a value that is not finite.
    """
    width, names = memory.in_channels, memory.feature_names
    width -= NUM_COUNTS if "structure_scale" in memory.state else 0
    x = data.x
    if x is None or x.dim() != 2 or x.shape[0] != data.num_nodes:
        shape = None if x is None else list(x.shape)
        raise ValueError(f"data.x has shape {shape}; expected [{data.num_nodes}, {width}]")
    own = getattr(data, "feature_names", None)
    if names is not None and own is not None and list(own) != list(names):
        missing, extra = [n for n in names if n not in own], [n for n in own if n not in names]
        detail = f"missing {missing[:5]}, not known {extra[:5]}" if missing or extra else "in another order"
        raise ValueError(f"the features are not those the network was trained on: {detail}")
    if x.shape[1] != width:
        raise ValueError(f"data.x has {x.shape[1]} features, but the network was trained on {width}")
    _check_finite(x)


def check_stored(memory: Memory) -> None:
    """Check what a file says was done to the features of the graph that a network was trained on.

    Raises:
        ValueError: names what cannot be.
    """
    state = memory.state
    if "scaling" in state:
        one_of("scaling", state["scaling"], SCALINGS[1:])
    width = memory.in_channels
    if "structure_scale" in state:
        check_scale(state["structure_scale"], "structure_scale")
        width -= NUM_COUNTS
    if state.get("scaling") == "standard":
        scale = check_scale(state.get("feature_scale"), "feature_scale", width)
        if not (scale[1] > 0).all():
            raise ValueError("feature_scale must hold positive deviations")


def _check_finite(x: torch.Tensor) -> None:
    csr = feature_csr(x)
    bad = np.flatnonzero(~np.isfinite(csr.data))
    if len(bad):
        node = int(np.searchsorted(csr.indptr, bad[0], side="right")) - 1
        column = int(csr.indices[bad[0]])
        raise ValueError(
            f"data.x holds {csr.data[bad[0]]} at node {node}, column {column}; expected finite numbers"
        )
