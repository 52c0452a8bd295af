"""Each distribution does its work where it is installed from its wheel, with nothing of this checkout within reach."""

import json
import re
import signal
import subprocess
import tarfile
import threading
import tomllib
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.packages.conftest import DISTRIBUTIONS, TOP, Installed

ROOMS = ("located_config", "mockapi", "mockapi/pytest", "pipeline", "devkit")
pytestmark = pytest.mark.slow

Install = Callable[[str], Installed]
# Imports every module of a package, but for what is run and the plugin of a pytest that need not be there.
IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
    if not module.name.endswith("__main__") and not module.name.startswith(("devkit.pytest", "mockapi.pytest")):
        importlib.import_module(module.name)
print(package.__file__)
"""
PACKAGES = ("located_config", "mockapi", "pipeline", "devkit")


def is_importable(installed: Installed, room: str) -> bool:
    return installed.run("python", "-c", f"import {room}").returncode == 0


def all_modules(installed: Installed, room: str) -> None:
    """Import them, from the environment."""
    assert str(installed.environment) in installed.must("python", "-c", IMPORT_ALL, room)


def test_a_wheel_has_all_that_is_read_at_run_time(built: Path) -> None:
    """What is no Python, by its place in the checkout; the scenarios lie in the kit's package."""
    packed = {name for wheel in built.glob("*.whl") for name in zipfile.ZipFile(wheel).namelist()}
    tracked = subprocess.run(["git", "ls-files", *PACKAGES], cwd=TOP, capture_output=True, text=True, check=True).stdout
    files = {name for name in tracked.splitlines() if Path(name).name not in {"LICENSE", "pyproject.toml"}}
    shipped = {f"devkit/scenario/shipped/{path.name}" for path in (TOP / "scenarios").glob("*.yaml")}
    assert shipped
    assert (files | shipped) - packed == set()
    metadata = {name for name in packed if ".dist-info/" in name}
    assert {
        name for name in packed - files - shipped - metadata if not name.startswith("devkit/scenario/shipped/")
    } == set()


def test_every_wheel_and_source_distribution_has_the_licence(built: Path) -> None:
    wheels, sources = sorted(built.glob("*.whl")), sorted(built.glob("*.tar.gz"))
    assert (len(wheels), len(sources)) == (len(DISTRIBUTIONS), len(DISTRIBUTIONS))
    for wheel in wheels:
        assert [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/licenses/LICENSE")], (
            wheel
        )
    for source in sources:
        with tarfile.open(source) as archive:
            (licence,) = (
                one for one in archive.getmembers() if one.name.count("/") == 1 and one.name.endswith("/LICENSE")
            )
            assert licence.isfile()


def test_what_is_shared_stands_alone(install: Install) -> None:
    installed = install("enrichment-located-config")
    output = installed.must(
        "python", "-c", "from located_config.duration import parse_duration; print(parse_duration('90s'))"
    )
    assert output == "0:01:30\n"
    all_modules(installed, "located_config")
    assert not any(is_importable(installed, room) for room in ("mockapi", "pipeline", "devkit"))


def test_the_mock_stands_alone_and_serves(install: Install) -> None:
    installed = install("enrichment-mockapi")
    all_modules(installed, "mockapi")
    assert not any(is_importable(installed, room) for room in ("pipeline", "devkit", "pyspark"))
    mock = subprocess.Popen(
        [installed.command("mockapi"), "--port", "0"], cwd=installed.here, stdout=subprocess.PIPE, text=True
    )
    # A mock that never says it is ready is ended, and so is the wait for its line.
    patience = threading.Timer(120, mock.kill)
    patience.start()
    try:
        assert mock.stdout
        ready, _, address = mock.stdout.readline().strip().partition("http://")
        assert ready == "mockapi ready on "
        with urllib.request.urlopen(
            f"http://{address}/w/api.php?action=query&meta=siteinfo&format=json", timeout=60
        ) as answer:
            assert json.load(answer)["query"]["general"]["sitename"]
        mock.send_signal(signal.SIGTERM)
        assert mock.wait(timeout=60) == 0
    finally:
        patience.cancel()
        mock.kill()
        mock.communicate()


def test_the_pipeline_stands_alone_and_reads_its_configuration(install: Install) -> None:
    installed = install("enrichment-pipeline[spark]")
    all_modules(installed, "pipeline")
    assert not any(is_importable(installed, room) for room in ("mockapi", "devkit", "pytest"))
    assert "deferred" in installed.must("python", "-m", "pipeline", "--help")
    text = (TOP / "deploy" / "spark" / "pipeline.yaml").read_text()
    (installed.here / "wrong.yaml").write_text(text.replace("checkpoint:", "checkpont:", 1))
    refused = installed.run("python", "-m", "pipeline", "run", "html-enrichment", "--config", "wrong.yaml")
    assert refused.returncode == 2
    assert "did you mean 'checkpoint'?" in refused.stderr


def test_the_kit_plays_its_main_incident(install: Install) -> None:
    """Outside of a checkout, with the scenario, the jars' lock and the broker's configuration from the wheel."""
    installed = install("enrichment-devkit[spark]")
    all_modules(installed, "devkit")
    assert not is_importable(installed, "pytest")
    version = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]["version"]
    assert installed.must("devkit", "--version") == f"devkit {version}\n"
    names = [line.split()[0] for line in installed.must("devkit", "scenario", "list").splitlines()]
    assert names == sorted(path.stem for path in (TOP / "scenarios").glob("*.yaml"))
    for name in names:
        assert ": valid\n" in installed.must("devkit", "scenario", "check", name)
    played = installed.must("devkit", "scenario", "run", "oversized-message", "--json")
    assert json.loads(played)["exit_code"] == 0
    assert list(installed.here.glob("runs/*/*/report.html"))


def test_the_plugin_of_the_kit_needs_no_spark(install: Install) -> None:
    installed = install("enrichment-devkit[pytest]")
    assert not any(is_importable(installed, module) for module in ("pyspark", "pyarrow", "pandas"))
    write_example(installed.here, "kafka, mock_api")
    assert "1 passed" in installed.must("python", "-m", "pytest", "-q", "-W", "error", "-p", "devkit.pytest")
    refused = installed.run("devkit", "scenario", "run", "oversized-message")
    assert (refused.returncode, "pip install 'enrichment-devkit[spark]'" in refused.stderr) == (3, True), refused
    refused = installed.run("python", "-m", "pipeline", "state", "show", "--config", "job.yaml")
    assert (refused.returncode, "pip install 'enrichment-pipeline[spark]'" in refused.stderr) == (2, True), refused


def test_the_plugin_of_the_mock_needs_nothing_of_the_kit(install: Install) -> None:
    installed = install("enrichment-mockapi[pytest]")
    assert not any(is_importable(installed, module) for module in ("devkit", "kafka", "pyspark"))
    write_example(installed.here, "mock_api")
    assert "1 passed" in installed.must("python", "-m", "pytest", "-q", "-W", "error", "-p", "mockapi.pytest")


def write_example(directory: Path, fixtures: str) -> None:
    """The suite of docs/pytest.md; without Kafka it gives the revision itself."""
    (example,) = re.findall(r"```python\n(.*?)```", (TOP / "docs" / "pytest.md").read_text(), re.DOTALL)
    if "kafka" not in fixtures:
        lines = [line for line in example.splitlines() if "kafka." not in line]
        example = (
            "\n".join(lines)
            .replace("kafka, mock_api", fixtures)
            .replace('json.loads(record.value)["revision"]', "28674")
        )
    (directory / "test_fetch.py").write_text(example)
