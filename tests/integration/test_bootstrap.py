"""A job that goes on from a dump, on real parts.

Set-up: a rev map of 10,000 entities; events of some of them before the dump and after it, in four topics, one of which
has none after it. Steps: bootstrap, look at the checkpoint, start, look again, start once more; in the other test the
process is killed twice in the first batch.

Checked: first operations are steps from the revision of the dump, and nothing from before it is read; a killed first
batch repeats byte for byte, with all entities; a second bootstrap is refused while the job runs and after it.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from kafka import KafkaProducer

from devkit.observe.audit.arrivals import read_topic
from pipeline.schemas import PAGE_DELETE_URI, PAGE_UNDELETE_URI, REVISION_CREATE_URI
from tests.integration.crash.bench import Bench, Run
from tests.integration.crash.point import CrashPoint

ROOMS = ("pipeline/ops", "pipeline/state", "pipeline/updater")
MakeBench = Callable[..., Bench]
Operation = tuple[str, int, int | None, int]

DUMP = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
ENTITIES = 10_000
TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 5, "rate": "1/s", "for": "1s", "population": 1}
URIS = {
    "revision-create": REVISION_CREATE_URI,
    "page-delete": PAGE_DELETE_URI,
    "page-suppress": PAGE_DELETE_URI,
    "page-undelete": PAGE_UNDELETE_URI,
}
NOT_WRITTEN = CrashPoint(
    target="pipeline.driver.version_check:VersionCheck.require_readable", moment="before", within="_write"
)
NOT_COMMITTED = CrashPoint(target="pipeline.driver.batch:write", moment="after", within="_emit")
Event = tuple[str, str, int, int | None, float]
"""Kind, entity, revision, the one before it, and seconds after the dump."""


def last(number: int) -> int:
    return 1000 + number


BEFORE: list[Event] = [(kind, f"Q{number}", 50, None, -60 - number) for kind in URIS for number in range(1, 4)]
AFTER: list[Event] = [
    *(("revision-create", f"Q{number}", 20_000 + number, last(number), number) for number in range(1, 31)),
    ("page-delete", "Q100", 1100, None, 5),
    ("page-suppress", "Q101", 1101, None, 6),
    ("revision-create", f"Q{ENTITIES + 5}", 7, None, 7),
    ("revision-create", "Q200", 1200, None, 8),
]
"""Of Q200 the dump has that revision already."""


EXPECTED: dict[str, list[Operation]] = {
    **{f"Q{number}": [("diff", 20_000 + number, last(number), 1)] for number in range(1, 31)},
    "Q100": [("delete", 1100, None, 1)],
    "Q101": [("delete", 1101, None, 1)],
    f"Q{ENTITIES + 5}": [("import", 7, None, 1)],
}


def document(event: Event) -> bytes:
    kind, entity, rev, parent, at_s = event
    dt = (DUMP + timedelta(seconds=at_s)).isoformat()
    event_id = f"{rev:08d}-0000-4000-8000-{round(at_s * 1000) % 10**12:012d}"
    fields: dict[str, Any] = {
        "$schema": URIS[kind],
        "meta": {"domain": "www.wikidata.org", "dt": dt, "id": event_id, "stream": f"mediawiki.{kind}"},
        "database": "wikidatawiki",
        "page_id": 1,
        "page_is_redirect": False,
        "page_namespace": 0,
        "page_title": entity,
        "rev_id": rev,
    }
    if kind == "revision-create":
        slot = {"rev_slot_content_model": "wikibase-item", "rev_slot_sha1": "a", "rev_slot_size": 3}
        fields |= {"dt": dt, "rev_timestamp": dt, "rev_slots": {"main": slot}}
    if parent is not None:
        fields["rev_parent_id"] = parent
    return orjson.dumps(fields)


def publish(bench: Bench, events: Iterable[Event]) -> None:
    with closing(KafkaProducer(bootstrap_servers=bench.bootstrap)) as producer:
        for event in events:
            send(producer, bench, event[0], event[-1], document(event))


def close_with_canaries(bench: Bench, at_s: float) -> None:
    canary = orjson.dumps({"$schema": REVISION_CREATE_URI, "meta": {"domain": "canary"}})
    with closing(KafkaProducer(bootstrap_servers=bench.bootstrap)) as producer:
        for kind in URIS:
            send(producer, bench, kind, at_s, canary)


def send(producer: KafkaProducer, bench: Bench, kind: str, at_s: float, value: bytes) -> None:
    topic = next(name for name in bench.config.source.all_topics if name.endswith(kind))
    timestamp_ms = round((DUMP + timedelta(seconds=at_s)).timestamp() * 1000)
    producer.send(topic, value, partition=0, timestamp_ms=timestamp_ms).get(30)


def make(make_bench: MakeBench, name: str, **settings: Any) -> Bench:
    return make_bench(
        traffic=TRAFFIC,
        rules=[],
        settings={
            "job": "rdf-decide",
            "source": {"topics": [f"{name}.{kind}" for kind in URIS], "slice": "15s", "idle_after": "0s"},
            "sink": {"lapsed_topic": f"{name}.lapsed", "inconsistency_topic": f"{name}.inconsistency"},
            "state": {"partitions": 2},
            **settings,
        },
    )


def rev_map(directory: Path) -> Path:
    file = directory / "rev_map.csv"
    file.write_text("".join(f"Q{number},{last(number)}\n" for number in range(1, ENTITIES + 1)))
    return file


def bootstrap(bench: Bench, directory: Path, *options: str, fails: int = 0) -> str:
    arguments = ["--revisions", str(rev_map(directory)), "--from", DUMP.isoformat(), *options]
    result = bench.command("bootstrap", *arguments)
    assert result.returncode == fails, result.stderr
    return result.stderr if fails else result.stdout


def operations(bench: Bench) -> Mapping[str, list[Operation]]:
    """By entity, each once, in the order in which they first came."""
    found: dict[str, dict[Operation, None]] = defaultdict(dict)
    for arrival in bench.outputs():
        operation = orjson.loads(arrival.value)
        step = (operation["op"], operation["rev"], operation.get("from_rev"), operation["seq"])
        found[operation["entity"]][step] = None
    return {entity: list(steps) for entity, steps in found.items()}


def await_operations(run: Run, bench: Bench, expected: Mapping[str, list[Operation]]) -> None:
    run.await_condition(lambda: operations(bench) == expected, f"the operations of {len(expected)} entities")


def shown(bench: Bench) -> dict[str, Any]:
    result = bench.command("state", "show", "--json", spark=True)
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.slow
def test_first_operations_are_steps_from_the_dump(make_bench: MakeBench, tmp_path: Path) -> None:
    bench = make(make_bench, "bootstrap")
    publish(bench, [*BEFORE, *AFTER])
    planned = json.loads(bootstrap(bench, tmp_path, "--dry-run", "--json"))
    assert (planned["written"], planned["entities"]) == (False, ENTITIES)
    written = json.loads(bootstrap(bench, tmp_path, "--json"))
    assert written["written"]
    assert written["topics"] == {
        f"bootstrap.{kind}": [{"partition": 0, "start": 3, "end": 3 + sum(event[0] == kind for event in AFTER)}]
        for kind in URIS
    }
    assert shown(bench)["rows"] == ENTITIES
    assert "the job can continue" in bench.command("checkpoint", "verify").stdout
    assert "its first batch takes them up" in bench.command("checkpoint", "show").stdout
    close_with_canaries(bench, 4000)
    run = bench.start(bootstrapped=True)
    await_operations(run, bench, EXPECTED)
    inconsistency = bench.config.sink.inconsistency_topic
    assert inconsistency is not None
    run.await_condition(lambda: list(read_topic(bench.bootstrap, inconsistency)), "the revision of the dump itself")
    assert "does the job run?" in bootstrap(bench, tmp_path, fails=2)
    assert run.terminate() == 0, run.process.last_words(20)
    refused = bootstrap(bench, tmp_path, fails=2)
    assert "exists: it holds batch" in refused
    assert "and a state" in refused
    assert shown(bench)["rows"] == ENTITIES + 1
    assert "its first batch has taken them up" in bench.command("checkpoint", "show").stdout
    edits = (("Q1", 30_001, 20_001), ("Q9999", 30_002, last(9999)))
    publish(bench, [("revision-create", *edit, 5000) for edit in edits])
    close_with_canaries(bench, 9000)
    run = bench.start()
    later = {"Q1": [*EXPECTED["Q1"], ("diff", 30_001, 20_001, 2)], "Q9999": [("diff", 30_002, last(9999), 1)]}
    await_operations(run, bench, EXPECTED | later)
    assert run.terminate() == 0, run.process.last_words(20)


@pytest.mark.slow
def test_a_first_batch_that_was_killed_begins_again(make_bench: MakeBench, tmp_path: Path) -> None:
    bench = make(make_bench, "killed", checkpoint=str(tmp_path / "checkpoint"))
    publish(bench, [*BEFORE, *AFTER])
    bootstrap(bench, tmp_path)
    close_with_canaries(bench, 4000)
    for crash in (NOT_WRITTEN, NOT_COMMITTED):
        run = bench.start(crash=crash, bootstrapped=True)
        assert run.await_end() != 0
        assert run.logged("crashing", target=crash.target), run.process.last_words(20)
    values = [arrival.value for arrival in bench.outputs()]
    assert values, "the batch was written, and not committed"
    run = bench.start()
    await_operations(run, bench, EXPECTED)
    assert run.terminate() == 0, run.process.last_words(20)
    again = [arrival.value for arrival in bench.outputs()][len(values) :]
    assert set(values) <= set(again), "it left again, byte for byte"
    assert len(again) == sum(map(len, EXPECTED.values()))
    assert shown(bench)["rows"] == ENTITIES + 1
