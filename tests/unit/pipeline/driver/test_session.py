"""What the driver's JVM says of itself."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from located_config.extension import VARIABLE
from pipeline.driver.session import _for_workers, daemon_settings, heap_bytes, jvm_pid, known_keys
from pipeline.driver.spark_conf import Given

# Far beyond what it takes on a busy machine.
HANG_S = 300


def running() -> Any:
    runtime = SimpleNamespace(getRuntime=lambda: SimpleNamespace(maxMemory=lambda: 5000))
    entries = (
        "[ConfigEntry(key=spark.a, defaultValue=1, doc=), ConfigEntry(key=spark.b, defaultValue=<undefined>, doc=)]"
    )
    registered = SimpleNamespace(listAllEntries=lambda: SimpleNamespace(toString=lambda: entries))
    process = SimpleNamespace(current=lambda: SimpleNamespace(pid=lambda: 77))
    config = SimpleNamespace(ConfigEntry=registered)
    apache = SimpleNamespace(spark=SimpleNamespace(internal=SimpleNamespace(config=config)))
    java = SimpleNamespace(lang=SimpleNamespace(ProcessHandle=process, Runtime=runtime))
    return SimpleNamespace(_jvm=SimpleNamespace(org=SimpleNamespace(apache=apache), java=java))


def test_the_jvm_says_who_it_is_its_heap_and_spark_its_settings() -> None:
    spark = running()
    assert (jvm_pid(spark), heap_bytes(spark), known_keys(spark)) == (77, 5000, {"spark.a", "spark.b"})


def test_workers_are_told_where_a_job_of_an_extension_is() -> None:
    assert _for_workers({}) == _for_workers({VARIABLE: ""}) == {}
    assert _for_workers({VARIABLE: "/x/my_job.py"}) == {"spark.executorEnv.ENRICHMENT_EXTEND": "/x/my_job.py"}


@pytest.mark.parametrize(
    ("given", "environment", "is_set"),
    [
        ({}, {}, True),
        ({"spark.master": "local[2]"}, {}, True),
        ({"spark.master": "local-cluster[1,2,1024]"}, {}, False),
        ({"spark.master": "spark://host:7077"}, {}, False),
        ({"spark.python.daemon.module": "own"}, {}, False),
        ({}, {"PYSPARK_GATEWAY_PORT": "1"}, False),
    ],
)
def test_the_daemon_loads_the_job_where_it_can(
    given: dict[str, str], environment: dict[str, str], *, is_set: bool
) -> None:
    settings = daemon_settings({key: Given(value, "here") for key, value in given.items()}, environment)
    assert settings == ({"spark.python.daemon.module": "pipeline.worker.daemon"} if is_set else {})


def test_workers_load_what_tasks_need() -> None:
    """In a process that has loaded nothing. Each row is read, else Spark would end the worker."""
    rows = "import sys; from pipeline.worker.daemon import load; rows = iter([1, 2]); load(rows); print(list(rows), "
    shown = rows + "[name in sys.modules for name in ('pipeline.worker.spark_task', 'pyspark.worker')])"
    run = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True, timeout=HANG_S)
    assert run.stdout.strip() == "[] [True, True]"


# Without Java: its start and the builder's last step are replaced, and the importing thread is one that looks instead.
_LOOKING = """
import sys, threading
from pipeline.driver import session

found = []

class Looks:
    def __init__(self, **_):
        found.append([name for name in ("pyspark.sql", "pyspark.sql.streaming", "pyspark.sql.dataframe")
                      if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", True)])
    def start(self):
        from pyspark.sql import SparkSession
        from pyspark import SparkContext
        SparkSession.Builder.getOrCreate = lambda _self: None
        SparkContext._ensure_initialized = lambda **_: None
        SparkContext.getOrCreate = lambda *_: None

threading.Thread = Looks
session.start_session("job", meanwhile=("pipeline.driver.batch",))
print(found)
"""


def test_pyspark_is_imported_whole_before_another_thread_imports_what_needs_it() -> None:
    run = subprocess.run([sys.executable, "-c", _LOOKING], capture_output=True, text=True, check=False, timeout=HANG_S)
    assert (run.returncode, run.stdout.strip()) == (0, "[[]]"), run.stderr
