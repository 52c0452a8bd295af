"""A checkpoint knows whose it is: a real job in a real store, and configurations that name what is not theirs.

Set-up: a job that has made its checkpoint and stopped. Checked: exit codes, what is said, and that nothing was read.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
import pytest

from devkit.programs.places import merge
from devkit.stack.stack import CHECKPOINTS
from devkit.stack.topics import recreate_topics
from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/driver",)
MakeBench = Callable[..., Bench]

TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 2, "rate": "100/s", "for": "100ms", "population": 4}


def with_settings(bench: Bench, settings: Mapping[str, Any]) -> None:
    config = merge(bench.config.model_dump(mode="json", by_alias=True), settings)
    bench.config_file.write_bytes(orjson.dumps(config))


@pytest.mark.slow
def test_only_its_own_job_continues_a_checkpoint(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={})
    bench.publish(wait=True)
    first = bench.start()
    bench.await_drained(first)
    assert first.terminate() == 0, first.process.last_words(20)
    (made,) = first.logged("checkpoint")
    assert (made["adopted"], made["made_by"]["sink"]) == (False, bench.config.sink.topic)
    assert made["made_by"]["cluster"]
    store = bench.stack.object_store.client()
    prefix = bench.config.checkpoint.removeprefix(f"s3a://{CHECKPOINTS}/")
    mark = store.get_object(Bucket=CHECKPOINTS, Key=f"{prefix}/job.json")["Body"].read()
    assert orjson.loads(mark) == made["made_by"]

    recreate_topics(bench.config.sink.bootstrap_servers, {"somebody-elses": (1, {})})
    with_settings(bench, {"sink": {"topic": "somebody-elses"}})
    refused = bench.start()
    assert refused.await_end() == 2
    error = refused.logged("failed")[0]["error"]
    assert f"is another job's: sink topic {bench.config.sink.topic}, not somebody-elses" in error
    assert "--new earliest, latest or timestamp=" in refused.process.stderr.read_text()
    shown = bench.command("checkpoint", "verify")
    assert shown.returncode == 2
    assert f"sink topic {bench.config.sink.topic}, not somebody-elses" in shown.stdout

    # Spark's own offsets tell, too, where nobody has left a mark.
    store.delete_object(Bucket=CHECKPOINTS, Key=f"{prefix}/job.json")
    with_settings(bench, {"source": {"topic": "somebody-elses"}})
    refused = bench.start()
    assert refused.await_end() == 2
    assert f"is another job's: offsets of topic {bench.config.source.topic}" in refused.logged("failed")[0]["error"]

    with_settings(bench, {"checkpoint": f"s3a://{CHECKPOINTS}/{prefix}/offsets"})
    refused = bench.start("--new", "earliest")
    assert refused.await_end() == 2
    assert "is no checkpoint of a job's: it holds 0" in refused.logged("failed")[0]["error"]

    with_settings(bench, {})
    again = bench.start()
    again.await_line("started")
    assert again.logged("checkpoint")[0]["adopted"] is True
    assert again.terminate() == 0
    marked = orjson.loads(store.get_object(Bucket=CHECKPOINTS, Key=f"{prefix}/job.json")["Body"].read())
    assert marked["ledger"].pop("epoch") > made["made_by"]["ledger"].pop("epoch")
    assert marked == made["made_by"], "the same as before, from the epoch on in which it was adopted"
    bench.assert_clean(restarted=False)
