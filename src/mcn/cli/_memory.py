"""What `mcn train` decides by the memory there is: graph loaded or on disk, full batch or mini-batches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcn.cli._terminal import progress_bar

if TYPE_CHECKING:
    from mcn.motifs import MotifCounts
    from mcn.store import GraphStore
    from mcn.train.processes import Team
    from mcn.train.settings import Settings


def begun(folder: Path | None, seeds: list[int]) -> tuple[dict[str, Any], Settings] | None:
    """Read what a run that is to be resumed was begun with, if it was begun."""
    from mcn.train.folder import CONFIG, read_settings

    assert folder is not None
    own = folder if len(seeds) == 1 else folder / f"seed-{seeds[0]}"
    return read_settings(own) if (own / CONFIG).exists() else None


class Stays:
    """Whether a packed graph stays on disk: as a run that is resumed was begun, else if it is too large.

    The first of several processes decides for all. So many `processes` are taken to be on this machine; `why`
    has the words.
    """

    def __init__(
        self, team: Team, before: tuple[dict[str, Any], Settings] | None, processes: int = 1
    ) -> None:
        self._team, self._before, self._processes, self.why = team, before, processes, ""

    def __call__(self, store: GraphStore) -> bool:
        from mcn.train.fits import too_large

        if self._before is not None:
            self.why = "as the run was begun" if self._before[0]["source"].get("on_disk") else ""
        else:
            self.why = self._team.from_first(lambda: too_large(store, self._processes)) or ""
        return bool(self.why)


def decided(
    config: Settings, counts: MotifCounts, before: tuple[dict[str, Any], Settings] | None
) -> tuple[Settings, str | None]:
    """Choose between the full batch and mini-batches, as a run that is resumed was begun; say why."""
    from mcn.train.fits import decide

    if before is not None and getattr(config, "batch_size", 0) is None:
        return config.replace(batch_size=getattr(before[1], "batch_size", None)), None
    found = decide(config, counts)
    return found.config, found.line


def for_store(
    store: GraphStore, config: Settings, given: list[str], why: str, team: Team
) -> tuple[Settings, str]:
    """Return the settings for a graph that stays on disk, and say so; count what is not counted yet."""
    from mcn.motifs import count_motifs
    from mcn.train.fits import for_disk

    found = for_disk(config, given)
    missing = [name for name in found.config.motifs if name != "self" and name not in store.counts]
    if missing and team.leads:
        with progress_bar(f"counting {', '.join(missing)}") as bar:
            count_motifs(store, motifs=missing, out=store.path, progress=bar)
    team.from_first(bool)  # the others wait until everything is counted
    return found.config, f"{why}; {found.line}; no report, which shows a graph in memory"


def none_beside(methods: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse methods to compare with, for a graph that stays on disk."""
    if methods:
        raise ValueError(f"--beside {','.join(methods)}: needs the graph in memory, and it stays on disk")
    return ()
