"""The hand-written program as a contestant: two processes, each with half of the partitions."""

from dataclasses import dataclass

from benchmarks.engine.contestant import Place
from benchmarks.engine.peer_environment import KEEP_MEMORY, PEERS, peer_python
from benchmarks.engine.workload import PARTITIONS
from devkit.guardian import ManagedProcess
from devkit.programs.launch import Launch

_REPOSITORY = PEERS.parents[1]


@dataclass(frozen=True)
class AsyncioPeer:
    """`in_flight` events at once in each process; `client` as in `benchmarks/peers/fetching.py`."""

    processes: int = 2
    in_flight: int = 128
    client: str = "raw"
    name: str = "asyncio"

    @property
    def settings(self) -> dict[str, object]:
        return {"processes": self.processes, "events in flight in each": self.in_flight, "client": self.client}

    def prepare(self) -> None:
        peer_python("asyncio")

    def start(self, place: Place) -> list[ManagedProcess]:
        python = str(peer_python("asyncio"))
        return [
            Launch(
                (
                    python,
                    str(PEERS / "asyncio_program.py"),
                    *("--bootstrap", place.bootstrap),
                    *("--source", place.topics.source, "--out", place.topics.out),
                    *("--endpoint", place.endpoint),
                    *("--partitions", ",".join(map(str, range(number, PARTITIONS, self.processes)))),
                    *("--in-flight", str(self.in_flight)),
                    *("--client", self.client),
                ),
                {"PYTHONPATH": f"{_REPOSITORY}:{PEERS}"} | KEEP_MEMORY,
            ).spawn(place.stack.guardian, f"asyncio-{number}", logs=place.directory)
            for number in range(self.processes)
        ]
