"""Classify the nodes of a graph of your own, read from two CSV files.

    python examples/own_graph.py edges.csv nodes.csv

Without arguments a small graph is written to a temporary folder first: people in families, in three towns.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from pathlib import Path

import numpy as np

import mcn

TOWNS = ("harbour", "north", "south")


def write_graph(folder: Path) -> tuple[Path, Path]:
    """180 people; families are cliques, two more acquaintances each are drawn from anywhere."""
    draw = np.random.default_rng(0)
    people = [f"person {number}" for number in range(180)]
    home = {name: TOWNS[number // 4 % 3] for number, name in enumerate(people)}
    ties = [(a, b) for i in range(0, 180, 4) for a in people[i : i + 4] for b in people[i : i + 4] if a < b]
    ties += [(a, draw.choice(people)) for a in people for _ in range(2)]
    rows = []
    for name in people:
        visits = draw.choice(TOWNS + 3 * (home[name],), size=4).tolist()
        rows.append((name, home[name] if draw.random() < 0.8 else "", *map(visits.count, TOWNS)))
    for path, lines in (
        (folder / "edges.csv", [("source", "target"), *ties]),
        (folder / "nodes.csv", [("id", "label", *TOWNS), *rows]),
    ):
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
    return folder / "edges.csv", folder / "nodes.csv"


def main() -> None:
    """Read the graph, train, and say what the nodes without a label are."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("edges", nargs="?", type=Path)
    parser.add_argument("nodes", nargs="?", type=Path)
    parser.add_argument("--epochs", type=int, default=200)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        edges, nodes = options.edges, options.nodes
        if edges is None:
            edges, nodes = write_graph(Path(folder))
        data = mcn.load_graph(edges, nodes=nodes)
    print(*data.report, sep="\n")

    clf = mcn.MCNClassifier(motifs=("edge", "triangle"), max_epochs=options.epochs, random_state=0)
    clf.fit(data)
    print(f"validation {clf.val_accuracy_:.1%}, test {clf.score(data):.1%}")

    probability = clf.predict_proba(data)
    unknown = (data.y < 0).nonzero().squeeze(1).tolist()
    print(f"{len(unknown)} nodes had no label; the first of them:")
    for node in unknown[:5]:
        best = probability[node].argmax()
        print(f"  {data.node_ids[node]}: {clf.classes_[best]} ({probability[node, best]:.0%})")


if __name__ == "__main__":
    main()
