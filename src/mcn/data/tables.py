"""Tables of Parquet and Feather files, read by pyarrow; what they unpack to is bounded before they are."""

from __future__ import annotations

import datetime
import struct
from pathlib import Path
from typing import Any

import numpy as np

from graphmotifs._messages import shown
from mcn.data.limits import check_size, read_bytes, reading

TABLES = (".parquet", ".feather", ".arrow")
FOREIGN = {".xlsx": "Excel", ".xls": "Excel", ".ods": "OpenDocument", ".json": "JSON"}
_ROW_BYTES = 48  # of a value beside its text, as Arrow and NumPy have it
_MAGIC, _END = b"ARROW1\0\0", b"ARROW1"
_DICTIONARY, _BATCH = 2, 3  # kinds of messages that hold buffers
_HEADER_KIND, _HEADER, _BUFFERS, _COMPRESSION, _DATA = 1, 2, 2, 3, 1  # places of fields in their tables


def read_arrow(path: Path, cell_bytes: int = 0, row_bytes: int = 0) -> Any:
    """Read a Parquet or Feather file as a pyarrow table; its text columns are dictionaries where possible.

    `cell_bytes` and `row_bytes` are what the caller makes of a cell and a row, for the limit on memory.
    """
    check_size(path, path.stat().st_size)
    kind = path.suffix.lower()
    with reading(path, f"not a readable {kind} file"):
        table = _read_parquet(path) if kind == ".parquet" else _read_feather(path)
        table.validate(full=True)  # compiled code follows the offsets inside without looking
        size = table.nbytes + table.num_rows * (row_bytes + cell_bytes * table.num_columns)
        for name, column in zip(table.column_names, table.columns, strict=True):
            # A file that says a few long texts many times is small, and its values are not.
            size += sum(map(_size_in_python, column.chunks))
            check_size(path, size, f"has values up to column {shown(str(name))} that take")
    return table


def _read_parquet(path: Path) -> Any:
    from pyarrow import parquet, types

    kinds = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    with parquet.ParquetFile(path) as plain:
        schema, meta = plain.schema_arrow, plain.metadata
        texts = [field.name for field in schema if any(known(field.type) for known in kinds)]
        check_size(path, _ROW_BYTES * meta.num_rows * max(1, meta.num_columns), "holds rows that take")
        sizes = [meta.row_group(place).total_byte_size for place in range(meta.num_row_groups)]
        check_size(path, sum(sizes), "unpacks to")
    with parquet.ParquetFile(path, read_dictionary=texts) as file:
        return file.read()


