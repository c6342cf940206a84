from __future__ import annotations

import importlib.util

import pytest

from mcn.experiments import extras


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    extras.check_extras(["mcn", "lp", "majority", "chebyshev"])
    with pytest.raises(
        ValueError, match=r"deepwalk needs gensim and scikit-learn: pip install 'mcn\[baselines\]'"
    ):
        extras.check_extras(["mcn", "deepwalk"])
    with pytest.raises(ValueError, match="planetoid-i needs gensim: "):
        extras.check_extras(["planetoid-i"])


def test_installed_packages_pass() -> None:
    if importlib.util.find_spec("sklearn") is None:
        pytest.skip("scikit-learn is not installed")
    extras.check_extras(["ica"])
