"""Run the study: ``python -m studies.choice``."""

from __future__ import annotations

from studies.choice import STUDY, __doc__
from studies.rows import command_line

if __name__ == "__main__":
    command_line(STUDY, str(__doc__))
