"""MCNConv in a training loop of your own, and the same network with every node pinned to its plain edges.

python examples/pyg_training_loop.py --epochs 100
"""

from __future__ import annotations

import argparse
import copy

import torch
import torch.nn.functional as F
from torch_geometric.data import Data

import mcn
from mcn.train import accuracy_on_test
from mcn.train.losses import attention_loss


class Net(torch.nn.Module):
    """Two layers; in each of them every node chooses between its edges and its triangles."""

    def __init__(self, channels: int, classes: int, choice: int | None) -> None:
        super().__init__()
        self.choice = choice  # None: the nodes choose; 0: the stack's first motif, one step, for all (a GAT)
        self.first = mcn.MCNConv(channels, 8, motifs=2, heads=8, dropout=0.6, epsilon=0.3)
        self.second = mcn.MCNConv(64, classes, motifs=2, concat=False, dropout=0.6, epsilon=0.3)

    def forward(self, x, stack):
        """Scores, and what both layers chose."""
        x = F.dropout(x, 0.6, self.training)
        x, below = self.first(x, stack, choice=self.choice, return_choices=True)
        x = F.dropout(F.elu(x), 0.6, self.training)
        out, above = self.second(x, stack, choice=self.choice, return_choices=True)
        return out, below, above


def train(net: Net, data: Data, stack: mcn.MotifStack, epochs: int) -> float:
    """Train, keep the weights that were best on validation nodes, and read test labels once."""
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
    nodes, best, kept = data.train_mask.nonzero().squeeze(1), -1.0, None
    for _ in range(epochs):
        net.train()
        optimizer.zero_grad()
        out, below, above = net(data.x, stack)
        loss = F.cross_entropy(out[nodes], data.y[nodes])
        if net.choice is None:  # the selectors have no gradient from the classifier, only rewards
            right = (out[nodes].argmax(1) == data.y[nodes]).float()
            reward = right - right.mean()
            loss = loss + attention_loss([below, above.take(nodes.numpy())], reward) / len(nodes)
        loss.backward()
        optimizer.step()
        labels = predict(net, data, stack)
        accuracy = float((labels == data.y)[data.val_mask].float().mean())
        if accuracy > best:
            best, kept = accuracy, copy.deepcopy(net.state_dict())
    net.load_state_dict(kept)
    return accuracy_on_test(data, predict(net, data, stack).numpy())


@torch.no_grad()
def predict(net: Net, data: Data, stack: mcn.MotifStack) -> torch.Tensor:
    """The most probable class of every node; no dropout, the most probable choices."""
    return net.eval()(data.x, stack)[0].argmax(1)


parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--epochs", type=int, default=100)
options = parser.parse_args()
data = mcn.load_dataset("strong-ties", dense=True)
counts = mcn.count_motifs(data.edge_index, data.num_nodes)
stack = mcn.MotifStack.from_counts(counts, motifs=["edge", "triangle"])
for name, choice in (("choosing", None), ("edges for all", 0)):
    torch.manual_seed(0)
    test = train(Net(data.num_features, 5, choice), data, stack, options.epochs)
    print(f"{name}: test {test:.1%} after {options.epochs} epochs, weights chosen on validation nodes")
