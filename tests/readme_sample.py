"""The output that the README shows, as what a run's output must have: its words in their order, with other figures."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
_GAP = re.compile(r"\[…\]|\n(?= *\d+\.\ds )")  # between two lines of progress there may always be others
_FIGURES = re.compile(r"\d[\d,.:]*")


def sample() -> list[str]:
    """The parts of the first console block below its command, between the gaps that it shows."""
    block = re.search(r"```console\n\$ [^\n]+\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert block, "the README shows a command and its output"
    return [part for part in (" ".join(text.split()) for text in _GAP.split(block[1])) if part]


def missing_from(output: str) -> list[str]:
    """The parts of the sample that an output has not, in the sample's order. Line breaks and figures do not count."""
    text, at, missing = " ".join(output.split()), 0, []
    for part in sample():
        found = re.compile(_pattern(part)).search(text, at)
        if found is None:
            missing.append(part)
        else:
            at = found.end()
    return missing


def _pattern(part: str) -> str:
    literal = [re.escape(piece) for piece in _FIGURES.split(part)]
    return _FIGURES.pattern.join(literal)
