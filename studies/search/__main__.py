"""Print the tables of the kept searches, ``python -m studies.search``; add some, ``--add …/search.json``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from studies.search import __doc__, compact, read_searches, tables, write_searches


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, after further searches were added."""
    parser = argparse.ArgumentParser(prog="python -m studies.search", description=__doc__)
    parser.add_argument("--add", type=Path, nargs="+", default=[], help="the search.json of `mcn search`")
    given = parser.parse_args(arguments)
    if given.add:
        more = [compact(json.loads(path.read_text(encoding="utf-8"))) for path in given.add]
        write_searches([*read_searches(), *more])
    print(tables(read_searches()))


if __name__ == "__main__":
    main()
