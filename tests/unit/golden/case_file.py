"""Golden cases: an input and the exact text of its refusal, in one readable file for each kind of input.

    # an unknown key at the top                  the case's name
    $ --set traffic.rate=5/s                     words of the command line, where there are any
    5-time_scale: 60                             line 5 of the base file goes,
    5+time_scal: 60                              and this line stands behind where line 5 was
    = 5:1: time_scal: unknown key; did you …     the expected text, line by line

A line that is added before the first one has the number 0.
"""

import difflib
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

_CHANGE = re.compile(r"(\d+)([-+])(.*)", re.DOTALL)


@dataclass(frozen=True)
class Case:
    """An input, as changes of a base text, and what is expected of it."""

    name: str
    words: tuple[str, ...] = ()
    changes: tuple[tuple[int, str, str], ...] = ()
    expected: tuple[str, ...] = ()

    def text(self, base: str) -> str:
        """The input file."""
        lines = base.splitlines(keepends=True)
        gone = {number for number, sign, _ in self.changes if sign == "-"}
        added = [(number, line) for number, sign, line in self.changes if sign == "+"]
        result = list[str]()
        for number in range(len(lines) + 1):
            if number and number not in gone:
                result.append(lines[number - 1])
            result += [f"{line}\n" for at, line in added if at == number]
        return "".join(result)

    def expecting(self, text: str) -> "Case":
        """The same input with another expected text."""
        return replace(self, expected=tuple(text.splitlines()))


def changes_of(base: str, text: str) -> Iterator[tuple[int, str, str]]:
    """The changes that make `text` of `base`."""
    before, after = base.splitlines(), text.splitlines()
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if tag != "equal":
            yield from ((number + 1, "-", before[number]) for number in range(start, end))
            yield from ((end, "+", line) for line in after[new_start:new_end])


def read_cases(path: Path) -> list[Case]:
    """All cases of a file. Raises ValueError for a line that is none of a case."""
    cases = list[Case]()
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if line.startswith("# "):
            cases.append(Case(line[2:]))
        elif line.startswith("$ "):
            cases[-1] = replace(cases[-1], words=tuple(shlex.split(line[2:])))
        elif line.startswith("="):
            cases[-1] = replace(cases[-1], expected=(*cases[-1].expected, line[2:]))
        elif change := _CHANGE.fullmatch(line):
            at, sign, text = change.groups()
            cases[-1] = replace(cases[-1], changes=(*cases[-1].changes, (int(at), sign, text)))
        elif line:
            raise ValueError(f"{path}:{number}: not a line of a case: {line}")
    return cases


def write_cases(path: Path, cases: Sequence[Case]) -> None:
    """Replaces the file."""
    path.write_text("\n".join("\n".join(_lines(case)) + "\n" for case in cases))


def _lines(case: Case) -> Iterable[str]:
    yield f"# {case.name}"
    if case.words:
        yield f"$ {shlex.join(case.words)}"
    yield from (f"{number}{sign}{line}" for number, sign, line in case.changes)
    yield from (f"= {line}".rstrip() for line in case.expected)
