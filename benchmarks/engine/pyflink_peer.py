"""PyFlink as a contestant, in the two settings of `benchmarks/peers/pyflink_program.py`.

Its Python is an environment of its own, its Java the kit's; the one jar that the PyFlink wheels lack, Kafka's
connector, is fetched and verified as the kit's own jars are.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.engine.contestant import Place
from benchmarks.engine.peer_environment import PEERS, peer_python
from devkit.guardian import ManagedProcess
from devkit.jvm import jars
from devkit.jvm.runtime import java_home
from devkit.programs.launch import Launch

Mode = Literal["async", "sync"]
REFERENCE = {
    "engine of pyflink async": "more than 2; prototypes without a diff had 502 events/s against the engine's 1,074",
    "engine of pyflink as it comes": "the prototypes' setting, so the figure to hold against theirs",
    "engine of pyflink sync": "more than 9; 113 events/s",
}


@dataclass(frozen=True)
class PyFlinkPeer:
    """`parallelism` subtasks with `capacity` events in flight in each (async), or one (sync).

    What crosses to Python goes in bundles; a bundle ends when all of its events have. `workers` says whether a subtask
    has a Python process or a thread of one process. `timeout_s` is Flink's own for an event, 0 for none. `plain` is
    without uvloop and igzip.
    """

    mode: Mode
    parallelism: int
    bundle_size: int
    capacity: int = 128
    bundle_time_ms: int = 1000
    timeout_s: int = 0
    workers: Literal["process", "thread"] = "process"
    plain: bool = False

    @property
    def name(self) -> str:
        return "pyflink as it comes" if self.plain else f"pyflink {self.mode}"

    @property
    def settings(self) -> dict[str, object]:
        own: dict[str, object] = (
            {"capacity": self.capacity, "timeout_s": self.timeout_s, "uvloop and igzip": not self.plain}
            if self.mode == "async"
            else {}
        )
        return {
            "parallelism": self.parallelism,
            "python.fn-execution.bundle.size": self.bundle_size,
            "python.fn-execution.bundle.time": f"{self.bundle_time_ms} ms",
            "a Python worker is a": self.workers,
            "checkpointing": "10 s, to a local directory",
            **own,
        }

    def prepare(self) -> None:
        peer_python("pyflink")
        _connector()

    def start(self, place: Place) -> list[ManagedProcess]:
        checkpoints = place.directory / "checkpoint"
        checkpoints.mkdir(parents=True)
        command = (
            str(peer_python("pyflink")),
            str(PEERS / "pyflink_program.py"),
            *("--mode", self.mode, "--workers", self.workers),
            *("--bootstrap", place.bootstrap, "--endpoint", place.endpoint),
            *("--source", place.topics.source, "--output", place.topics.out),
            *("--connector", str(_connector()), "--checkpoints", str(checkpoints)),
            *("--parallelism", str(self.parallelism), "--capacity", str(self.capacity)),
            *("--bundle-size", str(self.bundle_size), "--bundle-time-ms", str(self.bundle_time_ms)),
            *("--timeout-s", str(self.timeout_s)),
            *(["--plain"] if self.plain else []),
        )
        environment = {"JAVA_HOME": str(java_home()), "FLINK_LOG_DIR": str(place.directory)}
        name = self.name.replace(" ", "-")
        return [Launch(command, environment).spawn(place.stack.guardian, name, logs=place.directory)]


def _connector() -> Path:
    (jar,) = jars.ensure("pyflink", lock=PEERS / "pyflink-jars.lock")
    return jar


# The incident's setting, what one gets who sets nothing but the capacity, and the best that was found for this machine
# (benchmarks/peers/README.md has the others).
AS_IT_COMES = PyFlinkPeer("async", parallelism=2, bundle_size=100_000, timeout_s=240, workers="thread", plain=True)
ASYNC = PyFlinkPeer("async", parallelism=2, bundle_size=1000)
SYNC = PyFlinkPeer("sync", parallelism=16, bundle_size=1)
