"""What an operator takes from a page of docs/runbooks: its sections, with the commands and settings in each.

```console      `$ ` a command, and below it what it prints: `…` stands for the rest of a line or a part of it,
                and on a line of its own for any number of lines
```yaml         keys of the job's file, to be set before the commands that follow
"""

import re
from dataclasses import dataclass
from pathlib import Path

RUNBOOKS = Path(__file__).parents[1] / "docs" / "runbooks"
PAGES = tuple(sorted(path for path in RUNBOOKS.glob("*.md") if path.name != "index.md"))

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ELISION = "…"


@dataclass(frozen=True)
class Command:
    """A command line, and what the page shows of its output."""

    text: str
    expected: tuple[str, ...]

    def pattern(self) -> re.Pattern[str]:
        """What the whole output has to match."""
        return re.compile("".join(map(_line_pattern, self.expected)))


@dataclass(frozen=True)
class Settings:
    """Keys of the job's file, as YAML."""

    text: str


@dataclass(frozen=True)
class Section:
    """Below a heading; `languages` are those of its code blocks."""

    heading: str
    text: str
    parts: tuple[Command | Settings, ...]
    languages: frozenset[str]

    @property
    def commands(self) -> tuple[Command, ...]:
        """In their order."""
        return tuple(part for part in self.parts if isinstance(part, Command))


def sections(page: str) -> tuple[Section, ...]:
    """Of a page's text, by its headings of the second level."""
    found = []
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        blocks = _FENCE.findall(text)
        parts: list[Command | Settings] = []
        for language, content in blocks:
            if language == "console":
                parts += _commands(content)
            elif language == "yaml":
                parts.append(Settings(content))
        found.append(Section(heading.strip(), text, tuple(parts), frozenset(language for language, _ in blocks)))
    return tuple(found)


def _commands(content: str) -> list[Command]:
    commands: list[Command] = []
    for line in content.splitlines():
        if line.startswith("$ "):
            commands.append(Command(line[2:], ()))
        else:
            last = commands.pop()
            commands.append(Command(last.text, (*last.expected, line)))
    return commands


def _line_pattern(line: str) -> str:
    if line == _ELISION:
        return r"(?:.*\n)*?"
    return ".*".join(re.escape(part) for part in line.split(_ELISION)) + r"\n"
