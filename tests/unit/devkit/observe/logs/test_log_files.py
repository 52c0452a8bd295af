from pathlib import Path

import pytest

from devkit.observe.logs.log_end import in_short, last_lines
from devkit.observe.logs.log_files import LogFiles

SPARK = """\
26/03/02 10:00:01 WARN TaskSetManager: Lost task 0.0 in stage 3.0 (TID 9): timed out
26/03/02 10:00:02 ERROR o.a.s.MicroBatchExecution: Query failed
org.apache.kafka.common.errors.RecordTooLargeException: The message is 23048294 bytes
WARNING:kafka.conn:connection refused
"""


@pytest.fixture
def logs(tmp_path: Path) -> LogFiles:
    (tmp_path / "1.log").write_text(SPARK)
    (tmp_path / "1.out").write_bytes(b'{"event": "started"}\nhalf \xff timed out')
    return LogFiles((tmp_path / "1.log", tmp_path / "1.out", tmp_path / "missing.log"))


@pytest.mark.parametrize(
    ("text", "class_name", "lines"),
    [
        ("timed out", None, 2),
        ("timed out", "TaskSetManager", 1),
        ("timed out", "org.apache.spark.scheduler.TaskSetManager", 1),
        ("timed out", "TaskSet", 0),
        ("Query failed", "TaskSetManager", 0),
        ("23048294", "org.apache.kafka.common.errors.RecordTooLargeException", 1),
        ("23048294", "Outer$RecordTooLargeException", 1),
        ("connection refused", "kafka.conn", 1),
        ("connection refused", "other.conn", 0),
        ("no such text", None, 0),
        ("timed.out", None, 0),
    ],
)
def test_lines_with_a_text_and_a_class(logs: LogFiles, text: str, class_name: str | None, lines: int) -> None:
    assert logs.count(text, class_name) == lines


def test_logs_with_and_without_a_line(logs: LogFiles, tmp_path: Path) -> None:
    (tmp_path / "empty.log").touch()
    empty = LogFiles((tmp_path / "empty.log", tmp_path / "missing.log"))
    assert (logs.has_lines, empty.has_lines, empty.count("x"), LogFiles().has_lines) == (True, False, 0, False)


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
