"""What a stage of the Dockerfile runs of this repository finds there all that it imports."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
_ROOMS = ("devkit", "located_config", "mockapi", "pipeline")


def copied(stage: str) -> list[str]:
    """What the stage copies from the repository itself."""
    (text,) = re.findall(
        rf"^FROM \S+ AS {stage}$(.*?)(?=^FROM |\Z)", (TOP / "Dockerfile").read_text(), re.MULTILINE | re.DOTALL
    )
    lines = re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE)
    return [source for line in lines for source in line.split()[:-1]]


def file_of(module: str) -> Path | None:
    path = TOP / module.replace(".", "/")
    return next((one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file()), None)


def imported(file: Path) -> Iterator[str]:
    """Modules of this repository that are imported with the file."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def needed(*modules: str) -> set[Path]:
    """The files of these modules, and of all that they import."""
    found: set[Path] = set()
    left = list(modules)
    while left:
        module = left.pop()
        file = file_of(module) if module.split(".")[0] in _ROOMS else None
        if file is not None and file not in found:
            found.add(file)
            left += [*imported(file), module.rpartition(".")[0]]
    return found


@pytest.mark.parametrize(
    ("stage", "modules"),
    [
        ("mock-api", ["mockapi.__main__"]),
        ("java", ["devkit.jvm.jars", "devkit.jvm.runtime"]),
        ("spark", ["pipeline.__main__", "pipeline.driver.query", "pipeline.worker.spark_task"]),
    ],
)
def test_a_stage_has_what_it_imports(stage: str, modules: list[str]) -> None:
    there = copied(stage)
    files = {str(file.relative_to(TOP)) for file in needed(*modules)}
    assert len(files) > len(modules)
    assert {file for file in files if not any(f"{file}/".startswith(f"{source}/") for source in there)} == set()
