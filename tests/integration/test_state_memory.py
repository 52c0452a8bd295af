"""The memory of a state in RocksDB, beside the bound that the plan gives it, while the state grows far beyond that.

Set-up: a Spark of its own with a heap that is touched at the start, so that what its JVM takes later is not heap; the
settings that a job with `source.deduplicate` gives it; new ids in each batch, none of which is forgotten. Measured:
RocksDB's own account of its memory, what the JVM's resident memory grows by, and the files of the state. Run it with
`-s` to see the figures; `docs/running.md` has those of one run.
"""

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

ROOMS = ("pipeline/state",)
MIB = 1024 * 1024
BOUND = 64 * MIB
ROWS, BATCHES = 60_000, 25

_STEPS = """
import json, sys
import psutil
from pyspark.sql import functions
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.session import jvm_pid, start_session
from pipeline.state.state_mark import StateMark
from pipeline.state.store_settings import store_settings

place, bound, rows, batches, partitions = sys.argv[1], *map(int, sys.argv[2:])
nowhere = "127.0.0.1:1"
config = PipelineConfig.model_validate({
    "source": {"bootstrap_servers": nowhere, "read": "aligned", "deduplicate": {"within": "1d"}},
    "sink": {"bootstrap_servers": nowhere},
    "mediawiki": {"endpoint": f"http://{nowhere}"},
    "checkpoint": place,
    "state": {"max_bytes": bound, "partitions": partitions},
})
spark = start_session("state-memory", {
    "spark.master": "local[2]",
    "spark.driver.memory": "600m",
    "spark.driver.extraJavaOptions": "-Xms600m -XX:+AlwaysPreTouch",
    "spark.ui.enabled": "false",
    "spark.local.dir": f"{place}-local",
})
mark = StateMark.of(config, slots=partitions)
for name, value in store_settings(config, mark).items():
    spark.conf.set(name, value)
source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows).option("numPartitions", 2)
# What compression leaves of an id is as much as the id: 160 hexadecimal digits of chance are 80 bytes.
key = functions.concat(*(functions.sha2((functions.col("value") * 7 + n).cast("string"), 512) for n in range(2)))
ids = source.load().select("timestamp", key.alias("id")).withWatermark("timestamp", "1 day")
query = (
    ids.dropDuplicatesWithinWatermark(["id"]).writeStream.option("checkpointLocation", place)
    .format("noop").start()
)
jvm = psutil.Process(jvm_pid(spark))
seen = {}
while len(seen) < batches and query.isActive:
    query.awaitTermination(0.2)
    for one in query.recentProgress:
        one = json.loads(one.json)
        if one["batchId"] in seen or not one["stateOperators"]:
            continue
        (state,) = one["stateOperators"]
        custom = state["customMetrics"]
        seen[one["batchId"]] = {
            "rows": state["numRowsTotal"],
            "own": state["memoryUsedBytes"],
            "files": custom["rocksdbSstFileSize"],
            "resident": jvm.memory_info().rss,
        }
error = query.exception()
query.stop()
if error:
    sys.exit(str(error))
print(json.dumps([seen[number] for number in sorted(seen)]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [2, 8])
def test_a_state_beyond_its_bound_takes_no_more_memory(tmp_path: Path, partitions: int) -> None:
    from devkit.jvm.runtime import java_home

    steps = tmp_path / "steps.py"
    steps.write_text(_STEPS)
    arguments = [str(tmp_path / "checkpoint"), *map(str, (BOUND, ROWS, BATCHES, partitions))]
    done = subprocess.run(
        [sys.executable, str(steps), *arguments],
        env={
            "JAVA_HOME": str(java_home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PATH": "/usr/bin:/bin",
            "PYSPARK_PYTHON": sys.executable,
        },
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    looks = orjson.loads(done.stdout.splitlines()[-1])
    assert len(looks) >= BATCHES, "a state of a few batches shows nothing"
    beyond = next(one for one in looks if one["files"] > BOUND)
    last, own = looks[-1], max(one["own"] for one in looks)
    grown, later = (last["resident"] - one["resident"] for one in (looks[0], beyond))
    print(
        f"\n{partitions} stores: {last['rows']:,} rows, {last['files'] / MIB:.0f} MiB in files; bound "
        f"{BOUND / MIB:.0f} MiB; by RocksDB's own account at most {own / MIB:.0f} MiB; the JVM's resident memory grew "
        f"by {grown / MIB:.0f} MiB from the first batch on, by {later / MIB:.0f} MiB of it beyond the bound"
    )
    assert last["files"] > 4 * BOUND, "the state is far larger than the bound"
    # What is being written may be above it for a moment: the bound is one that RocksDB works towards.
    assert own < 1.5 * BOUND
    assert later < (last["files"] - beyond["files"]) / 2
