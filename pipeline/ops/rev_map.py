"""Which revision of each entity a triple store has: CSV files without a header, `Q42,123` in a line."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import RefusedError
from pipeline.rdf.operation import ENTITY_ID

_MAX_REVISION = 2**63 - 1
_EXCERPT = 80
_FORM = "write a line for each entity, such as Q42,123: no header, no quotes, no empty line"


@dataclass(frozen=True, slots=True)
class RevMap:
    """The revision by entity; `repeated` are the lines that say once more what an earlier one says."""

    revisions: Mapping[str, int]
    repeated: int = 0


def read_rev_map(files: Iterable[Path], advance: Callable[[int], None] = lambda _bytes: None) -> RevMap:
    """The entities of all files; `advance` gets the number of bytes of each line. All of it is in memory, about 100
    bytes an entity. Raises RefusedError, which names file, line and value.
    """
    revisions: dict[str, int] = {}
    lines = 0
    for file in files:
        try:
            with file.open("rb") as content:
                for number, line in enumerate(content, 1):
                    place = f"{file}:{number}"
                    entity, revision = _parsed(line, place)
                    known = revisions.setdefault(entity, revision)
                    if known != revision:
                        raise _conflict(place, entity, revision, known)
                    lines += 1
                    advance(len(line))
        except OSError as error:
            raise RefusedError(f"--revisions {file}: cannot be read: {error.strerror}") from error
    if not revisions:
        raise RefusedError(
            "--revisions: no entity in any of the files", hint="a job begins without entities by `run --new`"
        )
    return RevMap(revisions, lines - len(revisions))


def _parsed(line: bytes, place: str) -> tuple[str, int]:
    text = line.decode(errors="replace").rstrip("\r\n")
    entity, comma, revision = text.partition(",")
    if not comma or "," in revision:
        raise RefusedError(f"{place}: {text[:_EXCERPT]!r} is not entity,revision", hint=_FORM)
    if not ENTITY_ID.fullmatch(entity):
        raise RefusedError(f"{place}: {entity[:_EXCERPT]!r} is no entity's id", hint=_FORM)
    number = int(revision) if revision.isascii() and revision.isdecimal() and len(revision) <= _EXCERPT else 0
    if not 1 <= number <= _MAX_REVISION:
        raise RefusedError(
            f"{place}: {revision[:_EXCERPT]!r} is no revision of {entity}: not a number from 1 to {_MAX_REVISION}",
            hint=_FORM,
        )
    return entity, number


def _conflict(place: str, entity: str, revision: int, known: int) -> RefusedError:
    return RefusedError(
        f"{place}: revision {revision} of {entity}, and an earlier line says {known}",
        hint="a store has one of them: make the files from the one dump that it was loaded from; nothing was written",
    )
