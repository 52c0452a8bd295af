"""Packs what a Spark cluster's executors need: `python deploy/spark/package.py DIRECTORY`.

    pipeline.zip   the job itself, for `--py-files`
    packages.zip   its dependencies as they are installed here, for `--archives`

So executors need an interpreter of this version on this platform, and nothing installed. pyspark is Spark's own.
"""

import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# The job, and what it shares with the kit.
SOURCES = tuple(Path(__file__).parents[2] / room for room in ("pipeline", "located_config"))
# Spark's own, on every node.
_SPARKS = {"pyspark", "py4j"}
_LEFT_OUT = {"__pycache__", "tests", "include", "pyproject.toml"}


def main(directory: Path) -> None:
    """Write `pipeline.zip` and what belongs beside it into the directory, which is made where it is missing."""
    directory.mkdir(parents=True, exist_ok=True)
    _write(directory / "pipeline.zip", _job())
    _write(directory / "packages.zip", (file for package in needed(declared()) for file in _installed(package)))


def declared() -> list[Requirement]:
    """What the distributions of the sources need, but for one another and for Spark."""
    projects = [tomllib.loads((source / "pyproject.toml").read_text())["project"] for source in SOURCES]
    left_out = _SPARKS | {project["name"] for project in projects}
    requirements = [
        Requirement(text)
        for project in projects
        for text in (*project["dependencies"], *project.get("optional-dependencies", {}).get("spark", ()))
    ]
    return [one for one in requirements if one.name not in left_out]


def needed(wanted: list[Requirement]) -> list[Distribution]:
    """The distributions that these requirements name, with their extras, and all that they need here."""
    found: dict[str, Distribution] = {}
    seen = set[tuple[str, str]]()
    left = [(one.name, extra) for one in wanted for extra in ("", *one.extras)]
    while left:
        name, extra = left.pop()
        name = canonicalize_name(name)
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        found[name] = distribution(name)
        inner = [Requirement(text) for text in found[name].requires or ()]
        fitting = [one for one in inner if one.marker is None or one.marker.evaluate({"extra": extra})]
        left += [(one.name, each) for one in fitting for each in ("", *one.extras)]
    return list(found.values())


def _job() -> Iterator[tuple[Path, str]]:
    for source in SOURCES:
        for path in sorted(source.rglob("*")):
            yield path, str(path.relative_to(source.parent))


def _installed(package: Distribution) -> Iterator[tuple[Path, str]]:
    for file in package.files or ():
        # Commands and the like lie beside the packages' directory.
        if ".." not in file.parts:
            yield Path(str(file.locate())), str(file)


def _write(archive: Path, files: Iterator[tuple[Path, str]]) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1, strict_timestamps=False) as written:
        for path, name in files:
            if not _LEFT_OUT & set(Path(name).parts) and path.is_file():
                written.write(path, name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
