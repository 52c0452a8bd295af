"""What is looked up after an arm, from topics and a journal that the test fills."""

from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.checkpoint import OffsetRange
from devkit.observe.kafka.deferrals import DeferredEntries
from devkit.play.arm import collection as collection_module
from devkit.play.arm.collection import Collection, Ended, collection, pages_matched
from devkit.programs.program_topics import ProgramTopics
from devkit.stack.parts.mock_api import JournalEntry, MockApi
from mockapi.client.journal_counts import JournalTotals, RuleTotals
from mockapi.rules.model import Rule
from tests.unit.devkit.observe.audit.events import (
    ERROR,
    OUTPUT,
    SOURCE,
    TRUTH,
    arrival,
    error_of,
    output_of,
    source_event,
)


def published(event: SourceEvent, at_ms: int) -> Arrival:
    return Arrival(SOURCE, event.entry.partition, event.entry.offset, event.value, {}, None, at_ms)


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Collection]:
    """What is found of events in topics that hold these records; `of_program` names further topics of the program."""

    def collect(
        events: list[SourceEvent],
        topics: dict[str, list[Arrival]],
        *,
        committed: int,
        of_program: Mapping[str, str] = {},
        failed: OffsetRange | None = None,
        entries: DeferredEntries | None = None,
        **more: Any,
    ) -> Collection:
        def read(bootstrap: str, topic: str) -> Iterator[Arrival]:
            assert bootstrap == "127.0.0.1:1"
            return iter(topics.get(topic, ()))

        monkeypatch.setattr(collection_module, "read_topic", read)
        ended = Ended({(SOURCE, 0): committed}, entries or DeferredEntries(), failed=failed, ended_ms=9000)
        return collection(
            events,
            ended,
            bootstrap="127.0.0.1:1",
            topics=ProgramTopics((SOURCE,), OUTPUT, ERROR, "deferred", defers=True, **of_program),
            truth=TRUTH,
            client=cast(Any, None),
            pages_matched=set(),
            **more,
        )

    return collect


Collect = Callable[..., Collection]


def test_holds_what_left_against_what_had_to(collected: Collect) -> None:
    edit, failing, put_aside = source_event(0), source_event(1, fate="error", reason="timeout"), source_event(2)
    beyond = source_event(3)
    topics = {
        SOURCE: [published(event, 1000 * n) for n, event in enumerate((edit, failing, put_aside, beyond), 1)],
        OUTPUT: [output_of(edit, timestamp_ms=1400), output_of(beyond, at=1, timestamp_ms=4100)],
        ERROR: [error_of(failing, timestamp_ms=2700)],
    }
    entries = DeferredEntries()
    entries.take(b"page_change/0/0000000002", b"{}")
    failed = OffsetRange({(SOURCE, 0): 2}, {(SOURCE, 0): 3})
    found = collected([edit, failing, put_aside, beyond], topics, committed=3, failed=failed, entries=entries)
    assert (found.audit.problems(), found.unmet) == ({}, ())
    assert (found.audit.outputs, found.audit.errors, found.audit.deferred) == (2, 1, 1)
    assert found.past_failed_batch == 1
    latencies = [(event.seconds, event.is_emitted) for event in found.latencies.events]
    assert latencies == [(0.4, True), (0.7, True), (6.0, False), (0.1, True)]


def test_what_came_of_events_that_are_left_out_is_not_looked_at(collected: Collect) -> None:
    warm, warm_error, edit = source_event(0), source_event(1, fate="error", reason="timeout"), source_event(2)
    topics = {OUTPUT: [output_of(warm), output_of(edit, at=1)], ERROR: [error_of(warm_error)]}
    found = collected([edit], topics, committed=3, left_out={warm.position, warm_error.position})
    assert found.audit.problems() == {}
    assert (found.audit.inputs, found.audit.outputs, found.audit.errors) == (1, 1, 0)


def test_an_error_event_of_a_job_beside_it_says_nothing_of_the_event(collected: Collect) -> None:
    edit, failing = source_event(0), source_event(1, fate="error", reason="timeout")
    beside = b'{"emitter_id": "beside", "error_type": "timeout", "message": ""}'
    errors = [arrival(event, beside, topic=ERROR) for event in (edit, failing)]
    topics = {OUTPUT: [output_of(edit)], ERROR: [*errors, error_of(failing)]}
    found = collected([edit, failing], topics, committed=2, jobs_beside={"beside"})
    assert found.audit.problems() == {}
    assert (found.audit.outputs, found.audit.errors) == (1, 1)
    assert sum(kind.events for kind in found.error_events) == 1


def test_fetch_failures_are_looked_up_as_errors(collected: Collect) -> None:
    gone, failing = source_event(0, fate="error", reason="gone"), source_event(1, fate="error", reason="timeout")
    of_fetch = arrival(gone, b'{"exception_type": "gone", "exception_msg": "status 404"}', topic="failures")
    topics = {ERROR: [error_of(failing)], "failures": [of_fetch]}
    found = collected([gone, failing], topics, committed=2, of_program={"fetch_failure": "failures"})
    assert (found.audit.problems(), found.audit.errors) == ({}, 2), found.audit.examples
    assert [kind.type for kind in found.error_events] == ["gone", "timeout"]


def test_lapsed_events_are_looked_up_where_the_program_makes_some(collected: Collect) -> None:
    late = source_event(0)
    topics = {"lapsed": [arrival(late, b"{}", topic="lapsed")]}
    found = collected([late], topics, committed=1, of_program={"lapsed": "lapsed"})
    assert (found.audit.problems(), found.unmet) == ({"lapsed": 1}, (("lapsed", late),))


def test_each_event_that_was_lost_is_found(collected: Collect) -> None:
    lost = [source_event(offset) for offset in range(7)]
    assert collected(lost, {}, committed=7).unmet == tuple(("lost", event) for event in lost)


SEVENTH = {("enwiki", 7)}


class TestPagesMet:
    """A journal that has kept three requests of each rule."""

    ENTRIES = (
        JournalEntry(wiki="enwiki", revision=7 * 4096 + 1),
        JournalEntry(wiki="enwiki", revision=7 * 4096 + 2),
        JournalEntry(wiki=None, revision=None),
    )

    def met(self, when: dict[str, Any], *, requests: int = 3) -> set[tuple[str, int]] | None:
        sizes = {"max_real_bytes": 0, "max_wire_bytes": 0, "max_duration_s": 0}
        counted = RuleTotals(requests=requests, completed=requests, **sizes)
        counts = JournalTotals(requests=9, in_flight=0, by_status={}, rules={"slow": counted})
        mock = cast(MockApi, SimpleNamespace(entries=lambda rule: list(self.ENTRIES)))
        rule = Rule.model_validate({"name": "slow", "when": when, "do": {"latency": "4s"}})
        return pages_matched([rule], mock, counts)

    @pytest.mark.parametrize(
        ("when", "found"),
        [
            *((when, SEVENTH) for when in ({"share": "1%"}, {"page": "X"}, {"revision": 28673}, {"entity": "Q7"})),
            # A rule for all pages makes none of them special.
            *((when, set()) for when in ({}, {"wiki": "enwiki"}, {"window": {"for": "3s"}})),
        ],
    )
    def test_are_those_of_rules_that_pick_pages(self, when: dict[str, Any], found: set[tuple[str, int]]) -> None:
        assert self.met(when) == found

    def test_are_not_known_when_the_journal_has_forgotten_some(self) -> None:
        assert self.met({"share": "1%"}, requests=4) is None
