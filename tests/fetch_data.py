"""Download the public data sets that tests use into the user's cache, where `$MCN_DATA` may then point.

    python -m tests.fetch_data

What is there already stays. The loaders compare every file with its SHA-256.
"""

import sys

import mcn
from mcn.data import list_datasets


def main() -> int:
    """Load every set once; return 1 if one could not be had."""
    wanted = [(info.name, False) for info in list_datasets() if not info.embedded]
    missing = 0
    for name, directed in [*wanted, ("chameleon-filtered", True)]:
        try:
            mcn.load_dataset(name, directed=directed)
        except (OSError, ValueError) as error:
            missing += 1
            print(error, file=sys.stderr)
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main())
