"""Where each published event lies in Kafka, and the fate it must meet: what the delivery audit reads.

One JSON object a line: `{"topic": …, "partition": …, "offset": …, "expected": {…}}`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from devkit.errors import InvalidFileError, Problem, UsageError
from devkit.traffic.records import Expected
from located_config.problem import problems


class ManifestEntry(BaseModel):
    """One published event, known by its source position."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    topic: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)
    expected: Expected


@dataclass(frozen=True, slots=True)
class Manifest:
    """The events that a broker has acknowledged, in the order in which they were made."""

    entries: tuple[ManifestEntry, ...]

    def write(self, path: Path) -> None:
        """Writes JSON lines, replacing the file."""
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(entry.model_dump_json(exclude_defaults=True) + "\n" for entry in self.entries)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads what `write` wrote; raises UsageError without a file, InvalidFileError naming the line."""
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            raise UsageError(f"there is no manifest {path}", hint="a run writes one when its traffic is out") from None
        return cls(tuple(_parse(path, number, line) for number, line in enumerate(lines, 1) if line))


def _parse(path: Path, number: int, line: bytes) -> ManifestEntry:
    try:
        return ManifestEntry.model_validate_json(line)
    except ValidationError as error:
        found = [Problem(number, 1, str(problem)) for problem in problems(error, ManifestEntry)]
        raise InvalidFileError(path, found, hint="let the run write its manifest again") from error