def _read_feather(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import ipc

    content = pa.py_buffer(read_bytes(path))
    end = len(content) - len(_END)
    if end < len(_MAGIC) or bytes(content[: len(_MAGIC)]) != _MAGIC or bytes(content[end:]) != _END:
        raise ValueError("not a Feather file of version 2, or truncated")
    stream = content.slice(len(_MAGIC))
    unpacked = 0
    for message in ipc.MessageReader.open_stream(stream):
        unpacked += _unpacked_size(message)
        check_size(path, unpacked, "unpacks to")
    batches, rows = [], 0
    with ipc.open_stream(stream) as file:
        for batch in file:
            rows += batch.num_rows
            check_size(path, _ROW_BYTES * rows * max(1, batch.num_columns), "holds rows that take")
            batches.append(batch)
        return pa.Table.from_batches(batches, schema=file.schema)


def _unpacked_size(message: Any) -> int:
    """The bytes that the buffers of an Arrow message take once pyarrow unpacks them, which nothing bounds.

    A message is a flatbuffer; a packed buffer begins with its size when unpacked.
    """
    raw = message.metadata.to_pybytes()
    root = _number("<I", raw, 0)
    kind = _number("<B", raw, _field(raw, root, _HEADER_KIND))
    if kind not in (_DICTIONARY, _BATCH):
        return 0
    batch = _target(raw, _field(raw, root, _HEADER))
    if kind == _DICTIONARY:
        batch = _target(raw, _field(raw, batch, _DATA))
    body, listed = message.body, _field(raw, batch, _BUFFERS)
    if body is None or not listed or not _field(raw, batch, _COMPRESSION):
        return 0 if body is None else len(body)
    buffers = _target(raw, listed)
    total = 0
    for place in range(_number("<I", raw, buffers)):
        start = _number("<q", raw, buffers + 4 + 16 * place)
        length = _number("<q", raw, buffers + 12 + 16 * place)
        stated = _number("<q", body.slice(start, 8).to_pybytes(), 0) if length else 0
        total += length if stated < 0 else stated  # below 0: it is not packed
    return total


def _field(raw: bytes, table: int, place: int) -> int:
    """Where a field of a flatbuffer's table stands; 0 if it is not there."""
    layout = table - _number("<i", raw, table)
    slot = 4 + 2 * place
    at = _number("<H", raw, layout + slot) if slot < _number("<H", raw, layout) else 0
    return table + at if at else 0


def _target(raw: bytes, place: int) -> int:
    return place + _number("<I", raw, place)


def _number(form: str, raw: bytes, place: int) -> int:
    return int(struct.unpack_from(form, raw, place)[0])


def _size_in_python(values: Any) -> int:
    """The bytes that an array takes at least as Python's values."""
    from pyarrow import compute, types

    kind, size = values.type, _ROW_BYTES * len(values)
    if types.is_dictionary(kind):
        texts = values.dictionary
        text = types.is_string(texts.type) or types.is_large_string(texts.type) or types.is_binary(texts.type)
        if not text:
            return size
        return size + int(compute.sum(compute.binary_length(texts).take(values.indices)).as_py() or 0)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return size + _size_in_python(values.flatten())
    if types.is_struct(kind):
        return size + sum(map(_size_in_python, values.flatten()))
    if types.is_nested(kind) or types.is_run_end_encoded(kind):
        raise ValueError(f"a column holds {kind}; expected plain values")
    return size + max(0, int(values.nbytes))


def is_arrow(frame: Any) -> bool:
    """Whether an object is a table of pyarrow, by what it can do."""
    return hasattr(frame, "column_names") and hasattr(frame, "num_rows")


def frame_columns(frame: Any, name: str) -> dict[str, Any]:
    """Return the columns of a frame of pandas or polars, or of a pyarrow table, by their names."""
    titles = list(frame.column_names if is_arrow(frame) else frame.columns)
    texts = [str(title) for title in titles]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise ValueError(f"{name}: column {shown(twice)} occurs twice")
    if is_arrow(frame):
        return {text: frame.column(place) for place, text in enumerate(texts)}
    return {text: frame[title] for text, title in zip(texts, titles, strict=True)}


def index_column(frame: Any, name: str) -> dict[str, Any]:
    """Return the index of a frame of pandas as a column, if it is more than the numbers of the rows.

    It is called "" if it has no name, as in the CSV file that pandas makes of the frame.
    """
    index: Any = getattr(frame, "index", None)
    if not hasattr(index, "nlevels"):
        return {}
    if index.nlevels > 1:
        raise ValueError(f"{name}: the index has {index.nlevels} levels; frame.reset_index() makes columns")
    if index.name is None and index.tolist() == list(range(len(index))):
        return {}
    return {"" if index.name is None else str(index.name): index}


def values_of(column: Any) -> list[Any]:
    """Return a column as a list of Python values."""
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, way):
            return list(getattr(column, way)())
    return list(column)


def cell_text(value: Any) -> str:
    """Return a value of a table as the text that a CSV file would have; "" if it is missing."""
    if value is None or value is np.nan or type(value).__name__ == "NAType" or value != value:
        return ""  # pandas' NA does not even say whether it differs from itself
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value).strip()
