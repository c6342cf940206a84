"""Compare methods on one graph by one protocol: same split, same stopping rule, several seeds, paired.

python examples/compare_methods.py --dataset cora --seeds 5
"""

from __future__ import annotations

import argparse

import mcn
from mcn.experiments import compare

parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--dataset", default="strong-ties")
parser.add_argument("--methods", default="mcn,gat,gcn,mlp")
parser.add_argument("--seeds", type=int, default=3)
parser.add_argument("--epochs", type=int, default=2000)
options = parser.parse_args()

rows = compare(
    mcn.load_dataset(options.dataset),
    options.methods.split(","),
    range(options.seeds),
    dataset=options.dataset,  # its preset
    settings={"max_epochs": options.epochs},
)
print(f"{options.dataset}: test accuracy in percent, {options.seeds} seeds, selected on validation nodes")
for row in rows:
    line = f"{row['method']:6s} {row['test_mean']:5.1f}"
    if row["test_std"] is not None:
        line += f" ± {row['test_std']:.1f}"
    if row["difference"] is not None:
        # Paired by seed: the spread that all methods share drops out.
        line += f"   {row['difference']:+.1f} ± {row['difference_error']:.1f} against {rows[0]['method']}"
    print(line)
