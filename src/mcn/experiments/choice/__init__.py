"""The study of choosing: what one neighbourhood for all nodes reaches, and what choosing adds."""

from __future__ import annotations

from mcn.experiments.choice.study import KNOWN, METHODS, SETS, choice_study, run_split

__all__ = ["KNOWN", "METHODS", "SETS", "choice_study", "run_split"]
