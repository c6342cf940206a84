"""Node ids that are text, kept as one array of bytes and decoded when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray


class TextIds(Sequence[str]):
    """Names of the nodes: UTF-8 bytes one after the other, and where each begins."""

    def __init__(self, text: NDArray[np.uint8], pointers: NDArray[np.int64]) -> None:
        self._text, self._pointers = text, pointers

    def __len__(self) -> int:
        return len(self._pointers) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        start, stop = int(self._pointers[at]), int(self._pointers[at + 1])
        return bytes(self._text[start:stop]).decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return (self[at] for at in range(len(self)))

    def to_array(self) -> NDArray[Any]:
        """Return all of them as an array of Python strings, as `data.node_ids` has them."""
        names = np.empty(len(self), object)
        names[:] = list(self)
        return names
