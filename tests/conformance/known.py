"""The differences that are known, and why they are there: `differences.yaml`.

An entry covers every difference whose question and place fit its patterns, the first entry that fits taking it. It says
how many it covers: one more or one fewer is news, and fails.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import yaml

from tests.conformance.compare import Difference, differences
from tests.conformance.playing import Records

DIFFERENCES: Final = Path(__file__).parent / "differences.yaml"
_MEMBERS: Final = {"why", "group", "question", "place", "count"}


@dataclass(frozen=True)
class Found:
    """A difference with the question that it was found by."""

    group: str
    question: str
    difference: Difference

    def __str__(self) -> str:
        difference = self.difference
        return (
            f"{self.group}: {self.question}\n  {difference.place}\n"
            f"    real: {difference.real}\n    mock: {difference.mock}"
        )


@dataclass(frozen=True)
class Known:
    """One entry; the patterns are the shell's, `*` and `?`; one question and one place have to fit."""

    why: str
    group: str
    questions: tuple[str, ...]
    places: tuple[str, ...]
    count: int

    def covers(self, found: Found) -> bool:
        """Whether a difference is this one."""
        return (
            fnmatchcase(found.group, self.group)
            and any(fnmatchcase(found.question, question) for question in self.questions)
            and any(fnmatchcase(found.difference.place, place) for place in self.places)
        )


@dataclass(frozen=True)
class Comparison:
    """What came of comparing two sets of records: how many answers each group has, and all differences."""

    compared: Mapping[str, int]
    found: tuple[Found, ...]

    def differing(self, group: str) -> int:
        """How many answers of a group are not the same in everything."""
        return len({found.question for found in self.found if found.group == group})


def compare(real: Records, mock: Records) -> Comparison:
    """Both must have the same questions; raises ValueError with those that one lacks, or when there are none."""
    names = [{(group, name) for group, answers in records.items() for name in answers} for records in (real, mock)]
    if names[0] != names[1]:
        lacking = [sorted(map(" | ".join, names[0] ^ names[1]))][:5]
        raise ValueError(f"not asked of both: {lacking}\nhint: record again with `just conformance`")
    found = tuple(
        Found(group, name, difference)
        for group, answers in real.items()
        for name, record in answers.items()
        for difference in differences(record, mock[group][name])
    )
    if not names[0]:
        raise ValueError("nothing was compared")
    return Comparison({group: len(answers) for group, answers in real.items()}, found)


def load_known(file: Path = DIFFERENCES) -> list[Known]:
    """All entries. Raises ValueError with what is wrong in which."""
    known = []
    for number, entry in enumerate(yaml.safe_load(file.read_text(encoding="utf-8")) or []):
        known.append(_known(entry, f"{file.name}, entry {number + 1}"))
    return known


def count(known: Iterable[Known], comparison: Comparison) -> tuple[Counter[int], list[Found]]:
    """How many differences each entry covers, by its place in the list; and the ones that none does."""
    entries = list(known)
    counts: Counter[int] = Counter()
    news: list[Found] = []
    for found in comparison.found:
        entry = covering(entries, found)
        if entry is None:
            news.append(found)
        else:
            counts[entry] += 1
    return counts, news


def covering(known: Iterable[Known], found: Found) -> int | None:
    """The place in the list of the entry that takes a difference; None when none does."""
    return next((number for number, entry in enumerate(known) if entry.covers(found)), None)


def write_counts(counts: Mapping[int, int], file: Path = DIFFERENCES) -> None:
    """Puts the counts into the file; entries that cover nothing any more are left for a person to remove."""
    entries = iter(range(len(load_known(file))))
    lines = [
        f"  count: {counts.get(next(entries), 0)}" if line.startswith("  count:") else line
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _known(entry: Mapping[str, Any], where: str) -> Known:
    if unknown := set(entry) - _MEMBERS:
        raise ValueError(f"{where}: unknown members {sorted(unknown)}; known are {sorted(_MEMBERS)}")
    if not entry.get("why") or "count" not in entry:
        raise ValueError(f"{where}: `why` and `count` are needed")
    return Known(
        why=entry["why"],
        group=entry.get("group", "*"),
        questions=_listed(entry.get("question", "*")),
        places=_listed(entry.get("place", "*")),
        count=entry["count"],
    )


def _listed(patterns: str | list[str]) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else tuple(patterns)
