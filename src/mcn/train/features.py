"""Node features: made ready for a network, and checked against those it was trained on."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from mcn.data.sparse import feature_csr, feature_tensor
from mcn.nn.features import mostly_zero
from mcn.train.problem import Memory


def features(x: torch.Tensor, normalize: bool) -> torch.Tensor:
    """Return features in float32, each row divided by its sum if asked: dense, or CSR if mostly zero.

    What comes as CSR stays CSR; a dense matrix that is mostly zero (bag-of-words features from PyG) becomes
    what it would be had it come as CSR.

    The sum is of absolute values: the same for bag-of-words features, and it cannot cancel to nearly
    nothing for features of both signs. A row of zeros stays as it is.
    """
    if x.layout == torch.strided:
        dense = x.to(torch.float32)
        if not mostly_zero(dense):
            return dense / dense.abs().sum(1, keepdim=True).clamp_min(1e-12) if normalize else dense
        # SciPy has no half precision.
        x = (dense if x.dtype in (torch.float16, torch.bfloat16) else x).detach()
    csr: Any = feature_csr(x).astype(np.float64)
    if normalize:
        total = np.asarray(abs(csr).sum(1)).ravel()
        scale = np.divide(1.0, total, out=np.zeros_like(total), where=total != 0)
        csr = sp.diags_array(scale) @ csr
    return feature_tensor(csr)


def node_features(data: Data, normalize: bool) -> torch.Tensor:
    """Return the features of a graph, made ready as its settings say.

    Features that were treated column by column when they were read (`data.scaling` is "raw") are left as they
    are: only counts, of words for instance, are divided by the sum of their row.
    """
    return features(data.x, normalize and getattr(data, "scaling", "rows") == "rows")


def check_features(data: Data, memory: Memory) -> None:
    """Refuse a graph whose features are not those a network was trained on.

    Names are compared where both graphs have them.

    Raises:
        ValueError: no features, other ones, or a value that is not finite.
    """
    width, names = memory.in_channels, memory.feature_names
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


def _check_finite(x: torch.Tensor) -> None:
    csr = feature_csr(x)
    bad = np.flatnonzero(~np.isfinite(csr.data))
    if len(bad):
        node = int(np.searchsorted(csr.indptr, bad[0], side="right")) - 1
        column = int(csr.indices[bad[0]])
        raise ValueError(
            f"data.x holds {csr.data[bad[0]]} at node {node}, column {column}; expected finite numbers"
        )
