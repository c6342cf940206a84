"""What a run says of choosing, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcn.train.probes.network import BLEND, GRAPH, REFIT

ROOM = ("apparent_room", "chance_room", "bound")
"""What a summary's `choosing` says of the room, see `mcn.train.probes.room`."""
_WHERE = {"refit-first": " in the first layer", "refit-last": " in the last layer"}


def choosing_sentence(choosing: Mapping[str, Any]) -> str:
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
    oracle = room_words(choosing)
    if choosing["mode"] == BLEND:
        parts = sorted(choosing["blend"].items(), key=lambda part: -part[1])
        blend = ", ".join(f"{name} {100 * share:.0f} %" for name, share in parts)
        return f"one blend for all ({blend}); choosing per node would gain {gain} ({oracle})"
    if choosing["mode"] == GRAPH:
        return f"nodes hardly differ here: {winner} for all; choosing per node would gain {gain} ({oracle})"
    how = "each node's own candidate"
    if choosing["mode"] == REFIT:
        how = "one network on the rows they chose" + _WHERE.get(choosing.get("refit", ""), "")
    return f"nodes choose: worth {gain} beyond {winner} for all; {how} predicts ({oracle})"


def room_words(choosing: Mapping[str, Any]) -> str:
    """Say what there is to gain by choosing, and how much of it a chooser could have.

    >>> room_words({"apparent_room": 0.16, "chance_room": 0.165, "bound": 0.123})[-39:]
    'within reach of any chooser: about 12.3'
    """
    room, chance, bound = (100 * choosing[key] for key in ROOM)
    return (
        f"an oracle who knew the answers would gain {room:.1f}, and {chance:.1f} if labels were drawn from "
        f"how likely each class is; within reach of any chooser: about {bound:.1f}"
    )
