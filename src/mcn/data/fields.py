"""What a JSON or YAML file of ours must hold, as a table of fields, and a checksum over all of them.

A stranger may write anything into such a file, so that every field is checked before it is used. The checksum
finds damage that leaves every field of its kind, such as another digit.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from graphmotifs._messages import told

_WORDS = {str: "a name", int: "a whole number", float: "a finite number", bool: "true or false"}
_WORDS |= {dict: "named values", list: "a list"}


def check_fields(value: Any, kind: Any, name: str = "the content", *, listed: bool = False) -> None:
    """Refuse a value from a file that is not of a kind.

    A kind has the shape of what it describes: str, int, float, bool, dict or list; ``(kind, None)`` for one
    that may be missing or null; ``[kind]`` for a list; ``{str: kind}`` for values by any name;
    ``{"field": kind, …}`` for values of these names, and perhaps others.

    >>> check_fields({"a": 1, "b": [2.5]}, {"a": int, "b": [float], "c": (str, None)})
    >>> check_fields({"a": 1, "b": [True]}, {"a": int, "b": [float]})
    Traceback (most recent call last):
        ...
    ValueError: b must be a list of finite numbers, got True in it
    """
    if isinstance(kind, tuple):
        if value is not None:
            check_fields(value, kind[0], name)
    elif isinstance(kind, list):
        check_fields(value, list, name)
        for each in value:
            check_fields(each, kind[0], name, listed=True)
    elif isinstance(kind, dict):
        check_fields(value, dict, name, listed=listed)
        for field in value:
            check_fields(field, str, f"a field of {name}")
        for field, own in (dict.fromkeys(value, kind[str]) if str in kind else kind).items():
            if field not in value and not isinstance(own, tuple):
                raise ValueError(f"{name} does not state {field}")
            check_fields(value.get(field), own, field)
    elif (
        not math.isfinite(value)
        if kind is float and type(value) in (int, float)
        else kind is not object and type(value) is not kind
    ):
        expected = f"a list of {_WORDS[kind].removeprefix('a ')}s" if listed else _WORDS[kind]
        raise ValueError(f"{name} must be {expected}, got {told(value)}{' in it' if listed else ''}")


def with_checksum(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a JSON file with the SHA-256 of all else in it as the last field, `sha256`."""
    rest = {name: value for name, value in content.items() if name != "sha256"}
    return rest | {"sha256": hashlib.sha256(json.dumps(rest).encode()).hexdigest()}


def check_checksum(content: Mapping[str, Any]) -> None:
    """Refuse content that does not state its own SHA-256."""
    if content.get("sha256") != with_checksum(content)["sha256"]:
        raise ValueError("the checksum does not fit; the file was damaged or altered")
