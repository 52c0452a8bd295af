"""The mock against the recorded answers of a real MediaWiki: the same pages, the same requests."""

import pytest

from tests.conformance.expectations import load, load_version
from tests.conformance.known import Comparison, Found, compare, count, load_known
from tests.conformance.playing import WRITES
from tests.conformance.questions import load_questions
from tests.conformance.record import play_mock
from tests.conformance.table import DOCUMENT, document

ROOMS = ("mockapi/api", "mockapi/wiki", "docs")
MOST_SHOWN = 20


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(load(), play_mock())


def shown(found: list[Found]) -> str:
    more = f"\n... and {len(found) - MOST_SHOWN} more" if len(found) > MOST_SHOWN else ""
    return "\n".join(map(str, found[:MOST_SHOWN])) + more


def test_every_question_was_put_and_answered(comparison: Comparison) -> None:
    asked = {group: answers for group, answers in comparison.compared.items() if group != WRITES}
    questions = [question.group for question in load_questions()]
    assert asked == {group: questions.count(group) for group in questions}
    assert sum(asked.values()) >= 300
    assert comparison.compared[WRITES] >= 50


def test_no_difference_is_new(comparison: Comparison) -> None:
    _, news = count(load_known(), comparison)
    assert not news, f"{len(news)} differences without an entry in differences.yaml:\n{shown(news)}"


def test_every_known_difference_is_there_as_often_as_it_says(comparison: Comparison) -> None:
    known = load_known()
    counts, _ = count(known, comparison)
    wrong = [
        f"{entry.why}: {entry.count}, found {counts[n]}" for n, entry in enumerate(known) if entry.count != counts[n]
    ]
    assert not wrong, "\n".join([*wrong, "hint: `python -m tests.conformance.record --mock-only` counts again"])
    assert all(entry.count for entry in known), "an entry that covers nothing is to be removed"


def test_the_document_is_what_the_run_gives(comparison: Comparison) -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(comparison, load_known(), load_version()), (
        "hint: `python -m tests.conformance.record --mock-only` writes it again"
    )
