"""What left twice in different ways, and that nothing is clean which a replay may not do."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.replays import NO_REPLAYS, Replays, RetriedTask
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.checkpoint import OffsetRange
from tests.unit.devkit.observe.audit.audited import EDIT, FAILING, FIRST_TEN, audit, deferred, nonzero
from tests.unit.devkit.observe.audit.events import ERROR, SOURCE, error_of, output_of, source_event

SECOND_OTHER = 5000
"""Milliseconds after which a restarted program writes again."""


def both_ways(event: SourceEvent, *, error_first: bool) -> tuple[Arrival, Arrival]:
    """An output and an error event of it, one of them after a restart."""
    output_ms, error_ms = (SECOND_OTHER, 0) if error_first else (0, SECOND_OTHER)
    return output_of(event, timestamp_ms=output_ms), error_of(event, timestamp_ms=error_ms)


class TestConflicts:
    @pytest.mark.parametrize("error_first", [True, False])
    @pytest.mark.parametrize("errors_are_read_first", [True, False])
    def test_output_and_error_of_one_event_conflict_once(self, error_first: bool, errors_are_read_first: bool) -> None:
        """And the event ended as the first of the two, whichever topic is read first."""
        output, error = both_ways(EDIT, error_first=error_first)
        arrivals = [output, output_of(EDIT, at=1, timestamp_ms=9000), error, error_of(EDIT, at=1, timestamp_ms=9000)]
        if errors_are_read_first:
            arrivals.sort(key=lambda one: one.topic != ERROR)
        ended = {"errors": 1, "misrouted": 1} if error_first else {"outputs": 1}
        ended |= {"inputs": 1, "duplicated": 2, "conflicting": 1, "timed_out": 1, "timed_out_conflicts": 1}
        assert nonzero(audit([EDIT], *arrivals)) == ended

    @pytest.mark.parametrize(
        ("event", "error_first"), [(EDIT, False), (FAILING, True)], ids=["output, then error", "error, then output"]
    )
    @pytest.mark.parametrize(
        ("replays", "excused"),
        [
            (NO_REPLAYS, 0),
            (Replays(1, (FIRST_TEN,)), 1),
            # Its batch was begun once.
            (Replays(1), 0),
            (Replays(1, (OffsetRange({}, {(SOURCE, 1): 10}),)), 0),
            # Without a restart nothing is read again, whatever the program says.
            (Replays(0, (FIRST_TEN,)), 0),
            # Batches are not observable.
            (Replays(1, None), 1),
            # A task that read it ran again, and one that did not.
            (Replays(retried=(RetriedTask((FIRST_TEN,)),)), 1),
            (Replays(retried=(RetriedTask((OffsetRange({(SOURCE, 0): 2}, {(SOURCE, 0): 10}),)),)), 0),
        ],
    )
    def test_one_is_excused_where_its_offset_was_read_again(
        self, event: SourceEvent, error_first: bool, replays: Replays, excused: int
    ) -> None:
        """The first met the event's fate, so that is all there is to say of it."""
        figures = audit([event], *both_ways(event, error_first=error_first), replays=replays)
        assert (figures.conflicting, figures.excused_conflicts, figures.misrouted) == (1, excused, 0)
        assert figures.problems() == ({} if excused else {"conflicting": 1})
        after = "emitted as output after its error event" if error_first else "emitted as error event after its output"
        assert [example.rpartition(": ")[2] for example in figures.examples] == ([] if excused else [after])

    @pytest.mark.parametrize(("event", "error_first"), [(EDIT, True), (FAILING, False)])
    def test_the_first_of_an_excused_one_has_to_meet_the_fate(self, event: SourceEvent, error_first: bool) -> None:
        figures = audit([event], *both_ways(event, error_first=error_first), replays=Replays(1, (FIRST_TEN,)))
        assert figures.problems() == {"misrouted": 1}

    def test_the_second_of_an_excused_one_has_to_be_right_all_the_same(self) -> None:
        error, output = error_of(EDIT), output_of(EDIT, timestamp_ms=SECOND_OTHER, surprise=1)
        figures = audit([EDIT], error, output, replays=Replays(1, (FIRST_TEN,)))
        assert figures.problems() == {"misrouted": 1, "mismatched": 1}

    @pytest.mark.parametrize(
        ("wrong", "example"),
        [({"key": b"other"}, "its key is 'other'; expected 'page 1'"), ({"value": b"garbage"}, "not JSON")],
    )
    def test_so_has_the_error_event_of_one(self, wrong: dict[str, Any], example: str) -> None:
        """What its type must be nobody knows, but it is a record of its page."""
        output, error = both_ways(EDIT, error_first=False)
        figures = audit([EDIT], output, replace(error, **wrong), replays=Replays(1, (FIRST_TEN,)))
        assert figures.problems() == {"mismatched": 1}
        assert example in figures.examples[0]

    @pytest.mark.parametrize(("begun_again", "problems"), [(1, {"conflicting": 1}), (2, {})])
    def test_repeats_and_conflicts_have_one_bound(self, begun_again: int, problems: dict[str, int]) -> None:
        """A batch that was begun twice wrote an event twice, and not three times."""
        output, error = both_ways(EDIT, error_first=False)
        replays = Replays(begun_again, (FIRST_TEN,) * begun_again)
        assert audit([EDIT], output, output_of(EDIT, at=1), error, replays=replays).problems() == problems

    @pytest.mark.parametrize(
        ("replays", "by_retry"),
        [
            (Replays(1, (FIRST_TEN,)), 0),
            (Replays(retried=(RetriedTask((FIRST_TEN,)),)), 1),
            # Either may be the cause: it is counted for the restart.
            (Replays(1, (FIRST_TEN,), (RetriedTask((FIRST_TEN,)),)), 0),
        ],
        ids=["restart", "retried task", "both"],
    )
    def test_what_is_excused_is_counted_by_its_cause(self, replays: Replays, by_retry: int) -> None:
        output, error = both_ways(EDIT, error_first=False)
        conflict = audit([EDIT], output, error, replays=replays)
        assert (conflict.excused_conflicts, conflict.excused_conflicts_by_retry) == (1, by_retry)
        repeat = audit([EDIT], output, output_of(EDIT, at=1), replays=replays)
        assert (repeat.excused, repeat.excused_by_retry) == (1, by_retry)

    def test_each_further_record_has_one_cause(self) -> None:
        """The batch was begun twice, and one of its tasks had run twice before."""
        replays = Replays(1, (FIRST_TEN,), (RetriedTask((FIRST_TEN,)),))
        records = [output_of(EDIT, at=at) for at in range(4)]
        twice = audit([EDIT], *records[:3], replays=replays)
        assert (twice.problems(), twice.excused, twice.excused_by_retry) == ({}, 2, 1)
        assert audit([EDIT], *records, replays=replays).problems() == {"duplicated": 1}

    def test_one_of_a_deferred_event_is_excused_by_a_restart(self) -> None:
        entries = deferred("page_change/0/0000000000")
        for restarts, problems in ((0, {"conflicting": 1}), (1, {})):
            figures = audit([EDIT], *both_ways(EDIT, error_first=False), entries=entries, replays=Replays(restarts))
            assert figures.problems() == problems

    @pytest.mark.parametrize(
        ("event", "second"),
        [(EDIT, output_of(EDIT, at=1, surprise=1)), (FAILING, error_of(FAILING, at=1, error_type="timeout"))],
    )
    def test_other_content_in_the_same_topic_is_never_excused(self, event: SourceEvent, second: Arrival) -> None:
        first = output_of(event) if event is EDIT else error_of(event)
        figures = audit([event], first, second, replays=Replays(9, (FIRST_TEN,) * 9))
        assert (figures.excused, figures.excused_conflicts) == (0, 0)
        assert figures.problems() == {"conflicting": 1}

    def test_an_excused_one_does_not_hide_one_that_reports_a_timeout(self) -> None:
        """The first was read again; the second was not, and a fetch that timed out may have made it."""
        refused = source_event(0)
        late = source_event(50, page=2)
        arrivals = [
            output_of(refused),
            error_of(refused, error_type="access_denied", timestamp_ms=SECOND_OTHER),
            output_of(late, at=1),
            error_of(late, at=1, error_type="deadline_exceeded", timestamp_ms=SECOND_OTHER),
        ]
        figures = audit([refused, late], *arrivals, replays=Replays(1, (FIRST_TEN,)))
        assert figures.problems() == {"conflicting": 1}
        assert (figures.conflicting, figures.excused_conflicts, figures.timed_out_conflicts) == (2, 1, 1)


