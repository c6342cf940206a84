"""Cora, Citeseer and Pubmed in the Planetoid files (Yang et al. 2016), with their public split.

The files are pickles, which are read without running anything that is in them. A pickle is a program: it
names functions and has them called. Here no name in the file reaches the real function. The few names that
the files use are replaced by inert records of our own, every other name is refused, and the records are then
checked and turned into arrays.
"""

from __future__ import annotations

import io
import pickle  # the unpickler below admits only the records defined here
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphmotifs._messages import brief, shown
from graphmotifs._sparse import check_csr
from mcn.data.datasets import NodeSet, RawFiles
from mcn.data.limits import check_nodes, reading

_Ints = NDArray[np.int64]
HOME = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
_VALIDATION = 500
_DTYPES = {"f4", "f8", "i4", "i8", "u1", "b1"}
_FOLDERS = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}
SUMS: dict[str, dict[str, str]] = {
    "cora": {
        "ind.cora.allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "ind.cora.ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "ind.cora.graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "ind.cora.test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
        "ind.cora.tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "ind.cora.ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "ind.cora.x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "ind.cora.y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
    },
    "citeseer": {
        "ind.citeseer.allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "ind.citeseer.ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        "ind.citeseer.graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "ind.citeseer.test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
        "ind.citeseer.tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "ind.citeseer.ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        "ind.citeseer.x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        "ind.citeseer.y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
    },
    "pubmed": {
        "ind.pubmed.allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        "ind.pubmed.ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        "ind.pubmed.graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        "ind.pubmed.test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
        "ind.pubmed.tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        "ind.pubmed.ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        "ind.pubmed.x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
        "ind.pubmed.y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
    },
}


def raw_files(name: str) -> RawFiles:
    """The files of a set, in the folders that PyG gives them."""
    folder = f"{_FOLDERS[name]}/raw"
    return RawFiles((f"Planetoid/{folder}", folder), SUMS[name], HOME)


def make(name: str, files: Mapping[str, bytes], split: int) -> NodeSet:
    """One of the citation sets with the public split: 20 nodes per class, the next 500, `test.index`.

    Citeseer lists 15 test nodes in the graph only: as in PyG they get no features and label 0, and are
    in no mask. There is no other `split` than number 0.
    """
    x, y, edges, train, test = parse(name, files)
    node = np.arange(len(y))
    masks = (node < train, (node >= train) & (node < train + _VALIDATION), np.isin(node, test))
    return NodeSet(x, y, edges, masks, at_random=False)


def parse(name: str, files: Mapping[str, bytes]) -> tuple[Any, _Ints, _Ints, int, _Ints]:
    """Put the eight files of a set together: x, y, edges, the number of training nodes, the test nodes."""

    def part(kind: str) -> Any:
        file = f"ind.{name}.{kind}"
        return read_pickle(files[file], file)

    with reading(f"ind.{name}", "the files do not fit together"):
        test = np.array(files[f"ind.{name}.test.index"].split(), dtype=np.int64)
        # Rows of tx and ty stand in the order of test.index; ids that it skips keep an empty row.
        allx, ally, graph = part("allx"), part("ally"), part("graph")
        if int(test.min()) < 0:
            raise ValueError(f"ind.{name}.test.index holds {int(test.min())}; expected numbers of nodes")
        check_nodes(f"ind.{name}.test.index", int(test.max()) + 1)
        n = max(int(test.max()) + 1, allx.shape[0])
        position = np.concatenate([np.arange(allx.shape[0]), test])
        stacked = sparse.vstack([allx, part("tx")], format="coo")
        row, column = stacked.coords
        x = sparse.csr_array((stacked.data, (position[row], column)), shape=(n, stacked.shape[1]))
        y = np.zeros(n, np.int64)
        y[position] = np.concatenate([ally, part("ty")]).argmax(axis=1)
        source = np.repeat(list(graph), [len(around) for around in graph.values()])
        target = np.concatenate([np.array(around, np.int64) for around in graph.values()])
        return x, y, np.stack([source, target]), part("y").shape[0], test


def read_pickle(content: bytes, name: str) -> Any:
    """Read the arrays, CSR matrices, dicts, lists and numbers in a pickle; errors call it `name`."""
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
