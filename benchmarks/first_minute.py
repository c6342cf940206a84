"""What the first minute costs: commands with an empty cache of compiled kernels, and again with a full one.

    python benchmarks/first_minute.py [--whole]

Prints processor seconds (of the command and the processes it starts) and the ratio of the first to the second
run. Bare imports are measured beside them: torch, torch and PyG, and the first use of `mcn.MCNClassifier`.
`--whole` also measures `mcn train` to its end.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

COMMANDS = {
    "mcn --help": ["--help"],
    "mcn motifs (karate)": ["motifs"],
    "mcn train --max-epochs 5": ["train", "--max-epochs", "5", "--out", "{out}"],
}
WHOLE = {"mcn train": ["train", "--out", "{out}"]}
RUN = "import sys; from mcn.cli.main import main; sys.exit(main())"


def processor_seconds(words: Sequence[str], cache: Path) -> float:
    """Run a command to its end, with compiled kernels kept in `cache`."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(words)} ended with exit code {process.returncode}")
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--whole", action="store_true", help="also train to the end")
    options = parser.parse_args()
    print(f"{'':<28}{'first':>8}{'again':>8}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, words) in enumerate((COMMANDS | (WHOLE if options.whole else {})).items()):
            seconds = []
            for time in ("first", "again"):
                out = Path(folder) / f"{number}-{time}"
                full = [word.format(out=out) for word in words]
                cache = Path(folder) / f"kernels-{number}"
                seconds.append(processor_seconds([sys.executable, "-c", RUN, *full], cache))
            first, again = seconds
            print(f"{name:<28}{first:>8.2f}{again:>8.2f}{first / again:>7.1f}×", flush=True)
        for code in ("import torch", "import torch, torch_geometric", "import mcn; mcn.MCNClassifier"):
            seconds_taken = processor_seconds([sys.executable, "-c", code], Path(folder))
            print(f"{code:<36}{seconds_taken:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
