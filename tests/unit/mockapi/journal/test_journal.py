from bisect import bisect_left
from dataclasses import fields, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request as HttpRequest

from mockapi.journal.changes import CHANGES_KEPT, ControlChange, ControlChanges
from mockapi.journal.entry import Begun, Entry, Result
from mockapi.journal.journal import ALL, Journal, JournalFilter
from mockapi.journal.tally import LATENCY_BOUNDS_S, Counts, RuleCounts, Tally, route_family
from mockapi.rules.matching import Subject, Target
from mockapi.server.request import Request
from tests.unit.mockapi.journal_entries import asked, entry
from tests.unit.mockapi.manual_time import ManualTime

NOW = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.fixture
def journal(time: ManualTime) -> Journal:
    return Journal(now=lambda: NOW, monotonic=time.monotonic, capacity=3)


OK = Result(status=200, content_length=10, content_encoding="gzip", wire_bytes=10, real_bytes=50, completed=True)


def test_an_entry_says_what_was_asked_answered_and_how_long_it_took(journal: Journal, time: ManualTime) -> None:
    number = journal.begin(asked(draws={"latency_s": 0.5}), at_s=7.0)
    time.now_s += 2.5
    (open_request,) = journal.in_flight()
    assert (open_request.n, open_request.at_s, open_request.waited_s) == (number, 7.0, 2.5)
    assert open_request.draws == {"latency_s": 0.5}
    time.now_s += 1.5
    journal.finish(number, OK)
    (entry,) = journal.entries()
    assert journal.in_flight() == []
    assert (entry.n, entry.at, entry.at_s, entry.duration_s) == (number, NOW, 7.0, 4.0)
    assert (entry.status, entry.real_bytes) == (200, 50)


def test_a_rule_has_met_a_request_that_waits(journal: Journal) -> None:
    ended, number = (journal.begin(asked(request_id=name, rules=("r",)), at_s=1.0) for name in ("ended", "waits"))
    journal.finish(ended, OK)
    counts = journal.counts(())
    assert (counts.rules["r"].requests, counts.rules["r"].in_flight, counts.in_flight) == (1, 1, 1)
    journal.finish(number, OK)
    assert (journal.counts(()).rules["r"].requests, journal.counts(()).rules["r"].in_flight) == (2, 0)


def test_entries_are_bounded_and_counts_are_not(journal: Journal) -> None:
    for n in range(10):
        journal.finish(journal.begin(asked(request_id=str(n), rules=("r",)), at_s=n), OK)
    assert [entry.request_id for entry in journal.entries()] == ["7", "8", "9"]
    counts = journal.counts(("r", "never"))
    assert (counts.requests, counts.fetches, sum(counts.latency.counts)) == (10, 10, 10)
    assert (counts.rules["r"].requests, counts.rules["r"].by_status) == (10, {"200": 10})
    assert (counts.rules["r"].first_at_s, counts.rules["r"].last_at_s) == (0, 9)
    assert counts.rules["never"] == RuleCounts()


@pytest.mark.parametrize(
    ("wanted", "limit", "found"),
    [
        (JournalFilter(revision=2), None, [2, 3]),
        (JournalFilter(revision=2), 1, [3]),
        (ALL, 2, [2, 3]),
        (ALL, 0, []),
    ],
)
def test_filters_and_limit(journal: Journal, wanted: JournalFilter, limit: int | None, found: list[int]) -> None:
    for revision in (1, 2, 2):
        journal.finish(journal.begin(asked(revision=revision), at_s=0), OK)
    assert [entry.n for entry in journal.entries(wanted, limit=limit)] == found


def test_what_rules_could_see_is_kept_without_the_body(journal: Journal) -> None:
    request = Request("POST", "/p", "/p", "", {"host": "h"}, "127.0.0.1", body=b"much")
    subject = Subject(request, (Target(revision=1),), key="1", attempt=1, at_s=0.0)
    journal.finish(journal.begin(asked(), 0.0, subject), OK)
    journal.finish(journal.begin(asked(), 0.0), OK)
    known, unknown = journal.kept()
    assert known.subject == replace(subject, request=replace(request, body=b""))
    assert unknown.subject is None
    assert journal.size == 2


