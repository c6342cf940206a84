"""Run the study: ``python -m studies.beyond``."""

from __future__ import annotations

from studies.beyond import STUDY, __doc__
from studies.rows import command_line

if __name__ == "__main__":
    command_line(STUDY, str(__doc__))
