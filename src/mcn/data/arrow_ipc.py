"""Feather files: how much memory their packed buffers will take, read from their headers before it is taken.

Arrow's messages are flatbuffers; a packed buffer begins with its size when unpacked.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from mcn.data.border import check_size

_MAGIC, _END = b"ARROW1\0\0", b"ARROW1"
_DICTIONARY, _BATCH = 2, 3  # kinds of messages that hold buffers
_HEADER_KIND, _HEADER, _BUFFERS, _COMPRESSION, _DATA = 1, 2, 2, 3, 1  # places of fields in their tables


def stream_of(path: Path, content: Any, ipc: Any) -> Any:
    """Return the stream of messages in a Feather file, after a look at what they will unpack to.

    Args:
        path: the file.
        content: its bytes, as a buffer of pyarrow.
        ipc: the module `pyarrow.ipc`.

    Raises:
        ValueError: it is another kind of file, or unpacks to more than `border.max_bytes`.
    """
    ends = len(content) - len(_END)
    if ends < len(_MAGIC) or bytes(content[: len(_MAGIC)]) != _MAGIC or bytes(content[ends:]) != _END:
        raise ValueError("not a Feather file of version 2, or truncated")
    stream = content.slice(len(_MAGIC))
    size = 0
    for message in ipc.MessageReader.open_stream(stream):
        size += _unpacked(message)
        check_size(path, size, "unpacks to")
    return stream


def _unpacked(message: Any) -> int:
    """The bytes that the buffers of a message take once they are unpacked."""
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
