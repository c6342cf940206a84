"""Layers and networks: the fused operations, motif attention, `MCNConv` and `MCN`."""

from __future__ import annotations

from mcn.nn._rng import Stream
from mcn.nn.conv import MCNConv
from mcn.nn.model import MCN
from mcn.nn.selector import Choices, Selector
from mcn.nn.sum_conv import SumConv
from mcn.nn.views import MotifViews, exact_features, mix_features

__all__ = [
    "MCN",
    "Choices",
    "MCNConv",
    "MotifViews",
    "Selector",
    "Stream",
    "SumConv",
    "exact_features",
    "mix_features",
]
