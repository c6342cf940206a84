"""Sizes as people write them."""

from __future__ import annotations

import re
from typing import Any

from mcn.data.limits import shown

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)


def as_bytes(size: Any, name: str) -> int:
    """Return a size as a number of bytes.

    Args:
        size: a number, or text such as 500MB, 1GB or 1.5GiB.
        name: of the option, for the message.

    Raises:
        ValueError: it is no size.

    >>> as_bytes("1.5GB", "memory"), as_bytes("2 MiB", "memory"), as_bytes(7, "memory")
    (1500000000, 2097152, 7)
    """
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        return size
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if found is None or float(found[1]) == 0:
        raise ValueError(f"{name} must be a size such as 500MB or 1GB, got {shown(str(size))[1:-1]}")
    unit = _UNITS[found[2].upper()]
    if found[3]:
        unit = 1024 ** (len(str(unit)) // 3)
    return int(float(found[1]) * unit)
