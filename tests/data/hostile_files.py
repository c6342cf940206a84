"""Files that are small on disk and huge in memory; run, it reads each and prints the peak of memory taken.

``python -m tests.data.hostile_files FOLDER`` writes the files there. A line per file: its name, the peak in
bytes above what the process had before, and what reading it said.
"""

import gc
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet
from scipy import sparse

from mcn.data.limits import max_bytes
from mcn.store import read_graph

Piece = tuple[bytes, int]  # and how often it comes


def packed(path: Path, *pieces: bytes | Piece) -> Path:
    """Write a gzip file, piece by piece."""
    packer = zlib.compressobj(1, wbits=31)
    with path.open("wb") as file:
        for piece in pieces:
            unit, times = (piece, 1) if isinstance(piece, bytes) else piece
            for done in range(0, times, 2**16):
                file.write(packer.compress(unit * min(2**16, times - done)))
        file.write(packer.flush())
    return path


def numbered(form: bytes, count: int) -> bytes:
    return b"".join([form.replace(b"#", b"%d" % number) for number in range(10**6, 10**6 + count)])


MTX = b"%%MatrixMarket matrix coordinate pattern "
XML = b'<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph>'
EMOJI = "\U0001f600".encode()


def texts(size: int) -> Iterable[tuple[str, list[bytes | Piece]]]:
    """Names and contents of edge lists, matrices and graphs of about `size` bytes."""
    yield "one-edge-again.csv", [(b"1,2\n", size // 4)]
    yield "one-line.csv", [b"1,2\n", (b"1,", size // 2)]
    yield "one-id.csv", [b"a,b\n", (b"x", size), b",c\n"]
    yield "lines-of-blanks.txt", [b"1 2\n", (b" \n", size // 20)]
    yield "carriage-returns.csv", [(b"1,2\r", size // 4)]
    yield "far-ids.csv", [numbered(b"#7000,#9000\n", size // 60)]
    yield "many-names.csv", [numbered(b"a#,b#\n", size // 60)]
    yield "quoted-names.csv", [numbered(b'"a#",b\n', size // 60)]
    yield "wide-names.csv", [numbered(b'"#%s%s",b\n' % (b"a" * 200, EMOJI), size // 1000)]
    yield "comments.csv", [(b"##\n", size // 30), b"1,2\n"]
    yield "nodes.mtx", [MTX + b"general\n%d %d 1\n1 2\n" % (size // 33, size // 33)]
    yield "entries.mtx", [MTX + b"symmetric\n2 2 %d\n" % (size // 4), (b"2 1\n", size // 4)]
    yield "dense.mtx", [b"%%MatrixMarket matrix array real general\n2000 2000\n", (b"1\n", 2000 * 2000)]
    yield (
        "wrong-entry.mtx",
        [MTX + b"general\n2 2 %d\n" % (size // 100), (b"1 2\n", size // 100 - 1), b"x y\n"],
    )
    yield "nodes.graphml", [XML, numbered(b"<node id='#'/>", size // 60), b"</graph></graphml>"]
    yield "elements.graphml", [XML, (b"<a/>", size // 4), b"</graph></graphml>"]
    yield "attributes.graphml", [XML, b"<node", numbered(b" a#=''", size // 60), b"/></graph></graphml>"]
    yield "keys.gml", [b"graph [\n", numbered(b"a# 1 ", size // 60), b"]\n"]
    yield "nodes.gml", [b"graph [\n", numbered(b"node [ id # ]\n", size // 60), b"]\n"]


def tables(size: int) -> Iterable[tuple[str, list[bytes | Piece]]]:
    """Names and contents of node tables."""
    columns = b"id" + numbered(b",c#", size // 80) + b"\n"
    yield "one-line.csv", [b"id,label\n1,", (b"a", size), b"\n2,b\n"]
    yield "columns.csv", [columns, b"1", (b",1", size // 80), b"\n2", (b",2", size // 80), b"\n"]
    yield "cells.csv", [b"id,a,b,c,d\n", numbered(b"#,0.25,0.25,0.25,0.25\n", size // 100)]
    yield "rows.csv", [b"id,a\n", numbered(b"#,1\n", size // 60)]
    yield "wide.csv", [b"id,%s\n" % EMOJI, (b"a,b\n", size // 8)]
    yield "quotes.csv", [b'id,"a"\n', numbered(b'#,"1"\n', size // 60)]


def binary(folder: Path, size: int) -> Iterator[Path]:
    """Write arrays and frames."""
    arrays = {
        "nodes": {"edge": np.array([[0, 1]]), "n": np.array(size // 33)},
        "far-id": {"edge": np.array([[0, size // 33]])},
        "narrow": {"edge": np.tile(np.array([[0, 1]], np.int8), (size // 2, 1))},
    }
    for name, content in arrays.items():
        np.savez_compressed(folder / f"{name}.npz", **content)
        yield folder / f"{name}.npz"
    stripes = sparse.dia_array(
        (np.ones((size // 1000, 1000), np.int8), np.arange(size // 1000)), (1000, 1000)
    )
    sparse.save_npz(folder / "stripes.npz", stripes)
    yield folder / "stripes.npz"
    count = size // 8
    pairs = pa.table({"source": np.zeros(count, np.int64), "target": np.ones(count, np.int64)})
    names = pa.table({side: [f"{side}{row}" for row in range(size // 100)] for side in ("source", "target")})
    parquet.write_table(pairs, folder / "pairs.parquet")
    feather.write_feather(pairs, folder / "pairs.feather", compression="zstd")
    parquet.write_table(names, folder / "names.parquet")
    yield from (folder / name for name in ("pairs.parquet", "pairs.feather", "names.parquet"))
    store = folder / "store"
    store.mkdir()
    (store / "manifest.json").write_bytes(
        b'{"format": "mcn-graph-store", "a": [' + b"[]," * (size // 8) + b"1]}"
    )
    yield store


def graphs(folder: Path, size: int) -> Iterator[tuple[str, Path, Path | None]]:
    """Write every file, and yield its name with the edges and nodes to read."""
    edges = folder / "edges.csv"
    edges.write_text("1000000,1000001\n")
    yield "warm-up", edges, None
    for name, content in texts(size):
        yield name, packed(folder / f"{name}.gz", *content), None
    for name, content in tables(size):
        yield f"nodes {name}", edges, packed(folder / f"nodes-{name}.gz", *content)
    for path in binary(folder, size):
        yield path.name, path, None


def memory(kind: str) -> int:
    found = re.search(kind + r":\s+(\d+)", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) * 1024


def main(folder: Path) -> None:
    import networkx  # noqa: F401 - what is imported is no memory of a file

    for name, edges, nodes in graphs(folder, max_bytes() * 3 // 4):
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
        before, said = memory("VmRSS"), "read"
        try:
            read_graph(edges, nodes=nodes)
        except ValueError as error:
            said = str(error)
        print(name, memory("VmHWM") - before, said.replace("\n", "\\n"), sep="\t", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
