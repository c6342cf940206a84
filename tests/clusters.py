"""Clusters of one machine on which something is missing."""

import os
from pathlib import Path

from tests.conftest import python

_DRIVER = """
import sys
from graphmotifs._ray import import_ray
from mcn.cli.main import main
path = ":".join([sys.argv[1], *sys.path])
import_ray().init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False,
                  logging_level="ERROR", runtime_env={"env_vars": {"PYTHONPATH": path}})
raise SystemExit(main(sys.argv[2:]))
"""


def said_without_the_package(folder: Path, *words: str) -> list[str]:
    """The messages of a command of `mcn` on a cluster whose workers do not have it; `folder` is empty."""
    elsewhere, script = folder / "elsewhere", folder / "driver.py"
    for name in ("mcn", "graphmotifs"):
        (elsewhere / name).mkdir(parents=True)
        missing = f"raise ModuleNotFoundError(\"No module named '{name}'\", name='{name}')\n"
        (elsewhere / name / "__init__.py").write_text(missing)
    script.write_text(_DRIVER)
    env = {**os.environ, "RAY_worker_niceness": "0", "RAY_AUTH_MODE": "disabled"}
    done = python(script, elsewhere, *words, check=False, timeout=500, env=env)
    assert done.returncode == 1
    return [line for line in done.stderr.splitlines() if line.startswith("mcn: ")]
