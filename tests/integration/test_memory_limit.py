"""A job with one number for its memory stays within it, also when many large pages come at once.

Set-up: real broker, Spark and mock; every page is of many megabytes. Checked: the proportional memory of all processes
of the job, looked at again and again, and that everything leaves.
"""

from collections.abc import Callable
from typing import Any

import orjson
import psutil
import pytest

from devkit.programs.spark.place import SparkPlace, write_spark_conf
from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/memory",)
MakeBench = Callable[..., Bench]

MIB = 1024 * 1024
LIMIT_BYTES = 4 * 1024 * MIB
TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 4,
    "rate": "200/s",
    "for": "200ms",
    "population": 20,
}
LARGE = [{"name": "large", "when": {}, "do": {"body": {"size": "12MiB", "changed": "one block"}}}]


def memory_bytes(processes: list[psutil.Process]) -> int:
    """What they have of memory, each shared page counted once."""
    total = 0
    for process in processes:
        try:
            total += process.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
    return total


@pytest.mark.slow
def test_large_pages_at_once_stay_within_the_limit(make_bench: MakeBench) -> None:
    settings = {"deferral": {"inline_allowance": "60s"}, "fetch": {"deadline": "2m", "request_timeout": "2m"}}
    bench = make_bench(traffic=TRAFFIC, rules=LARGE, settings=settings)
    # Else the kit's Spark would have a heap of its own choice, and the job refuse it.
    place = SparkPlace(bench.stack.object_store.endpoint, bench.guardian.directory, driver_memory="700m")
    write_spark_conf(place, bench.conf_dir)
    # Only what the test says: all defaults written down would be what the file asks for.
    config = bench.config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    bench.config_file.write_bytes(orjson.dumps(config))
    bench.publish(wait=True)
    run = bench.start("--memory-limit", "4GiB", "--slots", "4")
    peak = 0

    def drained() -> bool:
        nonlocal peak
        peak = max(peak, memory_bytes(run.tree()))
        return bench.is_drained()

    run.await_condition(drained, "all large pages to leave")
    (memory,) = run.logged("memory")
    assert sum(memory["parts"].values()) <= memory["limit"]["bytes"] == LIMIT_BYTES
    (effective,) = run.logged("effective_settings")
    assert effective["spark"]["spark.master"] == "local[4]"
    assert effective["heap_bytes"] <= memory["parts"]["JVM heap"]
    assert 0 < peak <= LIMIT_BYTES, f"{peak / MIB:.0f} MiB"
    assert run.terminate() == 0
    print(f"peak {peak / MIB:.0f} MiB")
    assert len(bench.outputs()) > 20
    bench.assert_clean(restarted=False)
