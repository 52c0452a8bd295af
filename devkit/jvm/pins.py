"""The jar lock: which jars make a set, and how to know that a file is the right one.

``jars.lock`` is TOML, a table a set, a line a jar: ``"group:artifact:version" = { size = …, sha256 = "…" }``.
It names no repository: a coordinate is the same in each, and the hash decides what is accepted.
"""

import tomllib
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, RootModel, StringConstraints, ValidationError

from devkit.errors import SetupError

LOCK = Path(__file__).with_name("jars.lock")

Coordinate = Annotated[str, StringConstraints(pattern=r"^[\w.-]+:[\w.-]+:[\w.+-]+$")]


class Fingerprint(BaseModel):
    """Size and hash that a file must have to be accepted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int = Field(gt=0, description="bytes")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Pin(Fingerprint):
    """A jar by Maven coordinate (``group:artifact:version``) and fingerprint."""

    coordinate: Coordinate

    @property
    def path(self) -> PurePosixPath:
        """Where a Maven repository keeps the jar, relative to its root; the cache uses the same layout."""
        group, artifact, version = self.coordinate.split(":")
        return PurePosixPath(*group.split("."), artifact, version, f"{artifact}-{version}.jar")


class _LockFile(RootModel[dict[str, dict[Coordinate, Fingerprint]]]):
    """Sets of jars by name."""


def read_pins(jar_set: str, path: Path = LOCK) -> tuple[Pin, ...]:
    """The jars of ``jar_set`` in the order of the lock; `SetupError` for an unreadable lock or an unknown set."""
    try:
        sets = _LockFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).root
    except OSError as error:
        raise SetupError(f"cannot read the jar lock {path}: {error.strerror}", hint="reinstall the kit") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        raise SetupError(
            f"the jar lock {path} is invalid: {error}", hint="restore it, or write it again with `just lock`"
        ) from error
    if jar_set not in sets:
        raise SetupError(f"unknown jar set {jar_set!r} in {path}", hint=f"sets there: {', '.join(sorted(sets))}")
    return tuple(Pin(coordinate=name, size=mark.size, sha256=mark.sha256) for name, mark in sets[jar_set].items())
