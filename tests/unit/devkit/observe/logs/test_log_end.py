from pathlib import Path

import pytest

from devkit.observe.logs.log_end import in_short, last_lines

TRACEBACK = """\
starting
Traceback (most recent call last):
  File "a.py", line 1, in <module>
    main()
  File "a.py", line 9, in main
    raise ValueError("boom")
ValueError: boom
"""


def test_the_frames_of_a_traceback_are_one_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(TRACEBACK)
    assert last_lines(log, 3) == ("Traceback (most recent call last):", "    … 2 frames", "ValueError: boom")
    assert last_lines(log, 1) == ("ValueError: boom",)
    log.write_text("\n \n")
    assert last_lines(log, 3) == ()


def test_an_error_message_begins_with_the_line_that_names_the_problem() -> None:
    words = "Traceback (most recent call last):\nValueError: boom\nbye"
    assert in_short(words).splitlines() == [
        "ValueError: boom",
        "its last lines:",
        *(f"  {x}" for x in words.split("\n")),
    ]


@pytest.mark.parametrize(
    ("words", "first"), [("one line", "one line"), ("a\nb", "b"), ("error: a\nhint: b", "error: a")]
)
def test_without_a_line_that_names_it_the_last_one_does(words: str, first: str) -> None:
    assert in_short(words).splitlines()[0] == first
