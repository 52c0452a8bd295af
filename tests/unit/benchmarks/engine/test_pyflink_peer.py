"""What the race tells PyFlink, and what its environment is pinned to."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.engine import pyflink_peer
from benchmarks.engine.contestant import Place
from benchmarks.engine.peer_environment import PEERS
from benchmarks.engine.pyflink_peer import ASYNC, SYNC, PyFlinkPeer
from benchmarks.engine.stack import RunTopics
from devkit.jvm.pins import read_pins


@dataclass
class Spawned:
    """A guardian that only notes what it is to start."""

    argv: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)

    def spawn(self, name: str, argv: list[str], *, logs: Path, env: dict[str, str], **_: object) -> object:
        self.argv, self.env = argv, env
        return object()


@dataclass
class Somewhere:
    guardian: Spawned


def started(peer: PyFlinkPeer, directory: Path, monkeypatch: pytest.MonkeyPatch) -> Spawned:
    monkeypatch.setattr(pyflink_peer, "peer_python", lambda name: Path("/peers") / name / "python")
    monkeypatch.setattr(pyflink_peer.jars, "ensure", lambda name, lock: (Path("/jars/connector.jar"),))
    monkeypatch.setattr(pyflink_peer, "java_home", lambda: Path("/java"))
    monkeypatch.setattr(Place, "bootstrap", "broker:1")
    monkeypatch.setattr(Place, "endpoint", "http://mock:2")
    guardian = Spawned()
    topics = RunTopics("source", "out", "errors", "failures", "deferred")
    peer.start(Place(cast(Any, Somewhere(guardian)), topics, 10, directory))
    return guardian


def option(argv: list[str], name: str) -> str:
    return argv[argv.index(f"--{name}") + 1]


def test_each_setting_reaches_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peer = PyFlinkPeer("async", parallelism=3, bundle_size=7, capacity=11, bundle_time_ms=13, timeout_s=17)
    argv = started(peer, tmp_path, monkeypatch).argv
    given = {
        name: option(argv, name)
        for name in ("mode", "parallelism", "bundle-size", "capacity", "bundle-time-ms", "timeout-s", "workers")
    }
    assert given == {
        "mode": "async",
        "parallelism": "3",
        "bundle-size": "7",
        "capacity": "11",
        "bundle-time-ms": "13",
        "timeout-s": "17",
        "workers": "process",
    }


def test_it_reads_and_writes_what_the_race_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guardian = started(SYNC, tmp_path, monkeypatch)
    given = {name: option(guardian.argv, name) for name in ("bootstrap", "endpoint", "source", "output", "connector")}
    assert given == {
        "bootstrap": "broker:1",
        "endpoint": "http://mock:2",
        "source": "source",
        "output": "out",
        "connector": "/jars/connector.jar",
    }
    assert guardian.env["JAVA_HOME"] == "/java"
    assert Path(option(guardian.argv, "checkpoints")).is_dir()


def test_the_synchronous_setting_is_that_of_the_incident() -> None:
    assert (SYNC.parallelism, SYNC.bundle_size) == (16, 1)
    assert "capacity" not in SYNC.settings


def test_the_asynchronous_setting_keeps_128_events_in_flight_in_a_subtask() -> None:
    assert (ASYNC.parallelism, ASYNC.capacity) == (2, 128)
    assert ASYNC.settings["capacity"] == 128


def test_the_connector_is_pinned() -> None:
    (pin,) = read_pins("pyflink", PEERS / "pyflink-jars.lock")
    assert pin.coordinate.startswith("org.apache.flink:flink-sql-connector-kafka:")


def test_all_packages_are_pinned_by_hash() -> None:
    lock = (PEERS / "pyflink-requirements.lock").read_text()
    pinned = [line for line in lock.splitlines() if "==" in line]
    assert any(line.startswith("apache-flink==2.3") for line in pinned)
    assert all(line.endswith("\\") for line in pinned), "a pin without a hash"
