"""Reading the pickles of the Planetoid files without running anything that is in them.

A pickle is a program: it names functions and has them called. Here no name in the file reaches the real
function. The few names that the files use are replaced by inert records of our own, every other name is
refused, and the records are then checked and turned into arrays.
"""

from __future__ import annotations

import io
import pickle  # the unpickler below admits only the records defined here
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mcn.data.border import brief, shown
from mcn.data.sparse import check_csr

_DTYPES = {"f4", "f8", "i4", "i8", "u1", "b1"}


def read_pickle(content: bytes, name: str) -> Any:
    """Read the arrays, CSR matrices, dicts, lists and numbers in a pickle; errors call it `name`.

    Raises:
        ValueError: the pickle names anything else, is truncated or malformed.
    """
    try:
        records = _Unpickler(_Whole(content), encoding="latin1").load()
        return _plain(records)
    except _Refused as error:
        raise ValueError(f"{name}: refused, the pickle asks for {error}, which is no array or list") from None
    except Exception as error:
        # A damaged pickle can fail in nearly any way; every one of them means the same to the reader.
        raise ValueError(
            f"{name}: not a readable pickle, damaged or truncated ({type(error).__name__}: {brief(error)})"
        ) from error


class _Whole(io.BytesIO):
    """A file whose lines must be whole: a name that is cut off is not another name."""

    def readline(self, size: int | None = -1) -> bytes:
        line = super().readline(size)
        if not line.endswith(b"\n"):
            raise EOFError("a line is cut off")
        return line


class _Refused(Exception):
    pass


class _Record:
    """Remembers how an object was made; `__setstate__` exists so that a pickle cannot set attributes."""

    def __init__(self, *args: Any) -> None:
        self.args = args
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Array(_Record):
    pass


class _Dtype(_Record):
    pass


class _Csr(_Record):
    pass


class _Name(_Record):
    """A name that is only ever an argument: the class of an array, the factory of a defaultdict."""


class _Bytes(_Record):
    """Bytes, which protocol 2 writes as a call of `_codecs.encode(text, "latin1")`."""


class _Dict(dict[Any, Any]):
    """A defaultdict whose factory is dropped."""

    def __init__(self, *args: Any) -> None:
        super().__init__()

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("a dict with a state")


_ADMITTED: dict[tuple[str, str], type] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Name,
    ("numpy", "dtype"): _Dtype,
    ("scipy.sparse.csr", "csr_matrix"): _Csr,
    ("scipy.sparse._csr", "csr_matrix"): _Csr,
    ("collections", "defaultdict"): _Dict,
    ("__builtin__", "list"): _Name,
    ("builtins", "list"): _Name,
    ("_codecs", "encode"): _Bytes,
}


# Python's own unpickler, not the one in C: that one makes room for as many objects as a file of a few bytes
# says that it remembers.
class _Unpickler(pickle._Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """The inert record for an admitted name."""
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise _Refused(shown(f"{module}.{name}")[1:-1]) from None


def _plain(value: Any) -> Any:
    if isinstance(value, _Array):
        return _array(value)
    if isinstance(value, _Csr):
        return _csr(value)
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, int | float | str):
        return value
    raise pickle.UnpicklingError(f"a {type(value).__name__.strip('_').lower()} where data was expected")


def _dtype(record: Any) -> np.dtype[Any]:
    if not isinstance(record, _Dtype):
        raise pickle.UnpicklingError("an array without an element type")
    code, order = record.args[0], record.state[1]
    if code not in _DTYPES or order not in ("<", ">", "|"):
        raise pickle.UnpicklingError(f"unexpected element type {code!r}")
    return np.dtype(f"{order}{code}")


def _array(record: _Array) -> NDArray[Any]:
    _, shape, dtype, fortran, content = record.state
    if isinstance(content, _Bytes):
        content, encoding = content.args
        if encoding != "latin1":
            raise pickle.UnpicklingError(f"unexpected encoding {encoding!r}")
    raw = content.encode("latin1") if isinstance(content, str) else content
    if not isinstance(raw, bytes):
        raise pickle.UnpicklingError("an array without bytes")
    flat = np.frombuffer(raw, _dtype(dtype))
    return flat.reshape(shape, order="F" if fortran else "C").copy()


def _csr(record: _Csr) -> sparse.csr_array[Any]:
    state = {key: _plain(item) for key, item in record.state.items() if key in ("data", "indices", "indptr")}
    rows, columns = (int(size) for size in record.state["_shape"])
    check_csr(state["indptr"], state["indices"], (rows, columns), "a matrix", values=state["data"])
    return sparse.csr_array((state["data"], state["indices"], state["indptr"]), shape=(rows, columns))
