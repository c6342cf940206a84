"""Write what type checkers and editors read of names that are made at run time: `python docs/make_stubs.py`.

`src/mcn/train/signatures.pyi` states the parameters of the estimators, with types and defaults, from the
declared settings. `__init__.pyi` of `mcn` and of `mcn.train` state where the names live that are loaded when
they are first used. A test compares all three with what this script would write.
"""

from __future__ import annotations

import json
import types
import typing
from pathlib import Path
from typing import Any

import mcn
import mcn.train
from mcn.train import signatures
from mcn.train.parameters import Parameters, parameter_name
from mcn.train.settings import declared

SOURCE = Path(mcn.__file__).parent
_HEAD = '# fmt: off\n"""Written by `python docs/make_stubs.py`: change {what}, and run it again."""\n\n'
_WIDER = {"tuple[str, ...]": "Sequence[str]", "tuple[int, ...]": "int | Sequence[int]"}
"""What may be given for a setting that is kept as a tuple."""
_RANDOM_STATE = "int | RandomState | Generator | None"


def annotation(hint: Any) -> str:
    """Return the type of a parameter, by the annotation of its setting."""
    if isinstance(hint, types.UnionType):
        return " | ".join(annotation(part) for part in typing.get_args(hint))
    if hint is type(None):
        return "None"
    written = hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)
    return _WIDER.get(written, written)


def literal(value: Any) -> str:
    """Return a default as it is written in source, with double quotes."""
    if isinstance(value, tuple):
        comma = "," if len(value) == 1 else ""
        return f"({', '.join(map(literal, value))}{comma})"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def parameters_of(estimator: type[Parameters]) -> str:
    """Return the class that has the parameters of a recipe: its `__init__`, with a sentence on each."""
    config = estimator.recipe.config
    hints = typing.get_type_hints(config)
    lines, sentences = [], []
    for name, setting in declared(config).items():
        shown, hint = parameter_name(setting), annotation(hints[name])
        hint = _RANDOM_STATE if name == "seed" else hint
        lines.append(f"        {shown}: {hint} = {literal(setting.default)},")
        sentences.append(f"            {shown}: {setting.sentence}")
    return "\n".join(
        [
            f"class {estimator.__name__}(Parameters):",
            "    def __init__(",
            "        self,",
            "        *,",
            *lines,
            "    ) -> None:",
            f'        """Make an estimator of the recipe {estimator.recipe.name}; nothing is trained yet.',
            "",
            "        Args:",
            *sentences,
            '        """',
        ]
    )


def signature_stub() -> str:
    """Return the content of `signatures.pyi`."""
    head = "# ruff: noqa: E501\n" + _HEAD.format(what="the settings of a recipe")
    imports = (
        "from collections.abc import Sequence\n\nfrom numpy.random import Generator, RandomState\n\n"
        "from mcn.train.parameters import Parameters\n"
    )
    made = [one for one in vars(signatures).values() if isinstance(one, type) and one is not Parameters]
    return "\n\n".join([head + imports, *map(parameters_of, made)]) + "\n"


def package_stub(package: types.ModuleType) -> str:
    """Return the content of a package's `__init__.pyi`: its lazily loaded names, and its modules."""
    own = package.__name__
    homes = {name: own + home if home.startswith(".") else home for name, home in package._HOME.items()}
    homes |= dict.fromkeys(getattr(package, "_MODULES", ()), own)
    lines = sorted(f"from {home} import {name} as {name}" for name, home in homes.items())
    text = _HEAD.format(what="the names in __init__.py") + "\n".join(lines) + "\n"
    return text + ("\n__version__: str\n" if hasattr(package, "__version__") else "")


def stubs() -> dict[Path, str]:
    """Return the content of every stub by its path."""
    return {
        SOURCE / "train" / "signatures.pyi": signature_stub(),
        SOURCE / "train" / "__init__.pyi": package_stub(mcn.train),
        SOURCE / "__init__.pyi": package_stub(mcn),
    }


def main() -> None:
    """Write the stubs."""
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
