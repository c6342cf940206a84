"""Write the pictures that `motifs.md` and `directed.md` show: `python docs/make_pictures.py`."""

from __future__ import annotations

from pathlib import Path

from mcn.motifs import DIRECTED_GRAPHLETS, MOTIFS, picture

IMAGES = Path(__file__).resolve().parent / "img"
FOLDERS = {"motifs": MOTIFS, "directed": DIRECTED_GRAPHLETS}


def main() -> None:
    """One SVG file per motif name."""
    for folder, motifs in FOLDERS.items():
        (IMAGES / folder).mkdir(parents=True, exist_ok=True)
        for motif in motifs:
            (IMAGES / folder / f"{motif}.svg").write_text(picture(motif) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
