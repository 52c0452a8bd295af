"""Each procedure of an updater's operator, on a job with state and real parts, one after another.

Set-up: a rev map of 300 entities, and events in four topics; those that wait for others when the job is stopped
are in its state alone.

Steps: bootstrap; copy that checkpoint, and start from the copy; stop; take a savepoint, which is a copy too; start
again with another `updater.reorder`; read more events; stop; start from a copy of the savepoint.

Checked: no copy loses the dump's revisions or the events that wait; both checks pass on each; what is read again
becomes the same operations, byte for byte; the numbers of an entity's operations have no gap, and its last operation
is right.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from devkit.observe.audit.arrivals import Arrival
from tests.integration.crash.bench import Bench, Run
from tests.integration.test_bootstrap import (
    AFTER,
    DUMP,
    EXPECTED,
    Event,
    Operation,
    await_operations,
    close_with_canaries,
    last,
    make,
    publish,
    shown,
)

ROOMS = ("pipeline/ops", "pipeline/state", "pipeline/updater")
MakeBench = Callable[..., Bench]

ENTITIES = 300
NEW = "Q20000"
WAITING: list[Event] = [
    ("page-delete", "Q1", 20_001, None, 80),
    ("revision-create", NEW, 9, None, 82),
    ("page-undelete", "Q100", 1100, None, 84),
]
"""Read before the savepoint, decided after it: each waits for 60 s, and the topics end at 130 s."""
SINCE: list[Event] = [
    ("revision-create", "Q2", 30_002, 20_002, 140),
    ("revision-create", "Q299", 30_100, last(299), 141),
    ("page-undelete", "Q1", 20_001, None, 150),
    ("page-delete", "Q3", 20_003, None, 160),
    ("revision-create", "Q100", 40_000, 1100, 170),
]
SINCE_THE_SAVEPOINT: Mapping[str, list[Operation]] = {
    "Q1": [("delete", 20_001, None, 2), ("import", 20_001, None, 3)],
    "Q2": [("diff", 30_002, 20_002, 2)],
    "Q3": [("delete", 20_003, None, 2)],
    "Q100": [("import", 1100, None, 2), ("diff", 40_000, 1100, 3)],
    "Q299": [("diff", 30_100, last(299), 1)],
    NEW: [("import", 9, None, 1)],
}
AT_THE_END: Mapping[str, list[Operation]] = {"Q3": [("import", 20_003, None, 3)], "Q2": [("diff", 50_002, 30_002, 3)]}


def after(first: Mapping[str, list[Operation]], then: Mapping[str, list[Operation]]) -> dict[str, list[Operation]]:
    return {entity: [*first.get(entity, []), *then.get(entity, [])] for entity in {*first, *then}}


def configure(bench: Bench, **settings: Any) -> None:
    """In the job's file, from now on."""
    config = orjson.loads(bench.config_file.read_bytes())
    bench.config_file.write_bytes(orjson.dumps(config | settings))


def command(bench: Bench, *arguments: str, spark: bool = False) -> str:
    done = bench.command(*arguments, spark=spark)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copy(bench: Bench, name: str) -> str:
    """The place of a copy of the job's checkpoint, which its file names from now on. The job could start there."""
    place = f"{bench.config.checkpoint}-{name}"
    assert place in command(bench, "checkpoint", "fork", place)
    configure(bench, checkpoint=place)
    assert "the job can continue" in command(bench, "checkpoint", "verify")
    return place


def stop(run: Run) -> None:
    assert run.terminate() == 0, run.process.last_words(20)


def values(arrivals: Iterable[Arrival]) -> dict[bytes, list[bytes]]:
    """By key, as they lie in the topic."""
    found: dict[bytes, list[bytes]] = defaultdict(list)
    for arrival in arrivals:
        assert arrival.key is not None
        found[arrival.key].append(arrival.value)
    return dict(found)


@pytest.mark.slow
def test_each_procedure_of_an_operator(make_bench: MakeBench, tmp_path: Path) -> None:
    bench = make(make_bench, "operation")
    publish(bench, [*AFTER, *WAITING])
    close_with_canaries(bench, 130)
    rev_map = tmp_path / "rev_map.csv"
    rev_map.write_text("".join(f"Q{number},{last(number)}\n" for number in range(1, ENTITIES + 1)))
    command(bench, "bootstrap", "--revisions", str(rev_map), "--from", DUMP.isoformat())
    job = copy(bench, "unstarted")
    run = bench.start(bootstrapped=True)
    await_operations(run, bench, EXPECTED)
    stop(run)
    before = bench.outputs()

    savepoint = copy(bench, "savepoint")
    assert " is whole: " in command(bench, "state", "verify", spark=True)
    state = shown(bench)
    assert (state["rows"], state["waiting"]) == (ENTITIES + 1, len(WAITING))
    files = command(bench, "checkpoint", "show")

    configure(bench, checkpoint=job, updater={"reorder": "90s"})
    assert "the job can continue" in command(bench, "checkpoint", "verify")
    publish(bench, SINCE)
    close_with_canaries(bench, 4000)
    run = bench.start()
    await_operations(run, bench, after(EXPECTED, SINCE_THE_SAVEPOINT))
    stop(run)
    once = bench.outputs()
    first = values(once[len(before) :])
    assert sum(map(len, first.values())) == sum(map(len, SINCE_THE_SAVEPOINT.values()))

    # A start goes on in its checkpoint: a savepoint that is to be there later as well is copied.
    configure(bench, checkpoint=savepoint)
    copy(bench, "recovered")
    run = bench.start()
    expected = len(once) + sum(map(len, first.values()))
    run.await_condition(lambda: len(bench.outputs()) >= expected, "the operations since the savepoint to come again")
    assert values(bench.outputs()[len(once) :]) == first

    publish(bench, [("page-undelete", "Q3", 20_003, None, 5000), ("revision-create", "Q2", 50_002, 30_002, 5001)])
    close_with_canaries(bench, 9000)
    await_operations(run, bench, after(after(EXPECTED, SINCE_THE_SAVEPOINT), AT_THE_END))
    stop(run)
    assert bench.errors() == []
    configure(bench, checkpoint=savepoint)
    assert command(bench, "checkpoint", "show") == files, "the savepoint is as it was"
