"""Warnings as a user of the command line should see them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show each warning about the user's input once, as one line on standard error, without file and line."""
    said = set()

    def show(message: Warning | str, *_where: Any, **_how: Any) -> None:
        text = " ".join(str(message).split())
        if text not in said:
            said.add(text)
            print(f"mcn: warning: {text}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield
