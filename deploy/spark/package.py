"""Packs what a Spark cluster's executors need: `python deploy/spark/package.py DIRECTORY`.

    pipeline.zip   the job itself, for `--py-files`
    packages.zip   its dependencies as they are installed here, for `--archives`

So executors need an interpreter of this version on this platform, and nothing installed. pyspark is Spark's own.
"""

import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

# The job, and what it shares with the kit.
SOURCES = tuple(Path(__file__).parents[2] / room for room in ("pipeline", "located_config"))
# What the job imports; what these need in turn comes along.
PACKAGES = (
    "aiohttp",
    "boto3",
    "click",
    "isal",
    "jsonschema-rs",
    "kafka-python",
    "orjson",
    "pandas",
    "prometheus-client",
    "psutil",
    "pyarrow",
    "pydantic",
    "pygit2",
    "ruamel.yaml",
    "uvloop",
)
_LEFT_OUT = {"__pycache__", "tests", "include"}


def main(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    _write(directory / "pipeline.zip", _job())
    _write(directory / "packages.zip", (file for package in needed(PACKAGES) for file in _installed(package)))


def needed(names: tuple[str, ...]) -> list[Distribution]:
    """The distributions of these names and all that they need here, without extras."""
    found: dict[str, Distribution] = {}
    wanted = list(names)
    while wanted:
        name = wanted.pop().lower().replace("_", "-")
        if name in found:
            continue
        found[name] = distribution(name)
        requirements = map(Requirement, found[name].requires or ())
        wanted += [one.name for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""})]
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
