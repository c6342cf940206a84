"""A word about the wait when kernels are compiled for the first time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def compile_notice() -> Iterator[None]:
    """Say once, on a terminal's standard error, that kernels are being compiled, if any are.

    numba announces every compilation; what comes from its cache on disk is not compiled.
    """
    if not sys.stderr.isatty():
        yield
        return
    from numba.core import event

    class Notice(event.Listener):  # type: ignore[misc, unused-ignore]
        said = False

        def on_start(self, event: Any) -> None:
            if not self.said:
                self.said = True
                print("mcn: compiling kernels, once; this takes some seconds", file=sys.stderr)

        def on_end(self, event: Any) -> None: ...

    with event.install_listener("numba:compile", Notice()):
        yield