RECORDS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["output", "error"]), st.sampled_from(["same", "other"])), max_size=12
)


@given(
    RECORDS,
    st.lists(st.sampled_from(["output", "error"]), min_size=4, max_size=4),
    st.integers(0, 4),
    st.lists(st.integers(0, 4), max_size=3),
    st.integers(0, 3),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=3),
)
def test_clean_is_what_a_replay_may_do_and_no_more(
    records: list[tuple[int, Any, str]],
    fates: list[Any],
    committed: int,
    begun_again: list[int],
    restarts: int,
    retried: list[tuple[int, int]],
) -> None:
    """Four events of two pages, and any records of them, each seconds after the one before. `begun_again` are batches
    from the beginning to there, `retried` what a task read that Spark ran again. What is clean is said here by what
    happened to each event, without the audit's classes.
    """
    events = [source_event(n, fate=fate, reason="refused", page=n % 2) for n, fate in enumerate(fates)]
    arrivals: list[Arrival] = []
    for at, (number, way, content) in enumerate(records):
        moment = {"at": at, "timestamp_ms": at * SECOND_OTHER}
        if way == "output":
            arrivals.append(output_of(events[number], **moment, **({"surprise": 1} if content == "other" else {})))
        else:
            arrivals.append(error_of(events[number], **moment, error_type="refused" if content == "same" else "other"))
    replays = Replays(
        restarts,
        tuple(OffsetRange({}, {(SOURCE, 0): end}) for end in begun_again),
        tuple(RetriedTask((OffsetRange({(SOURCE, 0): first}, {(SOURCE, 0): end}),)) for first, end in retried),
    )
    figures = audit(events, *arrivals, committed={(SOURCE, 0): committed}, replays=replays)

    of_event = {n: [(way, content) for number, way, content in records if number == n] for n in range(4)}
    lost = [n for n in range(4) if n < committed and not of_event[n]]
    firsts = [n for at, (n, *_) in enumerate(records) if n not in {number for number, *_ in records[:at]}]
    reordered = any(firsts.index(n) > firsts.index(n + 2) for n in (0, 1) if n in firsts and n + 2 in firsts)
    by_retry = [sum(first <= n < end for first, end in retried) for n in range(4)]
    may_repeat = [min(restarts, sum(n < end for end in begun_again)) + by_retry[n] for n in range(4)]
    as_meant = all(
        not found
        or (
            found[0] == (fates[n], "same")
            and len(found) <= 1 + may_repeat[n]
            and all(len({content for way, content in found if way == one}) <= 1 for one in ("output", "error"))
            and (fates[n], "other") not in found
        )
        for n, found in of_event.items()
    )
    assert (figures.problems() == {}) == (not lost and not reordered and as_meant)
    assert (figures.lost, bool(figures.out_of_order)) == (len(lost), reordered)
    # Each record in one class.
    assert len(firsts) + figures.duplicated + figures.conflicting == len(records)
    assert figures.excused + figures.excused_conflicts <= sum(may_repeat)
    # And each that is excused has one cause, which may have had so many.
    for_retries = figures.excused_by_retry + figures.excused_conflicts_by_retry
    assert for_retries <= sum(by_retry)
    assert figures.excused + figures.excused_conflicts - for_retries <= sum(may_repeat) - sum(by_retry)
    assert 0 <= figures.excused_by_retry <= figures.excused
    assert 0 <= figures.excused_conflicts_by_retry <= figures.excused_conflicts
