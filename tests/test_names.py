"""Names: those suggested for mistyped ones, and those loaded when they are first used."""

import sys
from pathlib import Path

import pytest

import mcn.data
import mcn.experiments
import mcn.viz
from graphmotifs._messages import did_you_mean, one_of
from mcn._lazy import lazy
from tests.conftest import refuses

KNOWN = ("unweighted", "row-max", "transition")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("transitoin", "; did you mean 'transition'?"),
        ("rowmax", "; did you mean 'row-max'?"),
        ("zebra", ""),
        (7, ""),
        (None, ""),
    ],
)
def test_the_nearest_name_is_suggested(name: object, hint: str) -> None:
    assert did_you_mean(name, KNOWN) == hint
    several = did_you_mean("4-cycl", ["4-cycle", "4-cycles"], most=2)
    assert several == "; did you mean '4-cycle' or '4-cycles'?"


def test_a_value_must_be_one_of_those_allowed() -> None:
    one_of("psi", "row-max", KNOWN)
    message = "psi must be one of unweighted, row-max, transition, got 'rowmax'; "
    refuses(message, one_of, "psi", "rowmax", KNOWN)
    refuses(r"got 3$", one_of, "psi", 3, KNOWN)


def test_a_name_is_loaded_once_and_when_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "some_package"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from mcn._lazy import lazy\n"
        "_HOME = {'near': '.inside', 'OrderedDict': 'collections'}\n"
        "__all__ = ['version', *_HOME]\n"
        "version = 1\n"
        "__getattr__, __dir__ = lazy(__name__, _HOME)\n"
    )
    (package / "inside.py").write_text("near = object()\n")
    monkeypatch.syspath_prepend(tmp_path)
    import some_package

    assert "some_package.inside" not in sys.modules
    assert dir(some_package) == ["OrderedDict", "near", "version"]
    near = some_package.near
    assert near is sys.modules["some_package.inside"].near
    assert vars(some_package)["near"] is near  # the next look needs no __getattr__
    assert some_package.OrderedDict.__module__ == "collections"
    with pytest.raises(AttributeError, match="module 'some_package' has no attribute 'far'"):
        some_package.far  # noqa: B018
    load, _ = lazy("mcn", {"name": "mcn.nowhere"})
    refuses(r"mcn\.nowhere", load, "name", error=ImportError)


@pytest.mark.parametrize("package", [mcn, mcn.data, mcn.experiments, mcn.viz])
def test_every_public_name_is_there(package: object) -> None:
    assert dir(package) == sorted({*package.__all__, *getattr(package, "_MODULES", ())})
    assert all(hasattr(package, name) for name in package.__all__)
    assert not hasattr(package, "nothing")
