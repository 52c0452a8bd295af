import pytest

from devkit.observe.audit.examples import MOST, Examples, error_text
from tests.unit.devkit.observe.audit.events import ERROR, arrival


def test_one_of_each_problem_before_the_second_of_any_the_worst_first() -> None:
    examples = Examples()
    for number in range(50):
        examples.add("mismatched", f"event {number}", "payload hash differs")
    examples.add("lost", "event x", "never left")
    found = examples.all()
    assert len(found) == MOST
    assert found[:2] == ("lost: event x: never left", "mismatched: event 0: payload hash differs")


def test_a_copy_is_its_own() -> None:
    examples = Examples()
    examples.copy().add("lost", "x", "y")
    assert examples.all() == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b'{"error_type": "timeout", "message": "no answer"}', "timeout: no answer"),
        (b"\xff\x00\x1b[31m", "7 bytes that are no JSON object"),
        (b"[1]", "3 bytes that are no JSON object"),
        (b"{}", "no error_type"),
        (b'{"error_type": "a\\u001bb"}', "a?b"),
    ],
)
def test_an_error_event_in_words_and_never_its_bytes(value: bytes, text: str) -> None:
    assert error_text(arrival(None, value, topic=ERROR)) == text


def test_a_long_message_is_cut() -> None:
    assert len(error_text(arrival(None, {"message": "x" * 5000}, topic=ERROR))) == 200