def test_sums_go_on_beyond_what_is_kept(journal: Journal, time: ManualTime) -> None:
    for n in range(5):
        number = journal.begin(asked(request_id=str(n)), at_s=n)
        time.now_s += 0.5
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


NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
ANONYMOUS = HttpRequest({"type": "http", "headers": []})
CURL = HttpRequest({"type": "http", "headers": [(b"user-agent", b"curl/8.5")], "client": ("127.0.0.1", 40000)})


def test_each_has_the_next_number_and_what_who_and_when() -> None:
    changes = ControlChanges(lambda: NOW)
    changes.note(CURL, "added", ["slow"])
    changes.note(ANONYMOUS, "reset")
    assert changes.kept == (
        ControlChange(n=1, at=NOW, action="added", rules=("slow",), client="127.0.0.1", author="curl/8.5"),
        ControlChange(n=2, at=NOW, action="reset"),
    )


def test_all_are_counted_and_the_newest_kept() -> None:
    changes = ControlChanges(lambda: NOW)
    for _ in range(CHANGES_KEPT + 2):
        changes.note(ANONYMOUS, "removed", ["slow"])
    assert (changes.revision, len(changes.kept), changes.kept[0].n) == (CHANGES_KEPT + 2, CHANGES_KEPT, 3)


FACTS: dict[str, Any] = {
    "n": 5,
    "path": "/w/rest.php/v1/revision/5/html",
    "page": "Old harbour",
    "revision": 5,
    "revisions": (5, 6),
    "key": "5",
    "rules": ("r", "s"),
    "status": 504,
}


FILTERS: dict[str, tuple[list[Any], list[Any]]] = {
    # values that fit the facts, and values that do not
    "rule": (["s"], ["t"]),
    "key": (["5"], ["6"]),
    "revision": ([6], [7]),
    "request_id": (["id"], ["i"]),
    "page": (["Old_harbour"], ["Old"]),
    "path": (["/w/rest.php/*"], ["/w/api.php"]),
    "status": (["504", "5xx"], ["4xx", "none"]),
    "since": ([4], [5]),
}
SEVERAL = {"rule": "s", "status": "5xx", "revision": 5}
FITTING = [{}, SEVERAL, *({key: value} for key, (fitting, _) in FILTERS.items() for value in fitting)]
OTHER = [{**SEVERAL, "revision": 7}, *({key: value} for key, (_, others) in FILTERS.items() for value in others)]


@pytest.mark.parametrize(
    ("wanted", "holds"), [*((one, True) for one in FITTING), *((one, False) for one in OTHER)], ids=str
)
def test_all_that_is_given_must_hold(wanted: dict[str, Any], holds: bool) -> None:
    assert JournalFilter(**wanted).holds(entry(**FACTS)) is holds


@pytest.mark.parametrize("status", ["none", "504", "5xx", "2xx"])
def test_an_answer_that_was_not_sent_has_no_status(status: str) -> None:
    assert JournalFilter(status=status).holds(entry(**{**FACTS, "status": None})) is (status == "none")


def test_a_request_without_a_page_is_of_no_page() -> None:
    nowhere = entry(**{**FACTS, "page": None, "revision": None, "revisions": ()})
    assert ALL.holds(nowhere)
    assert not JournalFilter(page="None").holds(nowhere)
    assert not JournalFilter(revision=5).holds(nowhere)


def matched_entry(**fields: Any) -> Entry:
    return entry(**{"rules": ("r",), **fields})


def tallied(*entries: Entry, rule_names: tuple[str, ...] = ("r",)) -> Counts:
    tally = Tally()
    for one in entries:
        tally.add(one)
    return tally.counts(rule_names, ())


