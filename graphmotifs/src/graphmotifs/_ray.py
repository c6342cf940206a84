"""Ray, where it is installed: how this package imports it and finds a cluster."""

from __future__ import annotations

import logging
import os
import warnings
from typing import Any

from graphmotifs._threads import available_threads

RETRIES = 3
"""How often a task is started again when its worker or its node dies."""


class ClusterError(OSError):
    """The cluster could not do its work, whatever the input."""


def import_ray(install: str = "graphmotifs[ray]") -> Any:
    """Import Ray without its warnings; `install` is what pip should install where Ray is missing."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported home
    # Since 2.5x Ray warns, unless told, that it will leave the environment of tasks without GPUs alone.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations of Ray's own dependencies
            import ray
            import ray.exceptions
    except ImportError:
        raise ValueError(f"the engine 'ray' needs Ray: pip install '{install}'") from None
    return ray


def connect(ray: Any, jobs: int | None, address: str | None) -> None:
    """Connect to the cluster at `address`; for None, start one here of `jobs` CPUs, or of all cores."""
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address is None:
            cpus = jobs or available_threads()
            ray.init(address="local", num_cpus=cpus, include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError) as error:
        first = str(error).strip().splitlines()[0]
        raise OSError(f"no Ray cluster could be reached at {address or 'this machine'} ({first})") from error
