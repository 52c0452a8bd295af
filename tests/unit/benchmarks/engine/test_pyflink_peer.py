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


def test_settings_and_what_the_race_says_reach_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peer = PyFlinkPeer("async", parallelism=3, bundle_size=7, capacity=11, bundle_time_ms=13, timeout_s=17)
    guardian = started(peer, tmp_path, monkeypatch)
    settings = {"mode": "async", "parallelism": "3", "bundle-size": "7", "capacity": "11", "workers": "process"}
    times = {"bundle-time-ms": "13", "timeout-s": "17"}
    topics = {"bootstrap": "broker:1", "endpoint": "http://mock:2", "source": "source", "output": "out"}
    expected = {**settings, **times, **topics, "connector": "/jars/connector.jar"}
    assert {name: option(guardian.argv, name) for name in expected} == expected
    assert guardian.env["JAVA_HOME"] == "/java"
    assert Path(option(guardian.argv, "checkpoints")).is_dir()


def test_only_the_asynchronous_setting_has_a_capacity() -> None:
    assert "capacity" not in SYNC.settings
    assert ASYNC.settings["capacity"] == ASYNC.capacity


def test_the_connector_and_all_packages_are_pinned_by_hash() -> None:
    (pin,) = read_pins("pyflink", PEERS / "pyflink-jars.lock")
    assert pin.coordinate.startswith("org.apache.flink:flink-sql-connector-kafka:")
    lock = (PEERS / "pyflink-requirements.lock").read_text()
    pinned = [line for line in lock.splitlines() if "==" in line]
    assert any(line.startswith("apache-flink==2.3") for line in pinned)
    assert all(line.endswith("\\") for line in pinned), "a pin without a hash"
