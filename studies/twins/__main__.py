"""Run the study: ``python -m studies.twins``."""

from __future__ import annotations

from studies.rows import command_line
from studies.twins import STUDY, __doc__

if __name__ == "__main__":
    command_line(STUDY, str(__doc__))
