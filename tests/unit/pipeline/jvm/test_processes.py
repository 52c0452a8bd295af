"""The JVM that an operator means, without its number where there is only one."""

from pathlib import Path

import pytest

from pipeline.errors import RefusedError
from pipeline.jvm.processes import SparkJvm, spark_jvms, the_jvm
from tests.unit.pipeline.jvm.proc_tree import DRIVER, EXECUTOR, process

JOB = ("python", "-m", "pipeline", "run", "html-enrichment", "--config", "job.yaml")


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    process(tmp_path, 5, ("bash",))
    process(tmp_path, 10, JOB, parent=5, jvm=False)
    process(tmp_path, 11, DRIVER, parent=10)
    process(tmp_path, 12, ("java", "kafka.Kafka"))
    (tmp_path / "uptime").write_text("1 1")
    return tmp_path


def test_the_driver_is_named_after_its_job(proc: Path) -> None:
    assert spark_jvms(proc) == (SparkJvm(11, "driver", " ".join(JOB)),)


def test_one_driver_needs_no_number(proc: Path) -> None:
    process(proc, 20, EXECUTOR)
    assert the_jvm(None, spark_jvms(proc), proc) == 11


@pytest.mark.parametrize("asked", [5, 10, 11])
def test_the_number_of_the_job_is_as_good_as_the_jvms(proc: Path, asked: int) -> None:
    process(proc, 20, EXECUTOR, parent=10)
    assert the_jvm(asked, spark_jvms(proc), proc) == 11


def test_an_executor_is_asked_by_its_number(proc: Path) -> None:
    process(proc, 20, EXECUTOR, parent=10)
    assert the_jvm(20, spark_jvms(proc), proc) == 20


def test_two_drivers_are_listed(proc: Path) -> None:
    process(proc, 30, DRIVER, parent=29)
    process(proc, 29, (*JOB[:4], "content-enrichment"), jvm=False)
    with pytest.raises(RefusedError, match=r"2 JVMs of Spark run here:\n  11  driver  .*\n  30  driver  .*content-e"):
        the_jvm(None, spark_jvms(proc), proc)


def test_without_any_the_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="no JVM of Spark runs here"):
        the_jvm(None, spark_jvms(tmp_path), tmp_path)
