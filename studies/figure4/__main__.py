"""Run the study: ``python -m studies.figure4 --seeds 15``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import mcn
from studies.figure4 import __doc__, described, kept, pattern


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, write what was found, and say it; or say what is kept."""
    parser = argparse.ArgumentParser(prog="python -m studies.figure4", description=__doc__)
    parser.add_argument("--report", action="store_true", help="say what is kept; run nothing")
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("--scope", choices=("edges", "pairs"), default="edges")
    parser.add_argument("--data-root", help="folder to look for data sets in first")
    parser.add_argument("--out", type=Path, default=Path("runs") / "figure4")
    given = parser.parse_args(arguments)
    if given.report:
        print(described(kept(given.scope)))
        return
    found = pattern(mcn.load_dataset("cora", root=given.data_root), given.seeds, given.scope)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / f"{given.scope}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(described(found))


if __name__ == "__main__":
    main()
