"""Ways to change a valid input so that it stays nearly valid."""

import gzip
import io
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import cache

Change = Callable[[random.Random, bytes, Sequence[bytes]], bytes]

NUMBERS = b"0 1 -1 2 3 7 127 128 255 256 32768 65536 2147483647 2147483648 4294967295 4294967296".split()
NUMBERS += b"4294967297 9223372036854775807 9223372036854775808 18446744073709551615".split()
NUMBERS += b"18446744073709551616 10000000000000 1e5 1e308 1e309 -0.0 0.5 nan inf -inf 1e-400".split()
NUMBERS += [*b"01 +1 1_0 0x10 \xd9\xa3".split(), b"9" * 40, b"1" * 400]
TEXT = [
    b" ", b"  ", b"\t", b"\n", b"\r", b"\r\n", b"\n\n", b",", b";", b'"', b'""', b"'", b"#", b"%",
    b"\0", b"a\0", b"\xef\xbb\xbf", b"\xff", b"\xc3\xa9", b"\xe2\x80\xa8", b"\x0b", b"\x1c", b"\x85",
    b"=cmd|x", b"x" * 300, b",,,,", b"a", b"id", b"source", b"target", b"label", b"split", b"train",
    b"val", b"test", b"weight", b"?", b"NA", b"\\", b"/", b"|", b"\xf0\x9f\x98\x80",
]  # fmt: skip
KINDS = b"<i8 <i4 >i8 <u8 <u4 <f8 |b1 <c16 <U3 |S5 |O |V8 <M8[s] <i0 <f2".split()
SHAPES = [
    b"()", b"(0,)", b"(1,)", b"(2, 3)", b"(3, 2)", b"(10000000000000, 2)", b"(-1,)", b"(4, 4)",
    b"(2, 2, 2)", b"(18446744073709551616,)", b"(0, 10000000000000)", b"[3]", b"3",
]  # fmt: skip
MTX = [
    b"%%MatrixMarket matrix ", b"coordinate", b"array", b"real", b"complex", b"integer", b"pattern",
    b"general", b"symmetric", b"skew-symmetric", b"hermitian", b"unsigned-integer", b"vector", b"% c\n",
    b" \n", b"1 1\n", b"1 2 1\n", b"3 3 3\n", b"2147483647 2147483647 1\n", b"0 0 0\n", b"e", b".",
    b"-", b"+",
]  # fmt: skip
XML = [
    b"<node id='9'/>", b"<node/>", b"<edge/>", b"<edge source='0' target='9'/>", b"</node>",
    b"</graph>", b"<graph>", b"<graph edgedefault='directed'>", b"<data key='d0'>x</data>", b"<data/>",
    b"<key/>", b"<key id='d0' for='node' attr.name='k' attr.type='int'><default>x</default></key>",
    b"attr.type='boolean'", b"attr.type='yesno'", b" weight='x'", b" weight='2'", b"<!DOCTYPE x>",
    b"<!-- c -->", b"<![CDATA[x]]>", b"&lt;", b"&#0;", b"&#x110000;", b"&x;",
    b"<?xml version='1.0' encoding='klingon'?>", b"encoding='utf-7'", b"encoding='utf-16'", b"<port/>",
    b"<hyperedge/>", b"<nodes>", b"<edges>", b"<attvalues><attvalue for='0'/>",
    b"<viz:color r='1' g='2' b='x'/>", b" type='mutual'", b" start='x'", b" timeformat='date'",
    b" for='0'", b"<parents><parent for='0'/></parents>", b" pid='0'", b"<spells><spell/></spells>",
    b" mode='dynamic'", b" type='liststring'", b" type='long'", b" xmlns='http://example.org'",
    b" version='9'", b" id='0'", b" id=''",
]  # fmt: skip
GML = [
    b"graph [", b"node [", b"edge [", b"]", b"[", b"id 0", b"id \"0\"", b"id 0.5", b"id [ a 1 ]",
    b"source 0", b"target 9", b"weight [ a 1 ]", b"weight \"x\"", b"weight 1e999", b"label \"a\"",
    b"directed 1", b"multigraph 1", b"key 0", b"\"", b"\"&#1114112;\"", b"&amp;", b"# c\n", b"x [ ",
    b"NAN", b"+INF", b"-", b"label 3", b"id 1 id 2",
]  # fmt: skip
PICKLE = [
    b".", b"(", b"]", b"}", b"l.", b"K\x01", b"J\xff\xff\xff\xff", b"\x8a\x01\xff",
    b"X\xff\xff\xff\x7f", b"q\x00", b"h\x00", b"j\x00\x00\x00\x00", b"r\xff\xff\xff\xff", b"R", b"b",
    b"s", b"u", b"e", b"t", b"\x85", b"N", b"0", b"cos\nsystem\n", b"cnumpy\nndarray\n",
    b"c_codecs\nencode\n", b"ccollections\ndefaultdict\n", b"\x80\x02",
    b"G\x7f\xf0\x00\x00\x00\x00\x00\x00", b"U\x02f8", b"U\x02O8",
]  # fmt: skip


def anything(tokens: Sequence[bytes] = ()) -> Change:
    """Change bytes, pieces, lines, numbers and (for text formats) words of the format."""

    def mutate(rng: random.Random, content: bytes, corpus: Sequence[bytes]) -> bytes:
        changes = (*_CHANGES, _insert_token, _insert_token, _replace_tag) if tokens else _CHANGES
        return rng.choice(changes)(rng, content, corpus, tokens)[: 2**24]

    return mutate


def _place(rng: random.Random, content: bytes) -> int:
    return rng.randrange(len(content) + 1)


def _piece(rng: random.Random, content: bytes) -> tuple[int, int]:
    start = _place(rng, content)
    return start, min(len(content), start + rng.choice((1, 1, 2, 4, 8, 16, 64, 256)))


def _flip(rng: random.Random, content: bytes, *_: object) -> bytes:
    if not content:
        return b"\0"
    changed = bytearray(content)
    changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _set(rng: random.Random, content: bytes, *_: object) -> bytes:
    if not content:
        return b"0"
    changed = bytearray(content)
    changed[rng.randrange(len(content))] = rng.choice(b'\x00\x01\x7f\x80\xff09 \n\t,"[]<>')
    return bytes(changed)


def _delete(rng: random.Random, content: bytes, *_: object) -> bytes:
    start, stop = _piece(rng, content)
    return content[:start] + content[stop:]


def _repeat(rng: random.Random, content: bytes, *_: object) -> bytes:
    start, stop = _piece(rng, content)
    times = rng.choice((2, 2, 3, 10, 100, 1000)) if rng.random() < 0.98 else 20_000
    return content[:start] + content[start:stop] * times + content[stop:]


def _cut(rng: random.Random, content: bytes, *_: object) -> bytes:
    return content[: _place(rng, content)]


def _splice(rng: random.Random, content: bytes, corpus: Sequence[bytes], *_: object) -> bytes:
    other = rng.choice(corpus)
    return content[: _place(rng, content)] + other[_place(rng, other) :]


def _number(rng: random.Random, content: bytes, *_: object) -> bytes:
    found = list(re.finditer(rb"-?[0-9]+(\.[0-9]+)?", content[:100_000]))
    if not found:
        return content + rng.choice(NUMBERS)
    match = rng.choice(found)
    return content[: match.start()] + rng.choice(NUMBERS) + content[match.end() :]


def _lines(rng: random.Random, content: bytes, *_: object) -> bytes:
    lines = content.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    if rng.random() < 0.5:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        lines.insert(first, lines[second])
    return b"\n".join(lines)


def _strip_end(rng: random.Random, content: bytes, *_: object) -> bytes:
    return content.rstrip() + rng.choice((b"", b" ", b"\t", b"\r", b"\0", b"\n \n", b"%"))


def _word(rng: random.Random, content: bytes, *_: object) -> bytes:
    at = _place(rng, content)
    return content[:at] + rng.choice(TEXT) + content[at:]


_CHANGES = (
    _flip, _set, _delete, _delete, _repeat, _cut, _splice, _number, _number, _number, _lines, _strip_end,
    _word,
)  # fmt: skip


