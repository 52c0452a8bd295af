"""Parts of a stack, and the processes they run as, that a test decides about."""

import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from devkit.guardian import Guardian, ManagedProcess
from devkit.stack.parts.part import Lever, Part


@dataclass
class FakeProcess:
    name: str = "kafka"
    exit_code: int | None = None
    words: str = "it said this at last"
    stdout: Path = Path("/nowhere/kafka.out")
    stderr: Path = Path("/nowhere/kafka.log")
    pid: int = 1
    container: None = None
    signals: list[signal.Signals] = field(default_factory=list)
    ends_by: signal.Signals | None = None
    """It ends by the first of these that comes."""

    def signal(self, number: signal.Signals) -> None:
        if self.exit_code is None:
            self.signals.append(number)
            if number == self.ends_by:
                self.exit_code = -number

    def last_words(self, lines: int = 5) -> str:
        return self.words

    def require_guardian(self) -> None:
        """The guardian is well."""

    def managed(self) -> ManagedProcess:
        return cast(ManagedProcess, self)


@dataclass
class FakeGuardian:
    """Remembers what it was asked to start."""

    directory: Path
    started: list[tuple[str, list[str], dict[str, str]]] = field(default_factory=list)
    processes: list[FakeProcess] = field(default_factory=list)
    succeeded: list[int] = field(default_factory=list)

    def spawn(
        self,
        name: str,
        argv: list[str],
        *,
        logs: Path,
        env: dict[str, str] | None = None,
        split: bool = False,
        succeeds: int | None = None,
        scratch: Path | None = None,
        program: bool = False,
    ) -> FakeProcess:
        self.started.append((name, list(argv), env or {}))
        self.succeeded += [] if succeeds is None else [succeeds]
        pid = 100 + len(self.processes)
        self.processes.append(FakeProcess(name, stdout=logs / f"{name}.out", stderr=logs / f"{name}.log", pid=pid))
        return self.processes[-1]

    def require_running(self) -> None:
        """It is well."""

    def real(self) -> Guardian:
        return cast(Guardian, self)


@dataclass
class FakePart(Part):
    """A part of the stack that the test decides about; remembers which levers were pulled."""

    process: FakeProcess = field(default_factory=FakeProcess)
    address: str = "127.0.0.1:1"  # type: ignore[assignment]
    pulled: list[Lever] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.process.name

    @property
    def life(self) -> ManagedProcess:
        return self.process.managed()

    def refusal(self, lever: Lever) -> str | None:
        return None

    def pull(self, lever: Lever) -> None:
        self.pulled.append(lever)
