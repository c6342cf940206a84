"""Train, then read what the nodes chose: who listens to triangles, and does it make sense?

python examples/what_nodes_chose.py --epochs 300
"""

from __future__ import annotations

import argparse

import numpy as np

import mcn

parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--epochs", type=int, default=300)
options = parser.parse_args()

data = mcn.load_dataset("strong-ties")
clf = mcn.MCNClassifier(lr=0.01, max_epochs=options.epochs, random_state=0)
clf.fit(data)
print(f"validation {clf.val_accuracy_:.1%} after {len(clf.history_)} epochs")

# 1. Shares per layer.
for layer in (0, 1):
    share = (clf.motif_choice_[:, layer] == "triangle").mean()
    print(f"layer {layer + 1}: {share:.0%} of the nodes chose the triangle")

# 2. Against structure: do nodes with triangles choose them?
counts = mcn.count_motifs(data.edge_index, data.num_nodes)
triangles = counts.per_node[:, mcn.NODE_ORBITS.index("triangle")]
for name, nodes in (("in a triangle", triangles > 0), ("in none", triangles == 0)):
    share = (clf.motif_choice_[nodes, 1] == "triangle").mean()
    print(f"nodes {name}: {nodes.sum()}, of which {share:.0%} chose the triangle in layer 2")

# 3. One node: whom would each choice have listened to?
node = int(np.argmax(triangles))
print(f"node {node} chose {clf.motif_choice_[node].tolist()}")
for motif in clf.stack_.motifs:
    row = clf.stack_.matrix(motif, 1)[[node]]
    others = [int(j) for j in row.indices if j != node]
    same = np.mean(data.y.numpy()[others] == int(data.y[node]))
    print(f"  {motif}: {len(others)} neighbours, {same:.0%} of its own class")
