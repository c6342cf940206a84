"""Which methods need packages that a plain installation does not bring."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

_NEEDS = {
    "deepwalk": ("gensim", "sklearn"),
    "ica": ("sklearn",),
    "planetoid": ("gensim",),
    "planetoid-t": ("gensim",),
    "planetoid-i": ("gensim",),
}
_NAMES = {"sklearn": "scikit-learn"}


def check_extras(methods: Iterable[str]) -> None:
    """Refuse methods whose packages are not installed, before any work is done.

    Raises:
        ValueError: names the method, the packages and how to install them.
    """
    for method in methods:
        missing = [_NAMES.get(name, name) for name in _NEEDS.get(method, ()) if find_spec(name) is None]
        if missing:
            raise ValueError(f"{method} needs {' and '.join(missing)}: pip install 'mcn[baselines]'")
