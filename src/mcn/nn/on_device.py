"""Rows as tensors on any device: made there once, chosen from there, without a look from the host.

The kernels of the CPU copy the rows that nodes chose, which costs what these rows hold. A device would have
to tell the host how many entries that are before it could make room for them, in every layer of every pass.
So here the rows of every option lie side by side, and a choice says which of their entries count.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.matrices import Rows, RowSource

_copies: dict[tuple[int, str, torch.dtype], tuple[weakref.ref[Any], torch.Tensor]] = {}
_options: weakref.WeakKeyDictionary[RowSource, dict[str, _Options]] = weakref.WeakKeyDictionary()


def resident(array: NDArray[Any], device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    """Return an array as a tensor on a device; the same array is copied there once, as long as it lives.

    Arrays given here are constant: writing into one later is not noticed.
    """
    key = (id(array), str(device), dtype)
    found = _copies.get(key)
    if found is not None and found[0]() is array:
        return found[1]
    own = array if array.flags.writeable else array.copy()  # torch warns of a file that is only read
    tensor = torch.from_numpy(own).to(device, dtype, copy=True)  # sharing memory would keep it alive
    _copies[key] = (weakref.ref(array, lambda _: _copies.pop(key, None)), tensor)
    return tensor


class Entries(NamedTuple):
    """Rows of Â as tensors: entry e lets target ``target[e]`` hear source ``source[e]``.

    values: Â_ij, in the type of the layer. number: decides, with a key, whether the entry is dropped. active:
    0 for entries of rows that were not chosen, else 1; None where all count. num_dst: number of targets.
    """

    target: torch.Tensor
    source: torch.Tensor
    values: torch.Tensor
    number: torch.Tensor
    active: torch.Tensor | None
    num_dst: int

    def sums(self) -> torch.Tensor:
        """D_ii = Σ_j Â_ij, the sum of every row."""
        values = self.values if self.active is None else self.values * self.active
        return values.new_zeros(self.num_dst).index_add(0, self.target, values)

    def scaled(self, degrees: torch.Tensor) -> Entries:
        """Scale the entries to D^-1/2 Â D^-1/2 (eq:gcn); `degrees` are the row sums of all sources."""
        root = degrees.to(self.values.dtype).rsqrt()
        return self._replace(values=self.values * root[self.target] * root[self.source])

    def take(self, ids: torch.Tensor) -> Entries:
        """Keep the rows of some targets."""
        place = torch.full((self.num_dst,), -1, dtype=torch.int64, device=self.target.device)
        place[ids] = torch.arange(len(ids), device=ids.device)
        target = place[self.target]
        kept = (target >= 0).to(self.values.dtype)
        active = kept if self.active is None else kept * self.active
        return self._replace(target=target.clamp_min(0), active=active, num_dst=len(ids))


def as_entries(rows: Rows | Entries, like: torch.Tensor) -> Entries:
    """Return rows as tensors on the device and in the type of `like`; entries are numbered as they lie."""
    if isinstance(rows, Entries):
        return rows
    device = like.device
    count, size = len(rows.indptr) - 1, len(rows.indices)
    source = resident(rows.indices, device, torch.int64)
    lengths = resident(rows.indptr, device, torch.int64).diff()
    target = torch.repeat_interleave(torch.arange(count, device=device), lengths, output_size=size)
    number = torch.arange(size, device=device)
    return Entries(target, source, resident(rows.values, device, like.dtype), number, None, count)


class _Options(NamedTuple):
    """The rows of every option: as `Entries`, with the option and the place in its row of each entry.

    lengths: of the rows, [options × num_dst].
    """

    target: torch.Tensor
    source: torch.Tensor
    values: torch.Tensor
    option: torch.Tensor
    place: torch.Tensor
    lengths: torch.Tensor


def chosen_entries(stack: RowSource, choice: torch.Tensor, like: torch.Tensor) -> Entries:
    """Return the rows of Â that targets choose, ``choice[i] = t * K + (k - 1)``, without leaving the device.

    An entry has the number that it has among the chosen rows, so that the same entries are dropped as on the
    CPU.
    """
    own = _options_of(stack, like)
    lengths = own.lengths[choice * stack.num_dst + torch.arange(stack.num_dst, device=choice.device)]
    first = lengths.cumsum(0) - lengths
    active = (own.option == choice[own.target]).to(like.dtype)
    return Entries(own.target, own.source, own.values, first[own.target] + own.place, active, stack.num_dst)


def _options_of(stack: RowSource, like: torch.Tensor) -> _Options:
    kept = _options.setdefault(stack, {})
    name = f"{like.device} {like.dtype}"
    if name not in kept:
        kept[name] = _made(stack, like)
    return kept[name]


def _made(stack: RowSource, like: torch.Tensor) -> _Options:
    count = stack.num_motifs * stack.steps
    every = [
        stack.select(np.full(stack.num_dst, option, np.int64) if count > 1 else None)
        for option in range(count)
    ]
    lengths = [np.diff(rows.indptr) for rows in every]
    places = [
        np.arange(len(rows.indices)) - np.repeat(rows.indptr[:-1], own)
        for rows, own in zip(every, lengths, strict=True)
    ]
    target = np.concatenate([np.repeat(np.arange(stack.num_dst), own) for own in lengths])
    option = np.concatenate([np.full(len(rows.indices), number) for number, rows in enumerate(every)])

    def placed(parts: list[NDArray[Any]], dtype: torch.dtype) -> torch.Tensor:
        return torch.from_numpy(np.concatenate(parts)).to(like.device, dtype)

    return _Options(
        placed([target], torch.int64),
        placed([rows.indices for rows in every], torch.int64),
        placed([rows.values for rows in every], like.dtype),
        placed([option], torch.int64),
        placed(places, torch.int64),
        placed(lengths, torch.int64),
    )
