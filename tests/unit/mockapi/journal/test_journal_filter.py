from datetime import UTC, datetime
from typing import Any

import pytest

from mockapi.journal.entry import Entry
from mockapi.journal.journal import ALL, JournalFilter

FACTS: dict[str, Any] = {
    "n": 5,
    "at": datetime(2026, 11, 21, tzinfo=UTC),
    "at_s": 0.0,
    "method": "GET",
    "path": "/w/rest.php/v1/revision/5/html",
    "host": "h",
    "wiki": "enwiki",
    "page": "Old harbour",
    "revision": 5,
    "revisions": (5, 6),
    "key": "5",
    "request_id": "id",
    "attempt": 1,
    "rules": ("r", "s"),
    "draws": {},
    "status": 504,
    "duration_s": 0.0,
}


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        ({}, True),
        ({"rule": "s"}, True),
        ({"rule": "t"}, False),
        ({"key": "5"}, True),
        ({"key": "6"}, False),
        ({"revision": 6}, True),
        ({"revision": 7}, False),
        ({"request_id": "id"}, True),
        ({"request_id": "i"}, False),
        ({"page": "Old_harbour"}, True),
        ({"page": "Old"}, False),
        ({"path": "/w/rest.php/*"}, True),
        ({"path": "/w/api.php"}, False),
        ({"status": "504"}, True),
        ({"status": "5xx"}, True),
        ({"status": "4xx"}, False),
        ({"status": "none"}, False),
        ({"since": 4}, True),
        ({"since": 5}, False),
        ({"rule": "s", "status": "5xx", "revision": 5}, True),
        ({"rule": "s", "status": "5xx", "revision": 7}, False),
    ],
)
def test_all_that_is_given_must_hold(wanted: dict[str, Any], holds: bool) -> None:
    assert JournalFilter(**wanted).holds(Entry(**FACTS)) is holds


@pytest.mark.parametrize("status", ["none", "504", "5xx", "2xx"])
def test_an_answer_that_was_not_sent_has_no_status(status: str) -> None:
    assert JournalFilter(status=status).holds(Entry(**{**FACTS, "status": None})) is (status == "none")


def test_a_request_without_a_page_is_of_no_page() -> None:
    nowhere = Entry(**{**FACTS, "page": None, "revision": None, "revisions": ()})
    assert ALL.holds(nowhere)
    assert not JournalFilter(page="None").holds(nowhere)
    assert not JournalFilter(revision=5).holds(nowhere)
