"""The sentences of a report: how to read it, the protocol, notes, and how to repeat it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mcn.experiments.paper.compared import Cells, average_ranks
from mcn.experiments.paper.document import Block, Bullets, Code, Heading
from mcn.experiments.paper.plan import VIEWS, Entry, Table
from mcn.experiments.paper.reported import BEYOND, LARGEST_CLASS, PaperTable
from mcn.train.metrics import LESS_IS_BETTER

_ALWAYS = ("motifs", "steps", "psi", "attention")


@dataclass(frozen=True)
class Circumstances:
    """How the numbers of a report came about."""

    command: str
    seeds: tuple[int, ...]
    protocols: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    cores: int | None = 1
    wall_seconds: float | None = 0.0
    metric: str = "accuracy"
    taken: int = 0  # runs that were kept before, and not made again


def opening(table: Table, how: Circumstances) -> str:
    """Say what the numbers are; for table 3 also how close the paper's best are to guessing one class."""
    score = table.paper.score[0].upper() + table.paper.score[1:]
    unit = "times 100 (less is better)" if how.metric in LESS_IS_BETTER else "in percent"
    text = f"{score} {unit}. Seeds {_span(how.seeds)}; mean ± sample standard deviation."
    if how.metric != "accuracy":
        return (
            f"{text} The paper states accuracies only. The runs are those of the table and stop by its rule; "
            "another figure of them is shown."
        )
    if table.name != "table3":
        return text
    gaps = [
        f"{best:.1f} on {name} is {best - share:.1f} points above {share:.1f}"
        for name, share in LARGEST_CLASS.items()
        if (best := max(table.paper.value(name, method) or 0.0 for method in table.paper.rows))
    ]
    return (
        f"{text} The first row predicts the class that is most frequent among the training and validation "
        "nodes, whatever the node. The paper's best are not far above the share of the largest class among "
        f"validation and test nodes together: {'; '.join(gaps)}. (A class that is frequent among the "
        "validation nodes of a draw is less so among its test nodes, which puts the row below that share.)"
    )


def reading(paper: PaperTable) -> list[str]:
    """What the columns mean, rule by rule."""
    ours = (
        "ours: mean over n runs ± sample standard deviation (n − 1 in the denominator); a single run has "
        "none. The best mean of a column is in bold."
    )
    if not paper.rows:
        views = VIEWS if paper.label == BEYOND.label else {}
        return [ours, *(f"{row} draws from {', '.join(names)}." for row, names in views.items())]
    items = [
        ours,
        "within noise: |ours − paper| ≤ 2·sqrt(s²/n + s'²/n') where the paper states a deviation s' over n' "
        "runs (s and n are ours). Where it states none, its value counts as one run with our spread: "
        "2·sqrt(s²/n + s²). The limit is never below 0.05, the paper's rounding. A dash: a single run, or no "
        "value in the paper.",
        f"rank: 1 is best; the paper's among its {len(paper.rows)} methods, ours among those of them that "
        "were run. Ties share the mean of their ranks. The average rank is over the data sets on which a "
        "method has a value. Rows that are not in the paper have no rank.",
    ]
    return items + rank_check(paper)


def rank_check(paper: PaperTable) -> list[str]:
    """Say where the paper's printed average ranks differ from those that its own numbers give."""
    columns = [{name: paper.value(data, name) for name in paper.rows} for data in paper.datasets]
    computed = average_ranks(columns)
    printed = {name: row.avg_rank for name, row in paper.rows.items() if row.avg_rank is not None}
    if not printed:
        return []
    off = [
        f"{name} {computed[name]:.1f} instead of {own:.1f}"
        for name, own in printed.items()
        if f"{computed[name]:.1f}" != f"{own:.1f}"
    ]
    if not off:
        return ["With this rule the paper's own numbers give its printed average ranks."]
    return [
        f"With this rule the paper's own numbers give its printed average ranks except for {', '.join(off)}: "
        "the paper gives methods that tie the better rank."
    ]