def test_when_the_last_request_came_in_whichever_ended_last() -> None:
    assert tallied(matched_entry(at_s=2.0), matched_entry(at_s=5.0, rules=()), matched_entry(at_s=3.0)).last_at_s == 5.0


def test_nothing_yet() -> None:
    counts = tallied()
    assert counts.last_at_s is None
    assert (counts.requests, counts.fetches, counts.max_attempt, counts.by_status) == (0, 0, 0, {})
    assert counts.rules == {"r": RuleCounts()}
    assert sum(counts.latency.counts) == 0


def test_a_rule_keeps_the_largest_the_incomplete_and_the_answers() -> None:
    counts = tallied(
        matched_entry(status=200, content_length=900, wire_bytes=100, real_bytes=7_000, duration_s=3.0, at_s=5.0),
        matched_entry(status=200, content_length=10, wire_bytes=10, real_bytes=50, completed=True, at_s=2.0),
        matched_entry(status=504, completed=True, at_s=4.0),
        matched_entry(rules=()),
    )
    assert counts.rules["r"] == RuleCounts(
        requests=3,
        completed=2,
        by_status={"200": 2, "504": 1},
        max_real_bytes=7_000,
        max_wire_bytes=100,
        max_content_length=900,
        max_duration_s=3.0,
        first_at_s=2.0,
        last_at_s=5.0,
    )
    assert counts.by_status == {"200": 2, "504": 1, "none": 1}


def test_a_fetch_is_a_first_attempt() -> None:
    counts = tallied(*(matched_entry(attempt=attempt) for attempt in (1, 2, 1, 3, 4)))
    assert (counts.requests, counts.fetches, counts.max_attempt) == (5, 2, 4)


def test_rules_that_are_gone_keep_their_counts() -> None:
    assert set(tallied(matched_entry(), rule_names=("new",)).rules) == {"new", "r"}


def test_the_bounds_go_from_five_milliseconds_to_two_minutes_evenly() -> None:
    assert (LATENCY_BOUNDS_S[0], LATENCY_BOUNDS_S[-1]) == (0.005, 120.0)
    for shorter, longer in pairwise(LATENCY_BOUNDS_S):
        assert longer / shorter == pytest.approx(1.183, abs=0.001)


@given(st.lists(st.floats(0, 500), max_size=30))
def test_every_duration_is_counted_once_under_its_bound(durations: list[float]) -> None:
    latency = tallied(*(matched_entry(duration_s=duration) for duration in durations)).latency
    expected = [0] * len(latency.le_s)
    for duration in durations:
        expected[bisect_left(latency.le_s[:-1], duration)] += 1
    assert list(latency.counts) == expected


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("/w/rest.php/v1/revision/5/html", "rest revision/html"),
        ("/w/rest.php/content/v1/revision/5/with_html", "rest revision/with_html"),
        ("/w/rest.php/v1/revision/5/bare", "rest revision/bare"),
        ("/w/rest.php/v1/revision/5", "rest revision"),
        ("/w/rest.php/v1/page/A/B/html", "rest page/html"),
        ("/w/rest.php/v1/page/html", "rest page"),
        ("/w/rest.php/v1/page", "rest page"),
        ("/w/rest.php/v1/search", "rest other"),
        ("/w/rest.php/", "rest other"),
        ("/api/rest_v1/page/html/A", "restbase"),
        ("/w/api.php", "action"),
        ("/", "other"),
        ("", "other"),
    ],
)
def test_a_path_is_of_one_part(path: str, family: str) -> None:
    assert route_family(path) == family


@given(st.text(), st.sampled_from(["", "/w/rest.php/v1/", "/w/rest.php/v1/page/", "/w/api.php"]))
def test_there_are_few_names_whatever_is_asked(text: str, prefix: str) -> None:
    forms = {f"rest {noun}{form}" for noun in ("page", "revision") for form in ("", "/html", "/bare", "/with_html")}
    assert route_family(prefix + text) in {"rest other", "restbase", "action", "other", *forms}
