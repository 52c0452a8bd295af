"""What is shipped to a cluster: the job and all that it imports."""

import ast
import runpy
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGE = Path(__file__).parents[3] / "deploy" / "spark" / "package.py"


@pytest.fixture(scope="module")
def packing() -> dict[str, object]:
    return runpy.run_path(str(PACKAGE))


def test_the_dependencies_of_what_is_named_come_along(packing: dict[str, object]) -> None:
    needed = packing["needed"]
    assert callable(needed)
    wanted = [Requirement(text) for text in ("aiohttp", "pygit2", "boto3>=1.35", "kafka-python[crc32c]")]
    names = {canonicalize_name(found.name) for found in needed(wanted)}
    assert names >= {"aiohttp", "yarl", "multidict", "pygit2", "cffi", "pycparser", "boto3", "urllib3", "crc32c"}
    assert not names & {"pyspark", "pytest", "faker"}


def test_all_that_the_job_imports_is_shipped(packing: dict[str, object]) -> None:
    """Left out: what the cluster's Spark brings, and stubs."""
    needed, declared, sources = packing["needed"], packing["declared"], packing["SOURCES"]
    assert callable(needed)
    assert callable(declared)
    assert isinstance(sources, tuple)
    shipped = {canonicalize_name(found.name) for found in needed(declared())}
    assert not shipped & {"pyspark", "py4j"}
    assert shipped >= {"cramjam", "lz4", "python-snappy", "zstandard"}, "by which kafka-python reads what is compressed"
    owners = packages_distributions()
    brought = {*(source.name for source in sources), "pyspark", "py4j"}
    others = {name for source in sources for path in source.rglob("*.py") for name in imported(path)} - brought
    missing = {
        name
        for name in others - sys.stdlib_module_names
        if not name.startswith("mypy_boto3") and not shipped & set(map(canonicalize_name, owners.get(name, [])))
    }
    assert not missing


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]
