"""Layers and networks: the fused operations, motif attention, `MCNConv` and `MCN`."""

from __future__ import annotations

from mcn.nn._rng import Stream
from mcn.nn.choices import Choices
from mcn.nn.conv import MCNConv
from mcn.nn.model import MCN
from mcn.nn.selector import Selector

__all__ = ["MCN", "Choices", "MCNConv", "Selector", "Stream"]
