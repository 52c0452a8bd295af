"""content-enrichment, unchanged, on a Spark master with two workers that have nothing of it.

Set-up: master and workers as processes of this machine, in a directory of their own; their interpreter can import
neither the job nor what it needs. Step: package and submit as `deploy/README.md` says. Checked: the fate of every
event, that executors ran on both workers, and that spark-submit is stopped gracefully.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from devkit.guardian import Guardian
from devkit.jvm import jars
from devkit.programs.spark.place import SparkPlace, spark_environment, write_spark_conf
from devkit.stack.stack import Stack
from tests.integration.cli_run import REPOSITORY
from tests.integration.crash.bench import Bench, Run
from tests.integration.spark_cluster import SPARK_HOME, Cluster, spark_cluster
from tests.integration.test_content_enrichment import RULES, SETTINGS, TRAFFIC, fates, source_of

ROOMS = ("deploy", "pipeline/driver")
pytestmark = pytest.mark.slow

NODE_PYTHON = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
WORKING = timedelta(minutes=5)


@pytest.fixture
def cluster(stack: tuple[Guardian, Stack], tmp_path: Path) -> Iterator[Cluster]:
    with spark_cluster(stack[0], tmp_path) as made:
        yield made


@pytest.fixture
def package(tmp_path: Path) -> Path:
    built = tmp_path / "build"
    subprocess.run([sys.executable, REPOSITORY / "deploy" / "spark" / "package.py", built], check=True)
    return built


def submit(bench: Bench, cluster: Cluster, package: Path, directory: Path) -> Run:
    store = bench.stack.object_store
    conf_dir = directory / "cluster-conf"
    credentials = {f"spark.executorEnv.{name}": value for name, value in store.credentials().items()}
    settings = {
        "spark.master": cluster.master,
        "spark.executor.cores": "2",
        "spark.cores.max": "4",
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": "packages",
        "spark.driver.extraClassPath": "",
        **credentials,
    }
    write_spark_conf(SparkPlace(store.endpoint, bench.guardian.directory, settings=settings), conf_dir, jvm_options=())
    environment = dict(spark_environment(conf_dir, store.credentials()))
    del environment["PYSPARK_SUBMIT_ARGS"]
    environment |= {"PYSPARK_PYTHON": str(NODE_PYTHON), "PYSPARK_DRIVER_PYTHON": sys.executable, "PYTHONPATH": ""}
    argv = [
        str(SPARK_HOME / "bin" / "spark-submit"),
        *("--properties-file", str(conf_dir / "spark-defaults.conf")),
        *("--jars", ",".join(map(str, jars.ensure(jars.SPARK)))),
        *("--py-files", str(package / "pipeline.zip")),
        *("--archives", f"{package / 'packages.zip'}#packages"),
        str(REPOSITORY / "deploy" / "spark" / "submit.py"),
        *("run", bench.config.job, "--config", str(bench.config_file), "--new", "earliest"),
    ]
    argv = ["sh", "-c", 'cd "$0" && exec "$@"', str(directory), *argv]
    process = bench.guardian.spawn("submitted", argv, logs=directory / "logs", env=environment, split=True)
    return Run(process, bench.guardian.run_id)


def test_a_job_runs_on_workers_that_have_nothing_of_it(
    make_bench: Callable[..., Bench], cluster: Cluster, package: Path, tmp_path: Path
) -> None:
    for module in ("pipeline", "aiohttp", "pygit2", "pyarrow"):
        imported = subprocess.run(
            [NODE_PYTHON, "-c", f"import {module}"], cwd=tmp_path, env=bare(), capture_output=True
        )
        assert imported.returncode, f"{NODE_PYTHON} has {module}: nothing would be proven"
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS)
    bench.publish(wait=True)
    run = submit(bench, cluster, package, tmp_path)
    try:
        run.await_condition(bench.is_drained, "all events to be committed, and none deferred", WORKING)
        workers = cluster.workers()
        assert run.terminate() == 0, run.process.last_words(20)
    finally:
        run.process.kill_tree()
    assert [worker["coresused"] for worker in workers] == [2, 2]
    expected = fates(bench)
    outputs = {source_of(arrival) for arrival in bench.outputs()}
    errors = {source_of(arrival): json.loads(arrival.value)["error_type"] for arrival in bench.errors()}
    assert outputs == {position for position, fate in expected.items() if fate.fate == "output"}
    assert errors == {position: fate.reason for position, fate in expected.items() if fate.fate == "error"}


def bare() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
