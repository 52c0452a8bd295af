"""What is shipped to a cluster: the job and all that it imports."""

import ast
import runpy
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "deploy" / "spark" / "package.py"


@pytest.fixture(scope="module")
def packing() -> dict[str, object]:
    return runpy.run_path(str(PACKAGE))


def test_the_dependencies_of_what_is_named_come_along(packing: dict[str, object]) -> None:
    needed = packing["needed"]
    assert callable(needed)
    names = {found.name.lower().replace("_", "-") for found in needed(("aiohttp", "pygit2", "boto3"))}
    assert names >= {"aiohttp", "yarl", "multidict", "pygit2", "cffi", "pycparser", "boto3", "botocore", "urllib3"}
    assert not names & {"pyspark", "pytest", "faker"}


def test_all_that_the_job_imports_is_named(packing: dict[str, object]) -> None:
    """Left out: what the cluster's Spark brings, and stubs."""
    needed, packages, pipeline = packing["needed"], packing["PACKAGES"], packing["PIPELINE"]
    assert callable(needed)
    assert isinstance(pipeline, Path)
    shipped = {found.name.lower().replace("_", "-") for found in needed(packages)}
    owners = packages_distributions()
    others = {name for path in pipeline.rglob("*.py") for name in imported(path)} - {"pipeline", "pyspark", "py4j"}
    missing = {
        name
        for name in others - sys.stdlib_module_names
        if not name.startswith("mypy_boto3")
        and not shipped & {owner.lower().replace("_", "-") for owner in owners.get(name, [])}
    }
    assert not missing


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def test_the_job_can_be_imported_from_its_archive(packing: dict[str, object], tmp_path: Path) -> None:
    """Its schemas are read from there too."""
    write, files, pipeline = packing["_write"], packing["_files"], packing["PIPELINE"]
    assert callable(write)
    assert callable(files)
    assert isinstance(pipeline, Path)
    archive = tmp_path / "pipeline.zip"
    write(archive, ((path, f"pipeline/{path.relative_to(pipeline)}") for path in files(pipeline)))
    with zipfile.ZipFile(archive) as written:
        assert not [name for name in written.namelist() if "__pycache__" in name]
    code = (
        f"import sys; sys.path.insert(0, {str(archive)!r}); import pipeline.worker; print(pipeline.worker.__file__);"
        "from pipeline import schemas; schemas.page_change_validator(); schemas.error_validator()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{archive}/pipeline/worker.py"
