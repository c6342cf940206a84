"""How much memory is free; everybody who has to know asks here."""

from __future__ import annotations

import math
import re
from pathlib import Path

from graphmotifs._memory import GROUP, group_limit, read_number, read_text, total_bytes


def free_bytes() -> float:
    """Return the memory that is free on this machine and in its control group; half of all if unknown."""
    found = re.search(r"MemAvailable:\s+(\d+) kB", read_text(Path("/proc/meminfo")))
    free = float(found[1]) * 1024 if found else total_bytes() / 2
    limit = group_limit()
    if math.isinf(limit):
        return free
    used = read_number(GROUP / "memory.current", 0.0)
    cached = re.search(r"inactive_file (\d+)", read_text(GROUP / "memory.stat"))  # given back when asked for
    return max(0.0, min(free, limit - used + (float(cached[1]) if cached else 0.0)))


def human_bytes(count: float) -> str:
    """Write `count` bytes with three digits and a unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:,.3g} TiB"
