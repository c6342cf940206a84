"""Write the pictures of the motifs that `motifs.md` shows: `python docs/make_pictures.py`."""

from __future__ import annotations

from pathlib import Path

from mcn.motifs import MOTIFS, picture

FOLDER = Path(__file__).resolve().parent / "img" / "motifs"


def main() -> None:
    """One SVG file per motif name."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for motif in MOTIFS:
        (FOLDER / f"{motif}.svg").write_text(picture(motif) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
