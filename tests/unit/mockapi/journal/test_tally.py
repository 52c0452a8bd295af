from bisect import bisect_left
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.journal.entry import Entry
from mockapi.journal.tally import LATENCY_BOUNDS_S, Counts, RuleCounts, Tally, route_family
from tests.unit.mockapi.journal_entries import entry as entry_of


def entry(**fields: Any) -> Entry:
    return entry_of(**{"rules": ("r",), **fields})


def tallied(*entries: Entry, rule_names: tuple[str, ...] = ("r",)) -> Counts:
    tally = Tally()
    for one in entries:
        tally.add(one)
    return tally.counts(rule_names, ())


def test_when_the_last_request_came_in_whichever_ended_last() -> None:
    assert tallied(entry(at_s=2.0), entry(at_s=5.0, rules=()), entry(at_s=3.0)).last_at_s == 5.0


def test_nothing_yet() -> None:
    counts = tallied()
    assert counts.last_at_s is None
    assert (counts.requests, counts.fetches, counts.max_attempt, counts.by_status) == (0, 0, 0, {})
    assert counts.rules == {"r": RuleCounts()}
    assert sum(counts.latency.counts) == 0


def test_a_rule_keeps_the_largest_the_incomplete_and_the_answers() -> None:
    counts = tallied(
        entry(status=200, content_length=900, wire_bytes=100, real_bytes=7_000, duration_s=3.0, at_s=5.0),
        entry(status=200, content_length=10, wire_bytes=10, real_bytes=50, completed=True, at_s=2.0),
        entry(status=504, completed=True, at_s=4.0),
        entry(rules=()),
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
    counts = tallied(*(entry(attempt=attempt) for attempt in (1, 2, 1, 3, 4)))
    assert (counts.requests, counts.fetches, counts.max_attempt) == (5, 2, 4)


def test_rules_that_are_gone_keep_their_counts() -> None:
    assert set(tallied(entry(), rule_names=("new",)).rules) == {"new", "r"}


def test_the_bounds_go_from_five_milliseconds_to_two_minutes_evenly() -> None:
    assert (LATENCY_BOUNDS_S[0], LATENCY_BOUNDS_S[-1]) == (0.005, 120.0)
    for shorter, longer in pairwise(LATENCY_BOUNDS_S):
        assert longer / shorter == pytest.approx(1.183, abs=0.001)


@given(st.lists(st.floats(0, 500), max_size=30))
def test_every_duration_is_counted_once_under_its_bound(durations: list[float]) -> None:
    latency = tallied(*(entry(duration_s=duration) for duration in durations)).latency
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
