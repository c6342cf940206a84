"""What a user does first with the installed engine and nothing else; run by `make wheel`, without pytest.

python graphmotifs/tests/installed.py
"""

import doctest
from importlib.metadata import distributions
from pathlib import Path

import graphmotifs

README = Path(__file__).resolve().parents[1] / "README.md"
EXPECTED = {"graphmotifs", "numpy", "scipy", "numba", "llvmlite"}


def main() -> None:
    assert "site-packages" in graphmotifs.__file__, f"not the installed package: {graphmotifs.__file__}"
    names = {each.metadata["Name"].lower() for each in distributions()} - {"pip", "setuptools"}
    assert names == EXPECTED, f"installed: {sorted(names)}"
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert tried >= 8, tried
    assert failed == 0
    print(f"graphmotifs {graphmotifs.__version__} alone: the README's {tried} lines as printed")


if __name__ == "__main__":
    main()
