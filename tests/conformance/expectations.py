"""The recorded answers of the real MediaWiki: a JSON file for a group of questions, readable in a diff."""

import json
from pathlib import Path
from typing import Any, Final

from tests.conformance.playing import Records

VERSION: Final = "version.txt"
EXPECTED: Final = Path(__file__).parent / "expected"
_MOST_COLUMNS: Final = 120


def save(records: Records, version: str, folder: Path = EXPECTED) -> None:
    """Writes all groups and whose answers they are, and removes the files of others."""
    folder.mkdir(exist_ok=True)
    (folder / VERSION).write_text(f"{version}\n", encoding="utf-8")
    for file in folder.glob("*.json"):
        if file.stem not in records:
            file.unlink()
    for group, answers in records.items():
        (folder / f"{group}.json").write_text(_written(dict(answers)) + "\n", encoding="utf-8")


def load(folder: Path = EXPECTED) -> Records:
    """All groups."""
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))}


def load_version(folder: Path = EXPECTED) -> str:
    """The name and version of the software that answered, such as `MediaWiki 1.43.9`."""
    return (folder / VERSION).read_text(encoding="utf-8").strip()


def _written(value: Any, indent: int = 0) -> str:
    """JSON with what is short in one line: a header, a list of ids."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or len(line) + indent <= _MOST_COLUMNS:
        return line
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        members = [
            f"{json.dumps(key, ensure_ascii=False)}: {_written(item, indent + 1)}" for key, item in value.items()
        ]
        opening, closing = "{", "}"
    else:
        members = [_written(item, indent + 1) for item in value]
        opening, closing = "[", "]"
    return opening + "\n" + ",\n".join(inner + member for member in members) + "\n" + " " * indent + closing
