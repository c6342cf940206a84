"""What a user does first, with an installed package and nothing else; run by `make wheel`, without pytest.

python tests/installed.py
"""

import doctest
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
MCN = Path(sys.executable).parent / "mcn"


def call(*words: str, folder: Path) -> str:
    print("$ mcn", *words, flush=True)
    done = subprocess.run([MCN, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def main() -> None:
    import mcn

    assert "site-packages" in mcn.__file__, f"not the installed package: {mcn.__file__}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = call("train", "--max-epochs", "20", folder=folder)
        assert "MCN" in table, table
        assert "GAT" in table, table
        assert (folder / "runs/strong-ties/report.html").stat().st_size > 100_000
        call("view", "runs/strong-ties", "--no-open", folder=folder)
        assert (folder / "runs/strong-ties/explorer.html").stat().st_size > 100_000
        call("predict", "runs/strong-ties", "--out", "predictions.csv", folder=folder)
        assert len((folder / "predictions.csv").read_text().splitlines()) == 2001
    warnings.simplefilter("ignore")
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert tried >= 7, tried
    assert failed == 0
    print(f"the README's Python: {tried} lines as printed")


if __name__ == "__main__":
    main()
