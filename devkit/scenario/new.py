"""Writes a new scenario file: a commented one, or a copy of another scenario with a new name.

Its first line names the JSON schema of scenarios, with which an editor completes keys and marks mistakes.
"""

import os
import re
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from devkit.errors import DevkitError, UsageError
from devkit.scenario.load import SUFFIX, load_scenario
from devkit.scenario.model import ScenarioName
from devkit.scenario.new_from_capture import with_capture
from devkit.yaml_input import read_yaml
from located_config.flow import flow
from located_config.place import position
from located_config.problem import in_line

_HERE = Path(__file__).parent
SCHEMA = _HERE / "scenario.schema.json"
TEMPLATE = _HERE / "template.yaml"
_MODELINE = "# yaml-language-server: $schema="
_NAME = re.compile(r"^(name:\s*)([^\s#]+)")


def write_new(name: str, directory: Path, source: Path = TEMPLATE, capture: Path | None = None) -> Path:
    """Write `directory/NAME.yaml`, a copy of `source` with that name; the commented one may play a `capture`.

    Raises UsageError if the name is invalid, the file exists, or the copy would be invalid there, and DevkitError if it
    cannot be written. No new file is left then.
    """
    _require_name(name)
    file = directory / f"{name}{SUFFIX}"
    text = modeline(directory) + _renamed(source, name)
    if capture is not None:
        text = with_capture(text, capture, directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError as error:
        raise UsageError(
            f"{file} is there already", hint="choose another name, or another directory with --to"
        ) from error
    except OSError as error:
        raise DevkitError(
            f"{file} cannot be written: {error.strerror}", hint="choose another place with --to"
        ) from error
    try:
        load_scenario(file)
    except DevkitError as error:
        file.unlink()
        hint = f"mend {source} first, or write it beside that with --to {source.parent}"
        raise UsageError(f"a copy of {source} would not be valid in {directory}:\n{error}", hint=hint) from error
    return file


def modeline(directory: Path) -> str:
    """The line with which editors find the schema, for a file in `directory`; relative within a checkout."""
    checkout = _HERE.parents[1]
    place = directory.resolve()
    inside = place.is_relative_to(checkout) and (checkout / "pyproject.toml").exists()
    schema = Path(os.path.relpath(SCHEMA, place)) if inside else SCHEMA
    return f"{_MODELINE}{schema.as_posix()}\n"


def _require_name(name: str) -> None:
    try:
        TypeAdapter(ScenarioName).validate_python(name)
    except ValidationError as error:
        raise UsageError(f"{name!r} is no name for a scenario: {in_line(error, ScenarioName)}") from error


def _renamed(source: Path, name: str) -> str:
    """The text of a scenario file with another name, without its modeline."""
    document = read_yaml(source)
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    line, _ = position(document, ("name",))
    changed, count = _NAME.subn(lambda match: match[1] + flow(name), lines[line - 1])
    if not count or "name" not in document:
        raise UsageError(f"{source}:{line}: there is no line `name: …` to change", hint="copy the file by hand")
    lines[line - 1] = changed
    return "".join(line for line in lines if not line.startswith(_MODELINE))
