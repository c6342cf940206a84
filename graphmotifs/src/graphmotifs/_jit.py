"""`kernel`: compiles functions with numba, without the GIL, cached on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])
_OPTIONS: dict[str, Any] = {"nogil": True, "boundscheck": False, "error_model": "numpy"}
_OPTIONS["no_cfunc_wrapper"] = True  # an entry for C code, which nobody uses: a fifteenth of the compiling


def kernel(function: F) -> F:
    """Compile `function` with numba on first call, releasing the GIL.

    Compiled code is cached next to the source or in the user's cache folder. Where neither can be
    written (a read-only install without a home), numba refuses to decorate at all; the kernel is then
    compiled anew in every process, which is slow to start but works.
    """
    return _compiled(function, _OPTIONS)


def unordered_kernel(function: F) -> F:
    """Compile like `kernel`, but let sums be taken in any order, so that they are made by vectors.

    Their last bits then depend on how wide the machine's vectors are; the same machine gives the same bits.
    """
    return _compiled(function, _OPTIONS | {"fastmath": {"reassoc", "nsz", "contract"}})


def _compiled(function: F, options: dict[str, Any]) -> F:
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
