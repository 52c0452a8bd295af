import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.logs.log_end import in_short, last_lines
from devkit.observe.logs.log_files import LogFiles
from devkit.observe.logs.logs import LineTail, LoggedException, UnknownLine, exceptions_in
from pipeline.events import BatchStarted, Failed

TOO_LARGE = (
    "The message is 23048294 bytes when serialized which is larger than 20971520, "
    "which is the value of the max.request.size configuration."
)
# As Spark, py4j and Python write it when a Kafka sink refuses a record, shortened.
SPARK_LOG = f"""\
2026-11-21T10:02:27.113 WARN TaskSetManager: Lost task 0.0 in stage 5.0 (TID 6) (127.0.0.1 executor driver): \
org.apache.kafka.common.errors.RecordTooLargeException: {TOO_LARGE}

2026-11-21T10:02:27.115 ERROR TaskSetManager: Task 0 in stage 5.0 failed 1 times; aborting job
2026-11-21T10:02:27.141 ERROR MicroBatchExecution: Query [id = 3d8f, runId = 9a01] terminated with error
org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows. SQLSTATE: 58030
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.taskFailed(QueryExecutionErrors.scala:820)
\tat java.base/java.lang.Thread.run(Thread.java:1474)
Caused by: org.apache.kafka.common.errors.RecordTooLargeException: {TOO_LARGE}
Traceback (most recent call last):
  File "pipeline/driver/query.py", line 62, in run
    query.awaitTermination()
pyspark.errors.exceptions.captured.StreamingQueryException: [STREAM_FAILED] Query [id = 3d8f] terminated
py4j.protocol.Py4JJavaError: An error occurred while calling o87.awaitTermination.
: org.apache.spark.sql.streaming.StreamingQueryException: Job aborted
"""

LONG = "x" * 2_000_000
SHORTENED = f"{'x' * 1999}…"
SPARK = """\
26/03/02 10:00:01 WARN TaskSetManager: Lost task 0.0 in stage 3.0 (TID 9): timed out
26/03/02 10:00:02 ERROR o.a.s.MicroBatchExecution: Query failed
org.apache.kafka.common.errors.RecordTooLargeException: The message is 23048294 bytes
WARNING:kafka.conn:connection refused
"""


def seen(tmp_path: Path, text: str) -> list[tuple[str, str]]:
    log = tmp_path / "pipeline-1.log"
    log.write_text(text)
    return [(found.class_name, found.message) for found in exceptions_in(log, 1)]


PYTHON_LOG = """\
ERROR:root:page 'Long' was not enriched
Traceback (most recent call last):
  File "my_pipeline.py", line 31, in enriched
    return event["revision"]["rev_id"]
           ~~~~~~~~~~~~~~~~~^^^^^^^^^^
KeyError: 'rev_id'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "my_pipeline.py", line 60, in main
    raise Oops
Oops
INFO:root:Done: all else
Note: Nothing
"""


def test_exceptions_of_a_program_in_python_also_those_that_are_built_in(tmp_path: Path) -> None:
    assert seen(tmp_path, PYTHON_LOG) == [("KeyError", "'rev_id'"), ("Oops", "")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", ("OutOfMemoryError", "Java heap space")),
        ("Caused by: java.util.concurrent.TimeoutException", ("TimeoutException", "")),
        ("\tSuppressed: java.io.IOException: closed", ("IOException", "closed")),
        ("java.nio.channels.spi.AbstractSelector$ClosedException: gone", ("ClosedException", "gone")),
        (
            "2026-11-21T10:02:27 WARN Task: a.B_c: org.apache.kafka.common.KafkaException: x: y",
            ("KafkaException", "x: y"),
        ),
        ("org.apache.spark.api.python.PythonException: Traceback (most:", ("PythonException", "Traceback (most:")),
        ("org.apache.kafka010.SomeException: x\r", ("SomeException", "x")),
        ("2026-11-21T10:02:27 INFO Executor: Finished task 0.0 in stage 0.0 (TID 0)", None),
        ("\tat org.apache.spark.SparkException.from(SparkException.scala:1)", None),
        ("setting spark.sql.SomeException=true", None),
        ("RecordTooLargeException is what one would see here", None),
        ("org.apache.kafka.common.errors.RecordTooLargeExceptionHandler: no", None),
        pytest.param(f"a.OneException: {LONG}", ("OneException", SHORTENED), id="a long message"),
        ("KeyError: 'rev_id'\nTraceback (most recent call last):\nstopped by hand\nHint: no", None),
        ("", None),
    ],
)
def test_an_exception_in_a_line(tmp_path: Path, line: str, expected: tuple[str, str] | None) -> None:
    assert seen(tmp_path, f"before\n{line}\nafter\n") == ([expected] if expected else [])


def test_each_is_told_once_in_the_order_of_first_appearance(tmp_path: Path) -> None:
    text = "a.OneException: x\nb.TwoException: y\na.OneException: x\na.OneException: z\n"
    assert seen(tmp_path, text) == [("OneException", "x"), ("TwoException", "y"), ("OneException", "z")]


def test_a_real_failure(tmp_path: Path) -> None:
    assert seen(tmp_path, SPARK_LOG) == [
        ("RecordTooLargeException", TOO_LARGE),
        ("SparkException", "[TASK_WRITE_FAILED] Task failed while writing rows. SQLSTATE: 58030"),
        ("StreamingQueryException", "[STREAM_FAILED] Query [id = 3d8f] terminated"),
        ("Py4JJavaError", "An error occurred while calling o87.awaitTermination."),
        ("StreamingQueryException", "Job aborted"),
    ]


