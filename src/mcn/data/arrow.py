"""Reading through pyarrow, where `mcn[fast]` is installed: large text files, Parquet and Feather.

Whatever it cannot read plainly is left to the careful readers, which know the place of every error.
"""

from __future__ import annotations

import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn.data.arrow_ipc import stream_of
from mcn.data.border import check_size, read_bytes, reading, shown
from mcn.data.cells import Places, RawTable

TABLES = (".parquet", ".feather", ".arrow")
LARGE = 2**20
_ODD = bytes([0, 11, 12, 28, 29, 30, 31])  # what Python takes for white space, and NUL
_ROW_BYTES = 16
_BLOCK = 2**24


def arrow(name: str = "pyarrow") -> Any:
    """Import a module of pyarrow, or return None if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def text_numbers(content: bytes, start: int, mark: str | None, column: int) -> NDArray[np.float64] | None:
    """Read one column of a large plain text file as numbers; None if the careful reader must."""
    csv = arrow("pyarrow.csv")
    if csv is None or len(content) < LARGE or not _plain(content, mark):
        return None
    pa = arrow()
    name = f"f{column}"
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(content).slice(start)),
            read_options=csv.ReadOptions(autogenerate_column_names=True, block_size=_BLOCK),
            parse_options=csv.ParseOptions(delimiter=mark or " ", quote_char=False, ignore_empty_lines=True),
            convert_options=csv.ConvertOptions(
                column_types={name: pa.float64()},
                include_columns=[name],
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, KeyError, ValueError):
        return None
    values: NDArray[np.float64] = table.column(0).to_numpy()
    return values


def _plain(content: bytes, mark: str | None) -> bool:
    """Whether the fields of a text file are what stands between separators, and nothing else."""
    if b'"' in content or content.count(b"\r") != content.count(b"\r\n") or (mark and not mark.isascii()):
        return False
    if mark is not None:
        return b"\0" not in content
    blanks = (b"\t", b"  ", b" \n", b" \r", b"\n ")
    return content.isascii() and not any(blank in content for blank in blanks) and not _has_odd(content)


def _has_odd(content: bytes) -> bool:
    return len(content.translate(None, _ODD)) < len(content)


def read_arrow(path: Path) -> Any:
    """Read a Parquet or Feather file as a pyarrow table; its text columns are dictionaries where possible.

    Raises:
        ValueError: pyarrow is not installed, the file is damaged, or takes more than `border.max_bytes`.
    """
    if arrow() is None:
        raise ValueError(f"{path}: reading this format needs pyarrow; pip install 'mcn[fast]'")
    check_size(path, path.stat().st_size)
    kind = path.suffix.lower()
    with reading(path, f"not a readable {kind} file"):
        table = _read_parquet(path) if kind == ".parquet" else _read_feather(path)
        table.validate(full=True)  # compiled code follows the offsets inside without looking
        _check_texts(path, table)
    names = [str(name) for name in table.column_names]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{path}: column {shown(twice)} occurs twice")
    return table


def _read_parquet(path: Path) -> Any:
    parquet = arrow("pyarrow.parquet")
    with parquet.ParquetFile(path) as plain:
        schema, meta = plain.schema_arrow, plain.metadata
        texts = [field.name for field in schema if arrow().types.is_string(field.type)]
        check_size(path, _ROW_BYTES * meta.num_rows * max(1, meta.num_columns), "holds rows that take")
        sizes = [meta.row_group(place).total_byte_size for place in range(meta.num_row_groups)]
        check_size(path, sum(sizes), "unpacks to")
    with parquet.ParquetFile(path, read_dictionary=texts) as file:
        return file.read()


def _read_feather(path: Path) -> Any:
    ipc, pa = arrow("pyarrow.ipc"), arrow()
    batches, rows = [], 0
    with ipc.open_stream(stream_of(path, pa.py_buffer(read_bytes(path)), ipc)) as file:
        for batch in file:
            rows += batch.num_rows
            check_size(path, _ROW_BYTES * rows * max(1, batch.num_columns), "holds rows that take")
            batches.append(batch)
        return pa.Table.from_batches(batches, schema=file.schema)


def _check_texts(path: Path, table: Any) -> None:
    """Refuse columns that say a few long texts many times: such a file is small, and its values are not."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        size = sum(map(_in_python, column.chunks))
        check_size(path, size, f"has values in column {shown(str(name))} that take")


def _in_python(values: Any) -> int:
    """The bytes that an array takes at least as Python's values."""
    types, kind = arrow().types, values.type
    if types.is_dictionary(kind):
        texts = values.dictionary
        sizes = arrow("pyarrow.compute").binary_length(texts) if _is_text(texts.type) else None
        long = 0 if sizes is None else arrow("pyarrow.compute").sum(sizes.take(values.indices)).as_py()
        return _ROW_BYTES * len(values) + int(long or 0)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _ROW_BYTES * len(values) + _in_python(values.flatten())
    if types.is_struct(kind):
        return _ROW_BYTES * len(values) + sum(map(_in_python, values.flatten()))
    if types.is_nested(kind) or types.is_run_end_encoded(kind):
        raise ValueError(f"a column holds {kind}; expected plain values")
    return _ROW_BYTES * len(values) + max(0, int(values.nbytes))


def _is_text(kind: Any) -> bool:
    types = arrow().types
    return any(check(kind) for check in (types.is_string, types.is_large_string, types.is_binary))


def cell_text(value: Any) -> str:
    """Return a value of a table as the text that a CSV file would have; "" if it is missing."""
    if value is None or value is np.nan or value != value:
        return ""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value).strip()


def raw_table(name: str, columns: dict[str, list[Any]]) -> RawTable:
    """Make a node table of columns of values; rows are counted from 1."""
    if not columns or not len(next(iter(columns.values()))):
        raise ValueError(f"{name}: no nodes; expected columns (id, label, …) and a row per node")
    for column in columns:
        if not column:
            raise ValueError(f"{name}: a column without a name")
    texts = [list(map(cell_text, values)) for values in columns.values()]
    return RawTable(name, list(columns), texts, Places(f"{name}, row", range(1, len(texts[0]) + 1)))
