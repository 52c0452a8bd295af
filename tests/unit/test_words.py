"""The project says one thing with one word, the field's, wherever a person reads: names, messages, help texts, docs."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
READ = (
    "devkit",
    "located_config",
    "mockapi",
    "pipeline",
    "deploy",
    "docs",
    "scenarios",
    "README.md",
    "CHANGELOG.md",
    "justfile",
    "justw",
)
SUFFIXES = {".py", ".md", ".html", ".js", ".yaml", ".json", ".toml", ""}
INSTEAD = {
    "put aside, put away": "deferred",
    "puts aside": "defers",
    "work off, works off, worked off, work it off, work them off, works them off": "process, drain",
    "in force": "effective",
    "stopped in order": "stopped gracefully",
    "unwell, sick": "unhealthy",
    "so often, so many, so long": "number of …, for …",
    "nobody, somebody, whoever": "the client, the consumer, the operator: name who",
    "of one's own": "program under test",
    "truthful": "well-formed",
    "speaks of the moment": "is transient",
    "aftermath": "collection",
    "unseen": "not observable",
    "visits": "leases",
    "pages met, requests met, met requests": "matched",
    "out of force": "no longer effective, removed",
    "times left, ttl left": "remaining",
    "left queue": "dequeued",
    "left as error event, left as output, never left": "emitted",
}
WORDS = {word: better for words, better in INSTEAD.items() for word in words.split(", ")}
# Between two words: in a name an underscore, and in a text perhaps a line's end and the mark of a comment.
_GAP = r"(?:_|\s+(?:# ?|// ?|\* ?)?)"
PATTERN = re.compile(
    r"(?<![a-zA-Z])(" + "|".join(_GAP.join(map(re.escape, word.split())) for word in WORDS) + r")(?![a-zA-Z])",
    re.IGNORECASE,
)


def found_in(text: str, place: str) -> Iterator[str]:
    for match in PATTERN.finditer(text):
        word = re.sub(_GAP, " ", match[0]).lower()
        line = text.count("\n", 0, match.start()) + 1
        # "as long as" is another matter, and so is what quotes it.
        if not (word == "so long" and re.match(r"\s+as\b", text[match.end() :])):
            yield f"{place}:{line}: {word!r}: say {WORDS[word]!r}"


def files() -> list[str]:
    listed = subprocess.run(["git", "ls-files", *READ], cwd=TOP, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split() if Path(name).suffix in SUFFIXES and (TOP / name).is_file()]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("records that are put\n    # aside", "deferred"),
        ("settings_in_force", "effective"),
        ("Nobody knows.", "the client"),
        ("it is done so\nlong", "number of"),
        ("ttl_left_s = 3", "remaining"),
    ],
)
def test_what_is_to_be_found_is_found(text: str, word: str) -> None:
    (line,) = found_in(text, "a.py")
    assert word in line


@pytest.mark.parametrize("text", ["homesick", "so long as it lasts", "input asides", "reinforce"])
def test_what_only_looks_like_it_is_not(text: str) -> None:
    assert list(found_in(text, "a.py")) == []


@pytest.mark.starts_process("git lists the files")
def test_what_people_read_uses_the_words_of_the_field() -> None:
    names = files()
    assert len(names) > 500, "nothing to look at"
    problems = [line for name in names for line in found_in((TOP / name).read_text(), name)]
    assert not problems, "\n".join(problems)
