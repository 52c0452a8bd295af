from dataclasses import fields
from datetime import UTC, datetime

import pytest

from mockapi.journal.entry import Asked, Begun, Entry, Result
from mockapi.journal.journal import Journal, JournalFilter
from mockapi.journal.tally import RuleCounts
from mockapi.rules.matching import Subject, Target
from mockapi.server.request import Request

NOW = datetime(2026, 11, 21, tzinfo=UTC)


class Seconds:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def journal(seconds: Seconds) -> Journal:
    return Journal(now=lambda: NOW, monotonic=seconds, capacity=3)


def asked(request_id: str = "id", *, revision: int = 1, rules: tuple[str, ...] = ()) -> Asked:
    return Asked(
        method="GET",
        path="/p",
        host="h",
        wiki="enwiki",
        page="A",
        revision=revision,
        request_id=request_id,
        attempt=1,
        rules=rules,
        draws={"latency_s": 0.5},
    )


OK = Result(status=200, content_length=10, content_encoding="gzip", wire_bytes=10, real_bytes=50, completed=True)


def test_an_entry_says_what_was_asked_answered_and_how_long_it_took(journal: Journal, seconds: Seconds) -> None:
    number = journal.begin(asked(), at_s=7.0)
    seconds.at += 2.5
    (open_request,) = journal.in_flight()
    assert (open_request.n, open_request.at_s, open_request.waited_s) == (number, 7.0, 2.5)
    assert open_request.draws == {"latency_s": 0.5}
    seconds.at += 1.5
    journal.finish(number, OK)
    (entry,) = journal.entries()
    assert journal.in_flight() == []
    assert (entry.n, entry.at, entry.at_s, entry.duration_s) == (number, NOW, 7.0, 4.0)
    assert (entry.status, entry.real_bytes) == (200, 50)


def test_a_rule_has_met_a_request_that_waits(journal: Journal) -> None:
    ended, number = (journal.begin(asked(name, rules=("r",)), at_s=1.0) for name in ("ended", "waits"))
    journal.finish(ended, OK)
    counts = journal.counts(())
    assert (counts.rules["r"].requests, counts.rules["r"].in_flight, counts.in_flight) == (1, 1, 1)
    journal.finish(number, OK)
    assert (journal.counts(()).rules["r"].requests, journal.counts(()).rules["r"].in_flight) == (2, 0)


def test_entries_are_bounded_and_counts_are_not(journal: Journal) -> None:
    for n in range(10):
        journal.finish(journal.begin(asked(str(n), rules=("r",)), at_s=n), OK)
    assert [entry.request_id for entry in journal.entries()] == ["7", "8", "9"]
    counts = journal.counts(("r", "never"))
    assert (counts.requests, counts.fetches, sum(counts.latency.counts)) == (10, 10, 10)
    assert (counts.rules["r"].requests, counts.rules["r"].by_status) == (10, {"200": 10})
    assert (counts.rules["r"].first_at_s, counts.rules["r"].last_at_s) == (0, 9)
    assert counts.rules["never"] == RuleCounts()


def test_filters_and_limit(journal: Journal) -> None:
    journal.finish(journal.begin(asked("a", revision=1, rules=("r",)), at_s=0), OK)
    journal.finish(journal.begin(asked("b", revision=2, rules=("r",)), at_s=0), OK)
    journal.finish(journal.begin(asked("a", revision=2), at_s=0), OK)

    def found(**filters: object) -> list[int]:
        limit = filters.pop("limit", None)
        return [entry.n for entry in journal.entries(JournalFilter(**filters), limit=limit)]  # type: ignore[arg-type]

    assert found(rule="r") == [1, 2]
    assert found(revision=2) == [2, 3]
    assert found(request_id="a", revision=2) == [3]
    assert found(limit=2) == [2, 3]
    assert found(limit=0) == []


def test_what_rules_could_see_is_kept_without_the_body(journal: Journal) -> None:
    request = Request("POST", "/p", "/p", "", {"host": "h"}, "127.0.0.1", body=b"much")
    subject = Subject(request, (Target(revision=1),), key="1", attempt=1, at_s=0.0)
    journal.finish(journal.begin(asked(), 0.0, subject), OK)
    journal.finish(journal.begin(asked(), 0.0), OK)
    known, unknown = journal.kept()
    assert known.subject == Subject(
        Request("POST", "/p", "/p", "", {"host": "h"}, "127.0.0.1"), (Target(revision=1),), key="1", attempt=1, at_s=0.0
    )
    assert unknown.subject is None
    assert journal.size == 2


def test_sums_go_on_beyond_what_is_kept(journal: Journal, seconds: Seconds) -> None:
    for n in range(5):
        number = journal.begin(asked(str(n)), at_s=n)
        seconds.at += 0.5
        journal.finish(number, OK)
    totals = journal.totals()
    assert totals.by_route == {("other", "200"): 5}
    assert (totals.duration_s, totals.wire_bytes, totals.real_bytes) == (2.5, 50, 250)
    journal.clear()
    assert journal.totals().by_route == {}


def test_clearing_also_forgets_requests_under_way(journal: Journal) -> None:
    before = journal.begin(asked(rules=("r",)), at_s=0)
    journal.clear()
    journal.finish(before, OK)
    assert journal.entries() == []
    assert journal.counts(("r",)).rules == {"r": RuleCounts()}


def test_an_entry_is_its_parts() -> None:
    begun = Begun(n=1, at=NOW, at_s=0.5)
    entry = Entry.of(begun, asked(), OK, 2.5)
    assert entry == Entry(**vars(begun), **vars(asked()), **vars(OK), duration_s=2.5)
    assert {field.name for field in fields(Entry)} == set(vars(entry))
