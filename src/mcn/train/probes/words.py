"""What a run says of choosing, in sentences."""

from __future__ import annotations

from typing import Any

from mcn.train.probes.network import GRAPH, REFIT


def choosing_sentence(choosing: dict[str, Any]) -> str:
    """Return what choosing per node is worth on a graph, from a summary's `choosing`.

    >>> found = {"winner": "gcn", "used": False, "gain": 0.002, "gain_error": 0.004, "high": 0.01}
    >>> choosing_sentence(found | {"apparent_room": 0.08, "mode": "graph"})[:58]
    'nodes hardly differ here: gcn for all; choosing per node w'
    """
    winner, error = choosing["winner"], choosing["gain_error"]
    if error is None:
        return f"too few validation nodes to let nodes choose: {winner} for all"
    gain = f"{100 * choosing['gain']:+.1f} ± {100 * error:.1f} points on held-out nodes"
    if choosing["mode"] == GRAPH:
        most, oracle = 100 * choosing["high"], 100 * choosing["apparent_room"]
        return (
            f"nodes hardly differ here: {winner} for all; choosing per node would gain {gain}, at most about "
            f"{most:.1f}, though an oracle that knew the answers would show {oracle:.1f}"
        )
    how = "one network on the rows they chose" if choosing["mode"] == REFIT else "each node's own candidate"
    return f"nodes choose: worth {gain} beyond {winner} for all; {how} predicts"
