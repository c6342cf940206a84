"""Compare methods on one graph by one protocol: same split, same stopping rule, several seeds, paired.

python examples/compare_methods.py --dataset cora --seeds 5
"""

from __future__ import annotations

import argparse

import numpy as np

import mcn
from mcn.train import METHODS, compare, dataset_config

parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--dataset", default="strong-ties")
parser.add_argument("--methods", default=",".join(METHODS))
parser.add_argument("--seeds", type=int, default=3)
parser.add_argument("--epochs", type=int, default=2000)
options = parser.parse_args()

data = mcn.load_dataset(options.dataset)
config = dataset_config(options.dataset, max_epochs=options.epochs)
rows = compare(data, config, options.methods.split(","), range(options.seeds))

first = rows[0]
print(f"{options.dataset}: test accuracy in percent, {options.seeds} seeds, selected on validation nodes")
for row in rows:
    line = f"{row['method']:6s} {row['test_mean']:5.1f} ± {row['test_std']:.1f}"
    if row is not first:
        # Paired by seed: the spread that all methods share drops out.
        difference = np.array(row["test"]) - np.array(first["test"])
        error = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else float("nan")
        line += f"   {difference.mean():+.1f} ± {error:.1f} against {first['method']}"
    print(line)
