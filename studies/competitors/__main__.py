"""Run the study: ``python -m studies.competitors``."""

from __future__ import annotations

from studies.competitors import STUDY, __doc__
from studies.rows import command_line

if __name__ == "__main__":
    command_line(STUDY, str(__doc__))