def _insert_token(rng: random.Random, content: bytes, _: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    at = _place(rng, content)
    if rng.random() < 0.7:  # between words, where it stands a chance
        spaces = [m.start() for m in re.finditer(rb"[\s>,]", content[:100_000])]
        at = rng.choice(spaces) if spaces else at
    token = rng.choice(tokens)
    return content[:at] + token + (b"" if rng.random() < 0.3 else b" ") + content[at:]


def _replace_tag(rng: random.Random, content: bytes, _: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    words = list(re.finditer(rb"[A-Za-z.:-]+|<[^>]*>", content[:100_000]))
    if not words:
        return content + rng.choice(tokens)
    word = rng.choice(words)
    other = rng.choice(words)
    new = rng.choice((rng.choice(tokens), content[other.start() : other.end()], b""))
    return content[: word.start()] + new + content[word.end() :]


@cache
def _bombs() -> list[bytes]:
    """Small files that unpack to 16 MiB."""
    pieces = (b"\0", b"\n", b"1 2\n", b" ")
    return [gzip.compress(piece * (2**24 // len(piece)), 1, mtime=0) for piece in pieces]


def packed(inner: Change) -> Change:
    """Change what is inside a gzip file, or the gzip file itself."""
    outer = anything()

    def mutate(rng: random.Random, content: bytes, corpus: Sequence[bytes]) -> bytes:
        choice = rng.random()
        try:
            inside = gzip.decompress(content) if content not in _bombs() else b""
        except (OSError, EOFError, zlib.error):
            inside, choice = b"", 1.0
        if choice < 0.6:
            return gzip.compress(inner(rng, inside, [inside]), 1, mtime=0)
        if choice < 0.61:
            return rng.choice(_bombs())
        return outer(rng, content, corpus)

    return mutate


def archive(rng: random.Random, content: bytes, corpus: Sequence[bytes]) -> bytes:
    """Change an `.npz` file: the header or the numbers of a member, the list of members, or any byte."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            members = {info.filename: file.read(info) for info in file.infolist()}
    except Exception:  # noqa: BLE001 - it was changed past reading before
        return anything()(rng, content, corpus)
    choice = rng.random()
    if choice < 0.25 or not members:
        return anything()(rng, content, corpus)
    name = rng.choice(sorted(members))
    if choice < 0.5:
        members[name] = npy_header(rng, members[name])
    elif choice < 0.8:
        members[name] = npy_numbers(rng, members[name])
    elif choice < 0.85:
        del members[name]
    elif choice < 0.9:
        new = rng.choice(("edge", "n", "format", "row", "x", "coords", "offsets", "shape"))
        members[f"{new}.npy"] = members[name]
    elif choice < 0.95:
        members[name] = members[rng.choice(sorted(members))]
    else:
        members[name] = anything()(rng, members[name], list(members.values()))
    packing = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packing, compresslevel=1) as file:
        for member, raw in members.items():
            file.writestr(zipfile.ZipInfo(member), raw, packing)
    return made.getvalue()


def npy_header(rng: random.Random, raw: bytes) -> bytes:
    """Change the header of an `.npy` file."""
    if len(raw) < 10:
        return raw + b"\x93NUMPY"
    size = struct.unpack("<H", raw[8:10])[0]
    header, body = raw[10 : 10 + size], raw[10 + size :]
    change = rng.randrange(5)
    if change == 0:
        header = re.sub(rb"'descr': '[^']*'", b"'descr': '" + rng.choice(KINDS) + b"'", header)
    elif change == 1:
        header = re.sub(rb"'shape': \([^)]*\)", b"'shape': " + rng.choice(SHAPES), header)
    elif change == 2:
        header = header.replace(b"False", b"True")
    elif change == 3:
        header = _number(rng, header)
    else:
        header = anything()(rng, header, [header])
    header = header[:60_000]
    return raw[:8] + struct.pack("<H", len(header)) + header + body


def npy_numbers(rng: random.Random, raw: bytes) -> bytes:
    """Change some numbers of an `.npy` file."""
    size = 10 + struct.unpack("<H", raw[8:10])[0] if len(raw) >= 10 else len(raw)
    body = bytearray(raw[size:])
    for _ in range(rng.choice((1, 1, 2, 5))):
        width = rng.choice((4, 8))
        if len(body) < width:
            break
        at = rng.randrange(len(body) // width) * width
        value = rng.choice(
            (0, 1, 2, 3, 5, 6, 7, 100, -1, -2, 2**30, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63))
        )
        body[at : at + width] = (value % 2 ** (8 * width)).to_bytes(width, "little")
    return raw[:size] + bytes(body)


MARK = b"\n-- next file --\n"


def parts(inner: Change) -> Change:
    """Change one of several files that stand in one input."""

    def mutate(rng: random.Random, content: bytes, corpus: Sequence[bytes]) -> bytes:
        files = content.split(MARK)
        which = rng.randrange(len(files))
        files[which] = inner(rng, files[which], files).replace(MARK, b"")
        return MARK.join(files)

    return mutate


def raw_bytes(rng: random.Random, content: bytes, corpus: Sequence[bytes]) -> bytes:
    """Change choices: new bytes, a few bytes, or a longer or shorter string."""
    kind = rng.random()
    if kind < 0.4:
        return rng.randbytes(rng.choice((8, 24, 64, 200)))
    changed = bytearray(content or b"\0")
    for _ in range(rng.choice((1, 2, 4))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed) + rng.randbytes(rng.choice((0, 0, 8)))
