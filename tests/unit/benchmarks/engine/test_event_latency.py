"""The way of events through the updater, joined from what three topics and the store say."""

from collections.abc import Sequence

import orjson
import pytest

from benchmarks.engine.event_latency import (
    Decided,
    Passage,
    Position,
    Published,
    Quantiles,
    Waiting,
    by_group,
    join_passages,
    mean_waiting,
    quantiles,
    rate_between,
    read_decided,
    read_published,
    waiting_at,
)
from benchmarks.engine.mutations import Mutation
from benchmarks.engine.topic_log import Appended
from devkit.observe.audit.source_event import SourceEvent
from devkit.traffic.manifest import ManifestEntry
from devkit.traffic.records import Expected, Fate
from pipeline.rdf.operation import Op, Operation
from pipeline.records.record import Position as PipelinePosition

EDITS, DELETES = "eqiad.mediawiki.revision-create", "eqiad.mediawiki.page-delete"


def source_event(offset: int, fate: Fate, **fields: int) -> SourceEvent:
    entry = ManifestEntry(topic=EDITS, partition=0, offset=offset, expected=Expected(fate=fate))
    return SourceEvent(entry, b"key", orjson.dumps({"rev_id": 2, **fields}))


def appended(seq: int, op: Op, from_rev: int | None, at_ms: int, topic: str = EDITS) -> Appended:
    operation = Operation("Q1", op, 10 + seq, from_rev, "2026-03-02T09:00:00Z", seq, (PipelinePosition(topic, 0, seq),))
    return Appended(0, 0, at_ms, operation.key, operation.value())


def passage(published_ms: int, applied_ms: int) -> Passage:
    return Passage("continuing", published_ms, published_ms + 1, published_ms + 2, applied_ms)


def test_events_of_no_entity_are_not_awaited() -> None:
    events = [source_event(0, "output"), source_event(1, "filtered"), source_event(2, "output", rev_parent_id=1)]
    published = [Published((EDITS, 0, 0), None, 10), Published((EDITS, 0, 2), 1, 30)]
    assert [*read_published(events, [10, 20, 30])] == published


def test_an_operation_that_was_written_again_counts_at_its_first_append() -> None:
    records = [appended(1, "import", None, 100), appended(2, "diff", 11, 110), appended(1, "import", None, 120)]
    read = [*read_decided(records)]
    assert [(decided.seq, decided.from_rev, decided.at_ms) for decided in read] == [(1, None, 100), (2, 11, 110)]
    assert read[1].position == (EDITS, 0, 2)


FIRST = (EDITS, None, 0, None, 5)


@pytest.mark.parametrize(
    ("events", "groups"),
    [
        # Of each event in order: topic, parent, published; of its operation from_rev, decided.
        pytest.param([(EDITS, None, 0, None, 50)], ["window"], id="an import"),
        pytest.param([(EDITS, 11, 0, 11, 50)], ["window"], id="a diff before which nothing is known"),
        pytest.param([(EDITS, None, 0, None, 50), (EDITS, 11, 60, 11, 70)], ["window", "continuing"], id="a diff"),
        pytest.param(
            [(EDITS, None, 0, None, 50), (EDITS, 11, 40, 11, 50), (EDITS, 12, 45, 12, 90), (EDITS, 13, 95, 13, 99)],
            ["window", "behind", "behind", "continuing"],
            id="diffs that come while an import waits",
        ),
        pytest.param(
            [FIRST, (EDITS, 11, 10, 11, 30), (EDITS, 12, 20, 12, 40)],
            ["window", "continuing", "continuing"],
            id="a diff beside one that does not wait",
        ),
        pytest.param(
            [FIRST, (DELETES, None, 10, None, 60), (DELETES, None, 70, None, 120)],
            ["window"] * 3,
            id="a deletion and an undeletion",
        ),
        pytest.param([FIRST, (EDITS, 99, 10, 11, 60)], ["window", "window"], id="a diff past its parent"),
    ],
)
def test_who_waits_for_the_window(
    events: Sequence[tuple[str, int | None, int, int | None, int]], groups: Sequence[str]
) -> None:
    published, decided, mutations = [], [], []
    for seq, (topic, parent, at_ms, from_rev, decided_ms) in enumerate(events, 1):
        position: Position = (topic, 0, seq)
        published.append(Published(position, parent, at_ms))
        decided.append(Decided(f"{seq}", "Q1", seq, from_rev, position, decided_ms))
        mutations.append(Mutation("diff", 1, 1, seq, decided_ms + 5, f"{seq}"))
    others = [Published((EDITS, 0, 999), 1, 0)]  # no operation came of it
    joined = join_passages([*others, *published], decided[::-1], mutations, [200 + n for n in range(len(events))])
    assert [joined[event.position].group for event in published] == groups
    last = joined[published[-1].position]
    assert (last.published_ms, last.decided_ms, last.resolved_ms) == (*events[-1][2::2], events[-1][4] + 5)
    assert last.seconds == (199 + len(events) - events[-1][2]) / 1000


def test_a_mutation_is_applied_the_first_time_that_it_is_written_and_has_to_be_there() -> None:
    mutation, again = Mutation("diff", 1, 1, 1, 30, "a"), Mutation("diff", 1, 1, 2, 50, "a")
    event, operation = Published((EDITS, 0, 1), 1, 10), Decided("a", "Q1", 1, 1, (EDITS, 0, 1), 20)
    joined = join_passages([event], [operation], [mutation, again], [40, 60])
    assert joined == {(EDITS, 0, 1): Passage("window", 10, 20, 30, 40)}
    with pytest.raises(KeyError):
        join_passages([event], [operation], [], [])


def test_every_group_is_there() -> None:
    groups = by_group([passage(0, 10), passage(5, 20)])
    assert {group: len(passages) for group, passages in groups.items()} == {"continuing": 2, "window": 0, "behind": 0}


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([], None),
        ([1.0], None),
        ([1.0, 3.0], Quantiles(2, 2.0, 2.98, 3.0)),
        ([n / 10 for n in range(101)], Quantiles(101, 5.0, 9.9, 10.0)),
    ],
)
def test_quantiles(seconds: Sequence[float], expected: Quantiles | None) -> None:
    assert quantiles(seconds) == expected


@pytest.mark.parametrize(
    ("at_ms", "waiting"),
    [(5, Waiting(0, 0)), (1_500, Waiting(2, 1.49)), (2_000, Waiting(1, 1.0)), (9_000, Waiting(0, 0))],
)
def test_an_event_waits_until_the_store_has_it(at_ms: int, waiting: Waiting) -> None:
    assert waiting_at([passage(10, 2_000), passage(1_000, 3_000)], at_ms) == waiting


@pytest.mark.parametrize(("begin_ms", "end_ms", "mean"), [(0, 1_000, 0.5), (1_000, 2_000, 1.5), (5_000, 6_000, 0)])
def test_the_mean_is_over_the_time(begin_ms: int, end_ms: int, mean: float) -> None:
    assert mean_waiting([passage(500, 2_000), passage(1_500, 3_000)], begin_ms, end_ms) == mean


def test_a_rate_is_of_what_lies_between() -> None:
    assert rate_between([2_000, 0, 500, 1_000, 2_500], 0, 2_000) == 1.5
