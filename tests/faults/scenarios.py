"""The commands whose every write is made to fail, on graphs of a few nodes, and what they must leave."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SPACE = """
fixed: {max_epochs: 2, hidden: 2, heads: 2, attention: paper}
settings:
  motifs: {subsets: [edge, triangle]}
"""
QUICK = ["--hidden", "2", "--heads", "2", "--max-epochs", "3", "--beside", "none"]


@dataclass(frozen=True)
class Scenario:
    """A command that writes below a folder.

    Attributes:
        words: the command, given the folder and one with what it needs.
        resume: words that are added when it is run again after a fault.
        logs: files that grow line by line; what a fault leaves of them is a beginning.
    """

    words: Callable[[Path, Path], list[str]]
    resume: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()


def _train(recipe: list[str]) -> Callable[[Path, Path], list[str]]:
    def words(out: Path, _needs: Path) -> list[str]:
        return ["train", "--dataset", "karate", *recipe, "--out", str(out / "run")]

    return words


SCENARIOS = {
    # The report, most of the time of so short a run, is in one of the two.
    "train": Scenario(
        _train(["--recipe", "mcn", *QUICK, "--no-report"]), ("--resume",), ("run/metrics.jsonl",)
    ),
    "train views": Scenario(
        _train(["--recipe", "views", "--max-epochs", "2", "--beside", "none"]),
        ("--resume",),
        ("run/metrics.jsonl",),
    ),
    "search": Scenario(
        lambda out, needs: [
            *("search", "--dataset", "karate", "--space", str(needs / "space.yaml"), "--sampler", "grid"),
            *("--trials", "2", "--seeds", "1", "--final-seeds", "1", "--jobs", "1", "--out", str(out / "s")),
        ],
        ("--resume",),
    ),
    "reproduce table1": Scenario(
        lambda out, _: ["reproduce", "table1", "--datasets", "karate", "--out", str(out / "t")], ("--resume",)
    ),
    "reproduce figure1": Scenario(
        lambda out, _: ["reproduce", "figure1", "--out", str(out / "f")], ("--resume",)
    ),
    "motifs": Scenario(lambda out, _: ["motifs", "--dataset", "karate", "--out", str(out / "counts.npz")]),
    "predict": Scenario(lambda out, needs: ["predict", str(needs / "run"), "--out", str(out / "p.csv")]),
    "view": Scenario(
        lambda out, needs: ["view", str(needs / "run"), "--no-open", "--out", str(out / "page.html")]
    ),
}


def content(path: Path) -> Any:
    """What a file says, without the times that differ between any two runs."""
    raw = path.read_bytes()
    if path.suffix == ".json":
        return _timeless(json.loads(raw))
    if path.suffix == ".md":  # which states its command, and how long it took
        return re.sub(rb" --resume\b|[\d.]+ (s|min|h) (in all runs|for this call)", b"", raw)
    if path.suffix == ".html":  # times stand in many places of it
        return raw.rstrip().endswith(b"</html>")
    if path.suffix == ".sqlite":
        from mcn.experiments import Ledger

        return _timeless(Ledger(path).rows())
    return raw


_TIMED = re.compile("seconds|^sha256$")


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(each) for name, each in value.items() if not _TIMED.search(name)}
    return [_timeless(each) for each in value] if isinstance(value, list) else value