def test_bytes_that_are_no_text_do_not_matter(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(b"\xff\xfe\x00\na.OneException: x\n")
    assert exceptions_in(log, 3) == (LoggedException(3, "OneException", "x"),)


def test_a_process_that_never_logged(tmp_path: Path) -> None:
    assert exceptions_in(tmp_path / "none.log", 1) == ()


class TestTail:
    @pytest.mark.parametrize(
        ("pieces", "names"),
        [
            (['{"event": "a"}\n{"event": "b"}\n', "", '{"event": "c"}\n'], [["a", "b"], [], ["c"]]),
            ([None, '{"event": "a"}\n'], [[], ["a"]]),
            (['{"event": "a"}\n{"event": "b"}', '\n{"event": "c"}\n'], [["a", "b"], ["c"]]),
        ],
        ids=["each line is read once", "a file that is not there yet", "a last line without its newline"],
    )
    def test_reads_what_is_new(self, tmp_path: Path, pieces: list[str | None], names: list[list[str]]) -> None:
        tail, path = LineTail(tmp_path / "out"), tmp_path / "out"
        for piece, events in zip(pieces, names, strict=True):
            if piece is not None:
                with path.open("a") as file:
                    file.write(piece)
            assert list(tail.new_events()) == [UnknownLine(name, {}) for name in events]

    NESTED = tuple(f'{"[" * depth}\n{{"event": "deep", "x": {"[" * depth}{"]" * depth}}}' for depth in (250, 200_000))

    @pytest.mark.parametrize(
        "noise",
        [
            *("hello", "", "[1, 2]", '"text"', "12", "null", '{"half": ', '{"event": 5}', "{}", "\udcff\udcfe"),
            *(pytest.param(text, id=f"nested {len(text)} deep") for text in NESTED),
        ],
    )
    def test_what_is_not_one_of_its_lines_is_left_out(self, tmp_path: Path, noise: str) -> None:
        (tmp_path / "out").write_text(f'{noise}\n{{"event": "a"}}\n', errors="surrogateescape")
        assert list(LineTail(tmp_path / "out").new_events()) == [UnknownLine("a", {})]

    def test_what_a_pipeline_says_is_typed_and_what_another_program_says_is_kept(self, tmp_path: Path) -> None:
        (tmp_path / "out").write_text(
            '{"at": "2026-11-22T10:00:00Z", "event": "batch_started", "batch": 7, "reserved": 2, "new": 1}\n'
            '{"event": "batch_started", "batch": "7"}\n'
            '{"at": "now", "event": "mine", "figure": [1, null]}\n'
        )
        assert list(LineTail(tmp_path / "out").new_events()) == [
            BatchStarted(batch=7, reserved=2),
            UnknownLine("batch_started", {"batch": "7"}),
            UnknownLine("mine", {"figure": [1, None]}),
        ]

    @pytest.mark.parametrize(
        ("line", "event"),
        [
            ({"event": "failed", "error": LONG}, Failed(error=SHORTENED)),
            ({"event": "mine", "a": [{"b": LONG}], "n": 1}, UnknownLine("mine", {"a": [{"b": SHORTENED}], "n": 1})),
            ({"event": "configuration", "of": LONG}, UnknownLine("configuration", {"of": LONG})),
        ],
        ids=["error", "nested", "configuration"],
    )
    def test_long_texts_are_shortened(self, tmp_path: Path, line: object, event: Failed | UnknownLine) -> None:
        (tmp_path / "out").write_text(json.dumps(line))
        assert list(LineTail(tmp_path / "out").new_events()) == [event]

    def test_of_a_log_of_spark_only_what_is_asked_for(self, tmp_path: Path) -> None:
        (tmp_path / "err").write_text(
            "26/11/23 10:00:00 WARN TaskSetManager: Lost task\n"
            '{"event": "a"}\n'
            'WARN Logger: {"event": "b"}\n'
            '{"event": "b", "figure": 5}\n'
            '{"event": "b"}'
        )
        found = list(LineTail(tmp_path / "err", {"b"}).new_events())
        assert found == [UnknownLine("b", {"figure": 5}), UnknownLine("b", {})]

    def test_half_a_surrogate_pair_is_replaced_and_the_event_kept(self, tmp_path: Path) -> None:
        (tmp_path / "out").write_text('{"event": "done", "title": "a\\ud83d", "\\ude00": "\\ud83d\\ude00"}\n')
        assert list(LineTail(tmp_path / "out").new_events()) == [
            UnknownLine("done", {"title": "a?", "?": "\U0001f600"})
        ]

    @given(st.lists(st.text(max_size=5), max_size=6), st.data())
    def test_however_the_file_grows_each_line_comes_whole(
        self, tmp_path_factory: pytest.TempPathFactory, names: list[str], data: st.DataObject
    ) -> None:
        content = "".join(json.dumps({"event": name}, ensure_ascii=False) + "\n" for name in names).encode()
        path = tmp_path_factory.mktemp("tail") / "out"
        tail, got, written = LineTail(path), list[str](), 0
        while written < len(content):
            piece = data.draw(st.integers(1, len(content) - written), label="bytes written")
            with path.open("ab") as file:
                file.write(content[written : written + piece])
            written += piece
            got += [event.event for event in tail.new_events()]
        assert got == names


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
