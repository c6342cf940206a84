"""Motif counts as features of a scikit-learn model: no network, no training loop.

    python examples/motif_features.py

Which ties can be trusted, that is, join two people of the same class? Learned are the ties between nodes
whose labels are known (training and validation nodes); labels of test nodes are not looked at.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mcn

parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--folds", type=int, default=5)
options = parser.parse_args()

data = mcn.load_dataset("strong-ties")
counts = mcn.count_motifs(data.edge_index, data.num_nodes)

known = (data.train_mask | data.val_mask).numpy()
labels = np.where(known, data.y.numpy(), -1)
kept = known[counts.pairs].all(axis=1)
ends = counts.pairs[kept]
trusted = labels[ends[:, 0]] == labels[ends[:, 1]]
guess = max(trusted.mean(), 1 - trusted.mean())
print(f"{len(ends)} ties between known nodes, {trusted.mean():.0%} of them inside a class")

degrees = counts.per_node[:, 0][ends]
per_edge = counts.per_edge[kept][:, 1:]  # column 0, the edge itself, is 1 everywhere
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
for name, features in (("degrees of both ends", degrees), ("12 motif counts", per_edge)):
    scores = cross_val_score(model, np.log1p(features), trusted, cv=options.folds)
    print(f"{name}: {scores.mean():.1%} over {options.folds} folds (always guessing: {guess:.1%})")

model.fit(np.log1p(per_edge), trusted)
weights = model[-1].coef_[0]
print("what speaks most for a tie inside a class:")
for column in np.argsort(weights)[::-1][:3]:
    print(f"  {mcn.EDGE_ORBITS[1 + column]}: {weights[column]:+.2f}")
