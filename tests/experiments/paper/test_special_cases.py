from __future__ import annotations

import pytest
import torch

from mcn.data import load_dataset
from mcn.experiments.paper.report_markdown import markdown
from mcn.experiments.paper.special_cases import SpecialCase, special_cases, special_report
from mcn.nn import MCNConv


def test_the_rows_of_table_1_on_a_graph() -> None:
    cases = special_cases(load_dataset("karate"), seed=1)
    assert [case.against for case in cases] == ["PyG GCNConv", "PyG GATConv", "PyG GATConv"]
    gcn, gat, general = cases
    assert (gcn.motifs, gcn.psi, gcn.steps, gcn.self_attention, gcn.motif_attention) == (
        *("edge", "eq:k1", "K = 1"),
        *(False, False),
    )
    assert (gat.motifs, gat.self_attention, gat.motif_attention) == ("edge", True, False)
    assert (general.motifs, general.steps, general.motif_attention) == ("edge + triangle", "K = 2", True)
    assert all(case.holds for case in cases)
    assert all(0 <= case.network <= 1e-5 for case in cases)


def test_a_wrong_layer_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    forward = MCNConv.forward
    monkeypatch.setattr(MCNConv, "forward", lambda *a, **k: _shifted(forward(*a, **k)))
    cases = special_cases(load_dataset("karate"))
    assert not any(case.holds for case in cases)


def _shifted(out: object) -> object:
    return out + 1e-3 if isinstance(out, torch.Tensor) else (out[0] + 1e-3, *out[1:])  # type: ignore[index]


def test_the_report() -> None:
    case = SpecialCase("GCN", "edge", "eq:k1", "K = 1", False, False, "PyG GCNConv", 2e-7, 2e-5)
    text = markdown(special_report({"karate": [case]}, "mcn reproduce table1"))
    assert "| GCN | edge | eq:k1 | K = 1 | no | no | PyG GCNConv | 2.0e-07 | 2.0e-05 | no |" in text
    assert "```\nmcn reproduce table1\n```" in text
