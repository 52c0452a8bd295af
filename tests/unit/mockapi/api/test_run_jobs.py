from typing import Any

import pytest

SIGNED = b"title=Special:RunJobs&maxjobs=10&tasks=&sigexpiry=1&signature=x"
FORM = {"content-type": "application/x-www-form-urlencoded"}


def test_there_never_is_a_job(wiki: Any) -> None:
    answer = wiki.ask("/w/index.php", method="POST", headers=FORM, body=SIGNED)
    assert (answer.status, answer["content-type"]) == (200, "application/json")
    assert answer.json == {"jobs": [], "backoffs": [], "elapsed": 0, "reached": "none-ready"}


@pytest.mark.parametrize(
    ("query", "method", "words"),
    [
        ("title=Special:RunJobs", "GET", b"<p>Request must be POSTed.</p>"),
        ("title=special:runjobs&signature=x", "POST", b"<p>Missing parameters: tasks, sigexpiry</p>"),
    ],
)
def test_what_is_missing_is_told(wiki: Any, query: str, method: str, words: bytes) -> None:
    answer = wiki.ask(f"/w/index.php?{query}", method=method, headers=FORM)
    assert answer.status == 400
    assert words in answer.body


def test_other_pages_are_not_here(wiki: Any) -> None:
    assert wiki.ask("/w/index.php?title=Main_Page").status == 404
