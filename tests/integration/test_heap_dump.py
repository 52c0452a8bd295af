"""A real JVM of Spark that runs out of memory and writes its heap.

Steps: an array of 64 MiB is held; one that the heap cannot hold has the JVM write a dump; the log names its classes.
"""

import subprocess
import sys
from pathlib import Path

ROOMS = ("pipeline/driver",)
_STEPS = """
import sys

from pipeline.config.heap_dump_section import HeapDumps
from pipeline.driver.heap_dumps import await_dump
from pipeline.driver.session import start_session

spark = start_session("heap", {"spark.master": "local[1]", "spark.driver.memory": "512m", "spark.ui.enabled": "false"})
dump = await_dump(spark, HeapDumps(directory=sys.argv[1]), "heap")
held = spark.sparkContext._gateway.new_array(spark._jvm.long, 8 << 20)
dump.log_dump()
try:
    spark.sparkContext._gateway.new_array(spark._jvm.long, 128 << 20)
except Exception:
    pass  # of a thread that ends so the bridge says only that it does not answer; the dump is the proof
else:
    sys.exit("the heap holds what it must not")
dump.log_dump()
assert await_dump(spark, HeapDumps(directory=sys.argv[1]), "heap").file is None
"""


def test_a_heap_is_dumped_when_it_is_full(tmp_path: Path) -> None:
    from devkit.jvm.runtime import java_home

    steps = tmp_path / "steps.py"
    steps.write_text(_STEPS)
    done = subprocess.run(
        [sys.executable, str(steps), str(tmp_path / "dumps")],
        env={"JAVA_HOME": str(java_home()), "SPARK_LOCAL_IP": "127.0.0.1", "PATH": "/usr/bin:/bin"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "OutOfMemoryError: Java heap space" in done.stderr
    lines = done.stdout.splitlines()
    dumped, off = [line for line in lines if line.startswith("{")]
    assert '"event": "heap_dumped"' in dumped
    assert '"classes": {"long[]": ' in dumped
    assert '"event": "heap_dumps_off"' in off
    (file,) = (tmp_path / "dumps").iterdir()
    assert file.stat().st_size > 64 << 20
