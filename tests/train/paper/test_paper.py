"""The recipe `paper`: what the paper fixes cannot be changed, all else is MCN's."""

from __future__ import annotations

from typing import Any

import pytest

from mcn.train import MCNConfig, PaperConfig
from mcn.train.recipes import RECIPES, recipe_of


def test_it_is_mcn_by_the_papers_rule() -> None:
    assert PaperConfig().to_dict() == MCNConfig(attention="paper").to_dict()
    assert PaperConfig(steps=3, lr=0.1).to_dict() == MCNConfig(attention="paper", steps=3, lr=0.1).to_dict()
    assert recipe_of(PaperConfig()) is RECIPES["paper"]
    assert RECIPES["paper"].work is RECIPES["mcn"].work


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0.3}, "epsilon is 0.1 in the recipe paper, got 0.3; the recipe mcn can change it"),
        ({"attention": "gated"}, "attention is paper in the recipe paper, got gated"),
        ({"features": "motifs"}, "features is given in the recipe paper, got motifs"),
        ({"class_priors": "validation"}, "class_priors is none in the recipe paper, got validation"),
        ({"advantage": "mean"}, "advantage is none in the recipe paper, got mean"),
        ({"gate": True}, "gate is False in the recipe paper, got True"),
        ({"consistency": 1.0}, r"consistency is 0\.0 in the recipe paper, got 1\.0"),
    ],
    ids=str,
)
def test_what_the_paper_fixes(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PaperConfig(**changes)
    with pytest.raises(ValueError, match=message):
        PaperConfig().replace(**changes)
