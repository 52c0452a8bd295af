"""A batch is written, not committed, and repeated after a crash; of two pages the upstream says something else by then.

Set-up: one batch of events. `Found` is unknown to the wiki, so it ends in an error event; `Refused` has an output. The
driver dies when all of it is written. Then `Found` is there, and `Refused` is denied; the next process repeats it.
Checked: the audit counts these two conflicts and no other, excuses them for the restart, and for nothing else; the
records of both topics name the id of their event; the reference consumer takes the first record of each event and
counts the second.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import orjson

from devkit.observe.audit.arrivals import read_topic
from devkit.observe.audit.replays import NO_REPLAYS, Replays
from pipeline.records.event_id import event_id_of
from tests.integration.crash.bench import Bench
from tests.integration.crash.point import CrashPoint

ROOMS = ("devkit/observe", "pipeline/consumer")
MakeBench = Callable[..., Bench]

TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 3,
    "rate": "200/s",
    "for": "100ms",
    "population": 6,
    "pages": {"Refused": {"edits": 1}, "Found": {"edits": 1, "error": "revision_not_found"}},
}
NOT_THERE_YET: dict[str, Any] = {"name": "not there yet", "when": {"page": "Found"}, "do": {"status": 404}}
DENIED: dict[str, Any] = {"name": "denied", "when": {"page": "Refused"}, "do": {"status": 403}}
WRITTEN = CrashPoint(target="pipeline.deferral.ledger_log:LedgerLog.read", moment="before", within="written")


def test_the_first_record_of_an_event_stands(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[NOT_THERE_YET], settings={"batch": {"max_offsets": 1000}})
    bench.publish(wait=True)
    died = bench.start(crash=WRITTEN)
    died.await_end()
    assert died.logged("crashing")

    bench.remove_rule(NOT_THERE_YET["name"])
    bench.add_rule(**DENIED)
    repeating = bench.start()
    bench.await_drained(repeating)
    bench.end()
    assert [line["batch"] for run in (died, repeating) for line in run.logged("batch_started")][:2] == [0, 0]

    audit = bench.audit()
    assert audit.problems() == {}, audit.examples
    assert (audit.conflicting, audit.excused_conflicts) == (2, 2)
    assert audit.duplicated == audit.excused == audit.outputs + audit.errors - 2
    both = {arrival.source for arrival in bench.outputs()} & {arrival.source for arrival in bench.errors()}
    assert len(both) == 2
    source = read_topic(bench.bootstrap, bench.config.source.topic)
    ids = {(one.topic, one.partition, one.offset): event_id_of(one.value) for one in source}
    named = {one.source: one.headers.get("source-event-id") for one in (*bench.outputs(), *bench.errors())}
    assert named == {
        position: event_id and event_id.encode() for position, event_id in ids.items() if position in named
    }
    assert None not in {named[position] for position in both}
    for replays in (NO_REPLAYS, Replays(restarts=1)):
        refused = bench.audit(replays)
        assert refused.problems() == {"conflicting": 2, "duplicated": audit.duplicated}
        found = {example.rpartition(": ")[2] for example in refused.examples}
        assert found == {
            "emitted as error event after its output",
            "emitted as output after its error event",
            "emitted 2 times, byte for byte the same",
        }

    consumed = bench.command("consume")
    assert consumed.returncode == 0, consumed.stderr
    lines = [orjson.loads(line) for line in consumed.stdout.splitlines()]
    titles = Counter(line["event"]["page"]["page_title"] for line in lines)
    assert (titles["Refused"], titles["Found"]) == (1, 0)
    assert (len(lines), len({line["id"] for line in lines})) == (audit.outputs, audit.outputs)
    assert consumed.stderr.endswith(
        f"{audit.duplicated} repeats removed (0 with other bytes), {audit.errors} error events, "
        "conflicts removed: 1 error after output, 1 output after error\n"
    )