def what_was_run(entries: Sequence[Entry], cells: Cells) -> list[str]:
    """Say for every data set which methods were run with which seeds, and which were not."""
    said = []
    for dataset in dict.fromkeys(entry.dataset for entry in entries):
        groups: dict[tuple[int, ...], list[str]] = {}
        for entry in entries:
            if entry.dataset == dataset:
                own = cells.get((dataset, entry.method))
                groups.setdefault(tuple(sorted(own.test)) if own else (), []).append(entry.method)
        parts = [
            f"{_counted(len(seeds))} ({_seeds(seeds)}) of {', '.join(methods)}"
            for seeds, methods in sorted(groups.items(), key=lambda group: -len(group[0]))
            if seeds
        ]
        if parts and (missing := groups.get(())):
            parts.append(f"no run of {', '.join(missing)}")
        said.append(f"Run here on {dataset}: {'; '.join(parts) or 'nothing'}.")
    return said


def _counted(runs: int) -> str:
    return "one run" if runs == 1 else f"{runs} runs each"


def _seeds(seeds: Sequence[int]) -> str:
    if list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"seed{'s' if len(seeds) > 1 else ''} {_span(seeds)}"
    return f"seeds {', '.join(map(str, seeds))}"


def protocol(table: Table, entries: Sequence[Entry], cells: Cells) -> list[str]:
    """How the runs were made."""
    split = (
        "Split: 15 training nodes per class, the others halved into validation and test; drawn anew for each "
        "seed. Rows that end in -paper have Weisfeiler-Lehman colours as features, as the paper; mlp, gcn, "
        "gat and mcn have motif counts instead, and correct for the classes' shares among validation nodes."
        if table.name == "table3"
        else "Split: the public one of each data set (20 training nodes per class, 500 validation and "
        "1,000 test nodes)."
    )
    return [
        split,
        *what_was_run(entries, cells),
        "Networks keep the weights of the epoch that GAT's rule chooses (validation accuracy and loss; with "
        "stopping = gat-accuracy, as on Citeseer, accuracy alone). Other methods choose on validation nodes "
        "too.",
        "Test labels are read once per run, after training.",
    ]


def settings(entries: Sequence[Entry]) -> list[str]:
    """What the networks were trained with: what MCN could choose from, and changes to the defaults."""
    items = []
    for entry in entries:
        config = entry.units[0].config() if entry.units else None
        if config is None:
            continue
        given = {**entry.units[0].settings, **entry.units[0].own}
        shown = [f"{name} = {_plain(value)}" for name, value in given.items() if name not in _ALWAYS]
        if entry.method.startswith("mcn"):
            shown = [*(f"{name} = {_plain(getattr(config, name))}" for name in _ALWAYS), *shown]
        if shown:
            items.append(f"{entry.method} on {entry.dataset}: {', '.join(shown)}.")
    return items


def notes(paper: PaperTable, entries: Sequence[Entry], cells: Cells) -> list[str]:
    """What is missing or odd, cell by cell."""
    said = [f"* {e.method} on {e.dataset}: {e.note}." for e in entries if e.note]
    ran = {method for (_, method), cell in cells.items() if cell is not None}
    if paper.label == "tab:acc" and paper.rows:
        if "semiemb" in ran:
            said.append("semiemb on pubmed: the paper has 71.7, as GAT's paper; the GCN paper has 71.1.")
        if "monet" in ran:
            said.append("monet on citeseer: the paper has no value.")
    if "mcn-paper" in ran:
        said.append("mcn-paper is the paper's best setting and rule, mcn is ours; both beside its MCN row.")
    if "gcn-paper" in ran:
        said.append("gcn-paper and gat-paper have the setting of mcn-paper; mlp, gcn and gat that of mcn.")
    return said


def repeat(cells: Cells, how: Circumstances) -> list[Block]:
    """The command, the parts of the data, time and versions."""
    total = sum(cell.seconds * cell.runs for cell in cells.values() if cell is not None)
    items = [f"{dataset}: {line}" for dataset, line in how.protocols.items()]
    this_call = (
        "this call ran none"
        if how.wall_seconds is None
        else f"{duration(how.wall_seconds)} for this call, on a machine with {how.cores} "
        f"core{'s' if how.cores != 1 else ''}"
    )
    if how.taken:
        number = "One run was" if how.taken == 1 else f"{how.taken} runs were"
        items.append(f"{number} kept from before and not made again.")
    items += [
        f"Time: {duration(total)} in all runs together; {this_call}.",
        "Versions: " + ", ".join(f"{name} {version}" for name, version in how.versions.items()) + ".",
    ]
    return [Heading("To repeat it"), Code(how.command), Bullets(items)]


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _span(seeds: Sequence[int]) -> str:
    return str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"


def _plain(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
