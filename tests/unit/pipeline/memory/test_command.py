from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.__main__ import main
from tests.unit.pipeline.least_config import write_config


@pytest.mark.parametrize("limit", ["4GiB", "4294967296"])
def test_it_prints_parts_and_settings(limit: str) -> None:
    result = CliRunner().invoke(main, ["memory", "--memory-limit", limit, "--slots", "4"])
    assert result.exit_code == 0
    assert result.stdout.startswith("4096 MiB for this process and its children, 4 slots, 1 of them for slow rounds\n")
    assert "fetch.max_in_flight_bytes: " in result.stdout
    assert "--conf spark.driver.memory=" in result.stdout


def test_a_cluster_gets_lines_for_spark_submit(tmp_path: Path) -> None:
    file = write_config(tmp_path, sink={"max.request.size": "20MiB"})
    arguments = ["--memory-limit", "8GiB", "--slots", "4", "--config", str(file), "--master", "spark://here:7077"]
    result = CliRunner().invoke(main, ["memory", *arguments])
    assert result.exit_code == 0
    assert result.stdout.startswith("8192 MiB for an executor")
    for key in ("spark.executor.memory", "spark.executor.memoryOverhead", "spark.driver.memoryOverhead"):
        assert f"--conf {key}=" in result.stdout


@pytest.mark.parametrize(
    ("limit", "message"), [("1GiB", "is too small for 4 slots: they take at least"), ("4gb", "write 4GB")]
)
def test_a_wrong_limit_is_exit_2(limit: str, message: str) -> None:
    result = CliRunner().invoke(main, ["memory", "--memory-limit", limit, "--slots", "4"])
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("master", [[], ["--master", "spark://master:7077"]])
def test_the_documents_show_what_it_prints(master: list[str]) -> None:
    result = CliRunner().invoke(main, ["memory", "--memory-limit", "4GiB", "--slots", "4", *master])
    printed = [line.rstrip() for line in result.stdout.splitlines()]
    shown = (Path(__file__).parents[4] / "docs" / "running.md").read_text()
    assert "\n".join(line for line in printed if "--conf" in line or not master) in shown


@pytest.mark.parametrize(
    ("master", "is_known"),
    [
        *((known, True) for known in ("local", "local[*]", "local-cluster[2,1,1024]", "yarn", "k8s://here:1")),
        *((unknown, False) for unknown in ("yran", "spark:", "localhost")),
    ],
)
def test_a_master_that_spark_does_not_know_is_refused(master: str, is_known: bool) -> None:
    result = CliRunner().invoke(main, ["memory", "--memory-limit", "4GiB", "--slots", "4", "--master", master])
    assert result.exit_code == (0 if is_known else 2)
    assert (f"--master {master}: not a master" in result.output) != is_known
