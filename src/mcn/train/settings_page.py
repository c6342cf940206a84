"""The page of settings in the docs, made from the declarations."""

from __future__ import annotations

from itertools import groupby

from mcn.train.settings import Setting, Settings, declared

_HEADINGS = {
    "graph": "The graph",
    "network": "The network",
    "attention": "How nodes learn to choose",
    "training": "Training",
}


def settings_table(config: type[Settings]) -> str:
    """Return the settings of a configuration as Markdown, a table per group.

    >>> from mcn.train import ViewsConfig
    >>> page = settings_table(ViewsConfig)
    >>> next(line for line in page.splitlines() if "drop_neighbours" in line)
    '| `drop_neighbours` | `0.5` | `--set` | Share of its neighbours that a node does not hear in a view. |'
    """
    order = list(_HEADINGS)
    own = sorted(declared(config).values(), key=lambda one: order.index(one.group))
    parts = []
    for group, settings in groupby(own, key=lambda one: one.group):
        rows = "\n".join(_row(one) for one in settings)
        head = "| setting | default | option | what it does |\n|---|---|---|---|"
        parts.append(f"**{_HEADINGS[group]}**\n\n{head}\n{rows}")
    return "\n\n".join(parts) + "\n"


def _row(one: Setting) -> str:
    flags = "`--set`" if one.option is None else ", ".join(f"`--{flag}`" for flag in one.option.split("/"))
    if one.name == "seed":
        flags = "`--seed`"
    sentence = one.sentence.replace("|", "\\|")
    return f"| `{one.name}` | `{one.show(one.default)}` | {flags} | {sentence} |"
