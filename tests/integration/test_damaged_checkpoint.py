"""A damaged checkpoint: a job's start reads it through Hadoop's file system, `checkpoint verify` through Python's own,
and both refuse it and name the file.

Set-up: the recorded checkpoint on a local path and a real Spark; then a real job that has committed and stopped, in a
real object store. Checked: each damage of the table, then exit codes and words of the processes for a few of them.
"""

from collections.abc import Callable

import pytest

from devkit.stack.stack import CHECKPOINTS
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver import query
from pipeline.driver.identity import Identity
from pipeline.driver.job_checkpoint import HadoopFiles
from pipeline.errors import RefusedError
from pipeline.ops.spark_checkpoint import inspect_checkpoint
from tests.integration.crash.bench import Bench
from tests.integration.local_spark import local_spark
from tests.unit.pipeline.ops.damaged import DAMAGES, WHOLE
from tests.unit.pipeline.ops.places import TOPIC, files_at, recorded

ROOMS = ("pipeline/driver", "pipeline/ops")
MakeBench = Callable[..., Bench]

TRAFFIC = {"generator": "page_change", "seed": 2, "rate": "100/s", "for": "100ms", "population": 4}


def test_hadoops_file_system_shows_each_damage(tmp_path_factory: pytest.TempPathFactory) -> None:
    cases = [(name, change, None) for name, change in WHOLE.items()]
    cases += [(name, change, why) for name, (change, why) in DAMAGES.items()]
    with local_spark(1) as spark:
        for name, change, why in cases:
            place = recorded(tmp_path_factory.mktemp("any"))
            change(place)
            source = {"topic": TOPIC} | ({"deduplicate": {"within": "10m"}} if name == "no state" else {})
            config = PipelineConfig.model_validate(
                {
                    "source": {"bootstrap_servers": "127.0.0.1:1", **source},
                    "sink": {"bootstrap_servers": "127.0.0.1:1"},
                    "mediawiki": {"endpoint": "http://127.0.0.1:1"},
                    "checkpoint": str(place),
                }
            )
            own = Identity.of(config, None)
            if why is None:
                query._take_checkpoint(spark, config, None, own, slots=1)
                of_python, of_hadoop = (
                    inspect_checkpoint(files_at(place)),
                    inspect_checkpoint(HadoopFiles(spark, str(place))),
                )
                assert of_hadoop == of_python
                continue
            with pytest.raises(RefusedError) as refused:
                query._take_checkpoint(spark, config, None, own, slots=1)
            assert why in str(refused.value), name


@pytest.mark.slow
def test_a_start_and_verify_refuse_a_damaged_checkpoint_in_a_store(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={})
    bench.publish(wait=True)
    run = bench.start()
    bench.await_drained(run)
    assert run.terminate() == 0, run.process.last_words(20)
    store = bench.stack.object_store.client()
    prefix = bench.config.checkpoint.removeprefix(f"s3a://{CHECKPOINTS}/")
    listed = store.list_objects_v2(Bucket=CHECKPOINTS, Prefix=f"{prefix}/")["Contents"]
    names = [one["Key"].removeprefix(f"{prefix}/offsets/") for one in listed]
    last = max(int(name) for name in names if name.isdecimal())
    for name, content, why in (
        ("metadata", None, "the file metadata is missing"),
        (f"offsets/{last}", None, f"batch {last} is committed and "),
        (f"offsets/{last}", b"", f"offsets/{last} is not in the form of Spark's Kafka checkpoints"),
        (f"commits/{last}", b"", f"commits/{last} is not in the form of Spark's Kafka checkpoints"),
    ):
        key = f"{prefix}/{name}"
        whole = store.get_object(Bucket=CHECKPOINTS, Key=key)["Body"].read()
        if content is None:
            store.delete_object(Bucket=CHECKPOINTS, Key=key)
        else:
            store.put_object(Bucket=CHECKPOINTS, Key=key, Body=content)
        refused = bench.start()
        assert refused.await_end() == 2, refused.process.last_words(20)
        assert why in refused.logged("failed")[0]["error"]
        verified = bench.command("checkpoint", "verify")
        assert verified.returncode == 2
        assert why in verified.stdout + verified.stderr
        store.put_object(Bucket=CHECKPOINTS, Key=key, Body=whole)
    assert bench.command("checkpoint", "verify").returncode == 0
    again = bench.start()
    again.await_line("started")
    assert again.terminate() == 0
    bench.assert_clean(restarted=False)
