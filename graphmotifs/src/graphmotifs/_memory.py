"""How much memory this machine has."""

from __future__ import annotations

import math
import os
from pathlib import Path

GROUP = Path("/sys/fs/cgroup")  # of a container: its limit and what it uses


def total_bytes() -> float:
    """Return the memory of this machine, or of its control group if that is less; inf if it does not say."""
    try:
        whole = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        whole = math.inf
    return min(whole, group_limit())


def group_limit() -> float:
    """Return the limit of this process's control group in bytes; inf without one."""
    return read_number(GROUP / "memory.max", math.inf)


def read_number(path: Path, otherwise: float) -> float:
    """Return the number that a file of the system holds, or `otherwise`."""
    text = read_text(path).strip()
    return float(text) if text.isdigit() else otherwise  # "max" stands for no limit


def read_text(path: Path) -> str:
    """Return what a file of the system holds; nothing if it cannot be read."""
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
