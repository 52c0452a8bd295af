"""A process of the stack that the test decides about."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from devkit.guardian import Guardian, ManagedProcess


@dataclass
class FakeProcess:
    name: str = "kafka"
    exit_code: int | None = None
    words: str = "it said this at last"
    stdout: Path = Path("/nowhere/kafka.out")
    stderr: Path = Path("/nowhere/kafka.log")

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

    def spawn(
        self, name: str, argv: list[str], *, logs: Path, env: dict[str, str] | None = None, split: bool = False
    ) -> FakeProcess:
        self.started.append((name, list(argv), env or {}))
        return FakeProcess(name, stdout=logs / f"{name}.out", stderr=logs / f"{name}.log")

    def real(self) -> Guardian:
        return cast(Guardian, self)
