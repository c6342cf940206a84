"""The operations of a layer in plain torch: for other devices, and as an independent check of the kernels.

Every function takes the arguments of its fused namesake and gives the same numbers. The dropout masks are
the same too, since they are a hash of (key, position).

Rows are tensors here (`Entries`). The kernels of the CPU copy the rows that nodes chose, which costs what
these rows hold. A device would have to tell the host how many entries that are before it could make room for
them, in every layer of every pass. So here the rows of every option lie side by side on the device, and a
choice says which of their entries count.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.matrices import Rows, RowSource
from mcn.matrices.rows import below_each_other
from mcn.nn._rng import keep_at
from mcn.nn.attend import Attention
from mcn.nn.features import SparseFeatures
from mcn.nn.linear import first_numbers

_copies: dict[tuple[int, str, torch.dtype], tuple[weakref.ref[Any], torch.Tensor]] = {}
_options: weakref.WeakKeyDictionary[RowSource, dict[str, tuple[Any, ...]]] = weakref.WeakKeyDictionary()


def resident(array: NDArray[Any], device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    """Return an array as a tensor on a device; the same array is copied there once, as long as it lives.

    Arrays given here are constant: writing into one later is not noticed.
    """
    key = (id(array), str(device), dtype)
    known = _copies.get(key)
    if known is not None and known[0]() is array:
        return known[1]
    writeable = array if array.flags.writeable else array.copy()  # torch warns of a file that is only read
    tensor = torch.from_numpy(writeable).to(device, dtype, copy=True)  # sharing memory would keep it alive
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


def as_entries(rows: Rows | SparseFeatures | Entries, like: torch.Tensor) -> Entries:
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


def chosen_entries(stack: RowSource, choice: torch.Tensor, like: torch.Tensor) -> Entries:
    """Return the rows of Â that targets choose, ``choice[i] = t * K + (k - 1)``, without leaving the device.

    An entry has the number that it has among the chosen rows, so that the same entries are dropped as on the
    CPU.
    """
    kept = _options.setdefault(stack, {})
    name = f"{like.device} {like.dtype}"
    if name not in kept:
        kept[name] = _all_options(stack, like)
    entries: Entries
    entries, option, place, lengths = kept[name]
    chosen = lengths[choice * stack.num_dst + torch.arange(stack.num_dst, device=choice.device)]
    first = chosen.cumsum(0) - chosen
    active = (option == choice[entries.target]).to(like.dtype)
    return entries._replace(number=first[entries.target] + place, active=active)


def _all_options(
    stack: RowSource, like: torch.Tensor
) -> tuple[Entries, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The rows of every option, the option of each entry, its place in its row, and the rows' lengths."""
    count, n = stack.num_options, stack.num_dst
    rows = below_each_other([stack.select(np.full(n, option, np.int64)) for option in range(count)])
    entries = as_entries(rows, like)
    lengths = torch.from_numpy(rows.lengths).to(like.device)
    place = entries.number - torch.from_numpy(rows.indptr[:-1]).to(like.device)[entries.target]
    option, target = entries.target // max(1, n), entries.target % max(1, n)
    return entries._replace(target=target, num_dst=n), option, place, lengths


def dropout(x: torch.Tensor, p: float, key: int, nodes: NDArray[np.int64] | None = None) -> torch.Tensor:
    """`x` with its entries dropped by (key, position), or by (key, node of the row, place in it)."""
    if p == 0.0:
        return x
    if nodes is None:
        return x * keep_at(torch.arange(x.numel(), device=x.device).view(x.shape), p, key, x)
    first = resident(first_numbers(nodes), x.device, torch.int64)
    return x * keep_at(first[:, None] + torch.arange(x.shape[1], device=x.device), p, key, x)


def head_logits(
    z: torch.Tensor, att_src: torch.Tensor, att_dst: torch.Tensor, num_dst: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Per head ``z_j · att_src`` and ``z_i · att_dst``."""
    return (z * att_src).sum(-1), (z[:num_dst] * att_dst).sum(-1)


def propagate(
    z: torch.Tensor, rows: Rows | SparseFeatures | Entries, p: float = 0.0, key: int = 0
) -> torch.Tensor:
    """``Σ_j rows_ij z_j``."""
    entries = as_entries(rows, z)
    values = entries.values if entries.active is None else entries.values * entries.active
    if p > 0.0:
        values = values * keep_at(entries.number, p, key, values)
    out = torch.zeros(entries.num_dst, z.shape[1], dtype=z.dtype, device=z.device)
    return out.index_add(0, entries.target, values[:, None] * z[entries.source])


def _softmax(logits: torch.Tensor, target: torch.Tensor, count: int) -> torch.Tensor:
    index = target[:, None].expand_as(logits)
    top = logits.new_full((count, logits.shape[1]), -torch.inf)
    top = top.scatter_reduce(0, index, logits.detach(), "amax").nan_to_num(neginf=0.0)
    powers = (logits - top[target]).exp()
    total = torch.zeros_like(top).index_add(0, target, powers)
    return powers / total[target]


def _dropped_coefficients(alpha: torch.Tensor, entries: Entries, rows: Any, how: Attention) -> torch.Tensor:
    p, heads = how.coefficient_dropout, alpha.shape[1]
    if p == 0.0:
        return alpha
    number = entries.number
    if how.numbers is not None:
        first = torch.from_numpy(how.numbers - rows.indptr[:-1]).to(alpha.device)
        number = number + first[entries.target]
    positions = number[:, None] * heads + torch.arange(heads, device=alpha.device)
    return alpha * keep_at(positions, p, how.coefficient_key, alpha)


def attend(
    z: torch.Tensor, s_dst: torch.Tensor, s_src: torch.Tensor, rows: Rows | Entries, how: Attention
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Softmax over the chosen rows with Ã as the prior, dropout, aggregation."""
    entries = as_entries(rows, z)
    logits = torch.nn.functional.leaky_relu(s_dst[entries.target] + s_src[entries.source], how.slope)
    if how.prior == "softmax":
        logits = logits + entries.values.log()[:, None]
    if entries.active is not None:
        logits = torch.where(entries.active[:, None] > 0, logits, -torch.inf)
    alpha = _softmax(logits, entries.target, len(s_dst))
    if how.prior == "product":
        alpha = alpha * entries.values[:, None]
    used = _dropped_coefficients(alpha, entries, rows, how)
    z = dropout(z, how.feature_dropout, how.feature_key)
    out = torch.zeros(len(s_dst), *z.shape[1:], dtype=z.dtype, device=z.device)
    out = out.index_add(0, entries.target, used[:, :, None] * z[entries.source])
    return (out, alpha.detach()) if how.return_coefficients else out
