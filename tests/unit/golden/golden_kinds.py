"""The kinds of input with golden cases, and how each is tried."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from devkit.errors import UsageError
from devkit.scenario.load import load_file
from mockapi.errors import MockapiError
from mockapi.inputs import load_rules
from pipeline.config.config_file import load_config
from pipeline.errors import RefusedError
from tests.unit.command_run import run_command
from tests.unit.golden.case_file import Case, read_cases

HERE = Path(__file__).parent
E = TypeVar("E", bound=Exception)


@dataclass(frozen=True)
class Kind:
    """A file of cases, the base of their inputs, and what tells of one input in an empty working directory."""

    name: str
    base: Path | None
    refusal: Callable[[Case, str], str]

    @property
    def file(self) -> Path:
        return HERE / f"{self.name}.txt"

    def tried(self, case: Case) -> str:
        """What is said of the case today."""
        text = case.text(self.base.read_text() if self.base else "")
        with TemporaryDirectory() as directory, contextlib.chdir(directory):
            return self.refusal(case, text)


def _of_scenario(case: Case, text: str) -> str:
    """The refusal of a scenario file, or its warnings."""
    unchecked, written = "--unchecked" in case.words, [word for word in case.words if "=" in word]
    path = Path("s.yaml")
    path.write_text(text)
    try:
        return "\n".join(load_file(path, written, unchecked=unchecked).warnings())
    except UsageError as error:
        return "\n".join([str(error), *([f"hint: {error.hint}"] if error.hint else [])])


def _of_file(
    name: str, load: Callable[[Path], object], error: type[E], shown: Callable[[E], str]
) -> Callable[[Case, str], str]:
    """The refusal of a file that is read by itself, as a person sees it."""

    def refusal(_: Case, text: str) -> str:
        path = Path(name)
        path.write_text(text)
        try:
            load(path)
        except error as refused:
            return shown(refused)
        return ""

    return refusal


def _of_command_line(case: Case, text: str) -> str:
    """The exit code of a command line, and what it says on standard error; the text is that of ./scenarios/s.yaml."""
    program, *arguments = case.words
    Path("scenarios").mkdir()
    Path("scenarios/s.yaml").write_text(text)
    run = run_command(program, *arguments, DEVKIT_CACHE="cache", COLUMNS="120")
    return f"exit {run.code}\n{run.err}"


_INCIDENT = HERE.parent / "devkit" / "scenario" / "incident.yaml"
KINDS = (
    Kind("scenario_files", _INCIDENT, _of_scenario),
    Kind(
        "configuration_files",
        HERE / "pipeline.yaml",
        _of_file("pipeline.yaml", load_config, RefusedError, RefusedError.render),
    ),
    Kind("mock_rules", None, _of_file("rules.yaml", load_rules, MockapiError, str)),
    Kind("command_lines", _INCIDENT, _of_command_line),
)


def cases() -> Iterator[tuple[Kind, Case]]:
    """All cases of all kinds."""
    for kind in KINDS:
        for case in read_cases(kind.file):
            yield kind, case
