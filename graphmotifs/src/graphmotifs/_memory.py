"""How much memory this machine has, and how much of it is free; everybody who has to know asks here."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

_GROUP = Path("/sys/fs/cgroup")  # of a container: its limit and what it uses


def total_bytes() -> float:
    """Return the memory of this machine, or of its control group if that is less; inf if it does not say."""
    try:
        whole = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        whole = math.inf
    return min(whole, _group_limit())


def free_bytes() -> float:
    """Return the memory that is free on this machine and in its control group; half of all if unknown."""
    found = re.search(r"MemAvailable:\s+(\d+) kB", _text(Path("/proc/meminfo")))
    free = float(found[1]) * 1024 if found else total_bytes() / 2
    limit = _group_limit()
    if math.isinf(limit):
        return free
    used = _number(_GROUP / "memory.current", 0.0)
    cached = re.search(r"inactive_file (\d+)", _text(_GROUP / "memory.stat"))  # given back when asked for
    return max(0.0, min(free, limit - used + (float(cached[1]) if cached else 0.0)))


def human_bytes(count: float) -> str:
    """Write `count` bytes with three digits and a unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:,.3g} TiB"


def _group_limit() -> float:
    return _number(_GROUP / "memory.max", math.inf)


def _number(path: Path, otherwise: float) -> float:
    text = _text(path).strip()
    return float(text) if text.isdigit() else otherwise  # "max" stands for no limit


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
