"""A job that died and wrote a batch twice: its metrics while it runs, and its output as the reference consumer sees it.

Set-up: events of several pages, one of which is too large for a record; one is slow, and deferred. The driver dies when
its second batch is written and not committed. Steps: the next process repeats the batch and drains. Checked: the
metrics add up and know of lag, deferral and claim checks; the consumer prints each event once, the large ones whole.
"""

import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from typing import Any

import orjson
from kafka import KafkaAdminClient
from prometheus_client.parser import text_string_to_metric_families

from tests.integration.crash.bench import Bench
from tests.integration.crash.point import CrashPoint

ROOMS = ("pipeline/consumer", "pipeline/metrics")
MakeBench = Callable[..., Bench]
Samples = dict[tuple[str, ...], float]

LARGE = "Large"
TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 5,
    "rate": "300/s",
    "for": "100ms",
    "population": 8,
    "pages": {LARGE: {"edits": 3}, "Slow": {"edits": 2}},
}
RULES: list[dict[str, Any]] = [
    {"name": "large", "when": {"page": LARGE}, "do": {"body": {"size": "600KiB"}}},
    {"name": "slow", "when": {"page": "Slow"}, "do": {"latency": "2s"}},
]
SETTINGS: dict[str, Any] = {
    "batch": {"max_offsets": 12},
    "content_limit": {"max_bytes": "500KiB"},
    "deferral": {"inline_allowance": "1s", "slow_lane": {"deadline": "30s", "backoff": "500ms"}},
    "metrics": {"port": 0, "lag_interval": "200ms", "jvm_interval": "200ms"},
}
READ = "pipeline.deferral.ledger_log:LedgerLog.read"


def scraped(url: str) -> Samples:
    """By the name of the sample and the values of its labels, in the order of the names of the labels."""
    with urllib.request.urlopen(url, timeout=30) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {
            (sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples
        }


def total(samples: Samples, *beginning: str) -> float:
    return sum(value for key, value in samples.items() if key[: len(beginning)] == beginning)


def consumed(bench: Bench) -> tuple[list[dict[str, Any]], str]:
    result = subprocess.run(
        [sys.executable, "-m", "pipeline", "consume", "--config", str(bench.config_file)],
        env={**os.environ, **bench.stack.object_store.credentials()},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return [orjson.loads(line) for line in result.stdout.splitlines()], result.stderr.decode()


def test_a_replay_is_seen_and_removed(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS)
    bench.publish(wait=True)
    events = bench.source_end()
    died = bench.start(crash=CrashPoint(target=READ, moment="before", within="written", call=2))
    died.await_end()
    repeated = died.logged("batch_started")[-1]["batch"]

    run = bench.start()
    url = run.await_line("metrics")["url"]
    bench.await_drained(run)
    # Spark tells of the last batch some time after it, and the lag is looked at now and then; the ledger's tombstones
    # are written by a round's task as it goes, and the driver counts them at the round's end.
    run.await_condition(
        lambda: levels_are_zero(scraped(url), bench.config.source.topic) and all_reported(run),
        "the last batch to be told, and lag and deferred events to be seen as 0",
    )
    samples = scraped(url)
    written = run.logged("batch_written")
    assert written[0]["batch"] == repeated
    assert samples["enrichment_batch_seconds_count",] == len(written)
    assert total(samples, "enrichment_batch_rows_total") == events - sum_of_rows(died)
    outputs = total(samples, "enrichment_events_total", "main", "output") + total(
        samples, "enrichment_events_total", "slow", "output"
    )
    assert 0 < outputs <= len(bench.outputs())
    assert (
        total(samples, "enrichment_fetches_total", "main", "ok") == samples["enrichment_responses_total", "main", "200"]
    )
    assert samples["enrichment_fetch_seconds_count", "main"] == total(samples, "enrichment_fetches_total", "main")
    assert samples["enrichment_fetches_in_flight_peak", "main"] >= 1
    for process in ("driver", "jvm"):
        assert samples["enrichment_resident_bytes", process] > 10 * 1024 * 1024
    assert samples["enrichment_worker_resident_bytes", "main"] > 10 * 1024 * 1024

    # Whatever its collector is called, a JVM that runs Spark has a heap, Spark's classes and some threads.
    assert total(samples, "enrichment_jvm_memory_pool_used_bytes", "heap") > 10 * 1024 * 1024
    assert samples["enrichment_jvm_memory_pool_used_bytes", "nonheap", "Metaspace"] > 10 * 1024 * 1024
    assert samples["enrichment_jvm_classes_loaded",] > 5_000
    assert samples["enrichment_jvm_threads",] > 10
    assert total(samples, "enrichment_jvm_gc_seconds_total") > 0
    assert samples["enrichment_cached_rdds",] == 0
    assert 0 <= samples["enrichment_cached_bytes", "memory"] < samples["enrichment_storage_memory_max_bytes",]
    assert samples["enrichment_slots",] == samples["enrichment_slots_configured",] > 0

    if promtool := shutil.which("promtool"):
        with urllib.request.urlopen(url, timeout=30) as page:
            told = subprocess.run([promtool, "check", "metrics"], input=page.read(), capture_output=True, check=False)
        assert (told.returncode, told.stdout + told.stderr) == (0, b"")

    # A partition counts as soon as it is there, whether Spark knows of it or not.
    partitions = len([key for key in scraped(url) if key[0] == "enrichment_lag_events"])
    topic = bench.config.source.topic
    admin = KafkaAdminClient(bootstrap_servers=bench.bootstrap)
    admin.create_partitions({topic: partitions + 1})
    admin.close()
    run.await_condition(
        lambda: ("enrichment_lag_events", str(partitions), topic) in scraped(url),
        "the partition that was added to be seen",
    )
    assert run.terminate() == 0
    bench.end()

    lines, output = consumed(bench)
    raw = bench.outputs()
    assert len(raw) > len({line["id"] for line in lines}) == len(lines), "repeats are not known by their ids"
    errors = bench.errors()
    failed = len({error.source for error in errors})
    assert f"{len(raw) + len(errors)} records, " in output
    assert f"{len(raw) - len(lines) + len(errors) - failed} repeats removed (0 with other bytes)" in output
    assert f"{failed} error events, conflicts removed: 0 error after output, 0 output after error" in output
    sources = [(line["source"]["partition"], line["source"]["offset"]) for line in lines]
    assert len(sources) == len(set(sources))
    large = [line for line in lines if line["event"]["page"]["page_title"] == LARGE]
    assert len(large) == 3
    for line in large:
        assert line["claim_check"]
        assert len(line["event"]["revision"]["content_slots"]["main"]["content_body"].encode()) == 600 * 1024
    assert not [line for line in lines if line["claim_check"] and line not in large]


def levels_are_zero(samples: Samples, topic: str) -> bool:
    return (
        samples.get(("enrichment_lag_events", "0", topic)) == 0 and samples.get(("enrichment_deferred_entries",)) == 0
    )


def all_reported(run: Any) -> bool:
    return len(run.logged("batch_committed")) == len(run.logged("batch_written"))


def sum_of_rows(died: Any) -> int:
    """Rows of the batches that an earlier process committed."""
    return 12 * (len(died.logged("batch_started")) - 1)
