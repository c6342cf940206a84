import os
import signal
import time
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcn.experiments import Ledger, Unit, WorkerDied, open_engine, register, run_unit, run_units
from mcn.paper.baselines.lp import majority
from tests.experiments.engine.units import KARATE, QUICK, quick, timeless, write_graph

pytest.importorskip("ray", reason="Ray is not installed (pip install 'mcn[search]')", exc_type=ImportError)
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of which there are many


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster of two nodes with one CPU each."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # else they wait for every other test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray
        from ray.cluster_utils import Cluster

        size: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 << 20}
        cluster = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
        try:
            cluster.add_node(**size)
            yield cluster.address
        finally:
            ray.shutdown()
            cluster.shutdown()


@pytest.fixture(scope="module")
def connected(address: str) -> Iterator[None]:
    """This process is a driver of the cluster, so that its workers stay from one test to the next."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray

        ray.init(address=address, log_to_driver=False)
        try:
            yield
        finally:
            ray.shutdown()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")
def test_a_cluster_of_its_own_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first of these tests: the others make this process a driver of their cluster."""
    mark = f"MCN_TEST_MARK={uuid.uuid4()}"
    monkeypatch.setenv(*mark.split("=", 1))
    monkeypatch.setenv("RAY_worker_niceness", "0")  # else they wait for every other test
    rows = run_units([quick()], engine="ray", jobs=1)
    assert timeless(rows) == timeless([run_unit(quick())])
    assert capfd.readouterr() == ("", "")
    limit = time.monotonic() + 20
    while (left := _with_mark(mark)) and time.monotonic() < limit:
        time.sleep(0.1)
    assert left == []


@pytest.mark.slow
def test_the_same_rows_from_shipped_data(address: str, tmp_path: Path) -> None:
    source = write_graph(tmp_path)
    units = [Unit(source, "paper", QUICK, seed) for seed in range(3)]
    units += [Unit(source, "lp"), Unit(source, "paper", {**QUICK, "lr": 1e30})]
    ledger = Ledger(tmp_path / "ledger.sqlite")
    expected = run_units(units, keep_failures=True, jobs=1)
    for file in (source.graph, source.nodes):
        Path(str(file)).unlink()  # the workers cannot have read them
    with open_engine("ray", address=address) as engine:
        rows = run_units(units, ledger, engine=engine, keep_failures=True)
    assert timeless(rows) == timeless(expected)
    assert len(ledger) == 5


@pytest.mark.usefixtures("connected")
def test_a_failure_is_raised() -> None:
    with pytest.raises(ValueError, match="lower the learning rate"):
        run_units([quick(lr=1e30)], engine="ray")


@pytest.mark.usefixtures("connected", "own_methods")
def test_a_killed_worker_is_survived(tmp_path: Path) -> None:
    marker = tmp_path / "died"

    def dies_once(task: Any, seed: int) -> Any:
        if not marker.exists():
            marker.write_text("once")
            os.kill(os.getpid(), signal.SIGKILL)
        return majority(task, seed)

    register("dies-once")(dies_once)
    units = [Unit(KARATE, "dies-once"), *(quick(seed=seed) for seed in range(2))]
    rows = run_units(units, Ledger(tmp_path / "ledger.sqlite"), engine="ray")
    assert marker.exists()
    assert rows[0]["val_accuracy"] == run_unit(Unit(KARATE, "majority"))["val_accuracy"]
    assert timeless(rows[1:]) == timeless([run_unit(unit) for unit in units[1:]])


@pytest.mark.slow
@pytest.mark.usefixtures("connected", "own_methods")
def test_a_worker_that_always_dies_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcn.experiments.engine.workers.RETRIES", 1)  # each try waits for a new worker

    def dies(task: Any, seed: int) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    register("dies")(dies)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(WorkerDied, match="dies on karate, seed 0: Ray gave up after 2 tries"):
        run_units([Unit(KARATE, "dies")], ledger, engine="ray")
    assert len(ledger) == 0


def _with_mark(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
        except OSError:
            continue
    return found
