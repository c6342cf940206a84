"""What a run says of choosing, in sentences."""

from __future__ import annotations

from typing import Any

from mcn.train.probes.network import BLEND, GRAPH, REFIT


def choosing_sentence(choosing: dict[str, Any]) -> str:
    """Return what choosing per node is worth on a graph, from a summary's `choosing`.

    >>> found = {"winner": "gcn", "used": False, "gain": 0.002, "gain_error": 0.004, "high": 0.01}
    >>> found |= {"apparent_room": 0.08, "chance_room": 0.075, "bound": 0.004, "mode": "graph"}
    >>> choosing_sentence(found)[:58]
    'nodes hardly differ here: gcn for all; choosing per node w'
    """
    winner, error = choosing["winner"], choosing["gain_error"]
    if error is None:
        return f"too few validation nodes to let nodes choose: {winner} for all"
    gain = f"{100 * choosing['gain']:+.1f} ± {100 * error:.1f} points on held-out nodes"
    room, chance, bound = (100 * choosing[key] for key in ("apparent_room", "chance_room", "bound"))
    oracle = (
        f"who knew the answers would show {room:.1f}, {chance:.1f} of it by chance alone, and who knew how "
        f"likely each class is {bound:.1f}"
    )
    if choosing["mode"] == BLEND:
        parts = sorted(choosing["blend"].items(), key=lambda part: -part[1])
        blend = ", ".join(f"{name} {100 * share:.0f} %" for name, share in parts)
        return f"one blend for all ({blend}); choosing per node would gain {gain} ({oracle})"
    if choosing["mode"] == GRAPH:
        return f"nodes hardly differ here: {winner} for all; choosing per node would gain {gain} ({oracle})"
    how = "one network on the rows they chose" if choosing["mode"] == REFIT else "each node's own candidate"
    return f"nodes choose: worth {gain} beyond {winner} for all; {how} predicts ({oracle})"
