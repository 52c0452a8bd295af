import io
import json
import os
import sys
from datetime import datetime, timedelta

import pytest

from pipeline import log
from pipeline.events import BatchWritten, GaveUp, Stopping, Waiting
from pipeline.log import LineOutput


def test_one_json_object_a_line_with_the_time_in_utc(capsys: pytest.CaptureFixture[str]) -> None:
    reason = "two\nlines, ä"
    log.emit(Waiting(batch=3, reason=reason, wikis=("enwiki", "dewiki")))
    log.emit(Stopping(batch=None, rounds=0, within_s=0.25))
    output = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [datetime.fromisoformat(line.pop("at")).utcoffset() for line in output] == [timedelta(0), timedelta(0)]
    assert output == [
        # Entries and bytes are not what it waits for.
        {"event": "waiting", "batch": 3, "reason": reason, "wikis": ["enwiki", "dewiki"]},
        {"event": "stopping", "batch": None, "rounds": 0, "within_s": 0.25},
    ]


@pytest.mark.parametrize(("encoding", "reason"), [("ascii", "ä"), ("utf-8", "half a character, \ud800")])
def test_what_cannot_be_encoded_is_escaped(monkeypatch: pytest.MonkeyPatch, encoding: str, reason: str) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    log.emit(GaveUp(position="topic/0/7", reason=reason))
    (line,) = raw.getvalue().splitlines()
    assert json.loads(line)["reason"] == reason


class Full(io.StringIO):
    def flush(self) -> None:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("stream", ["full", "closed", None])
def test_only_a_line_that_cannot_be_written_is_lost(monkeypatch: pytest.MonkeyPatch, stream: str | None) -> None:
    to = None if stream is None else Full() if stream == "full" else io.StringIO()
    if stream == "closed" and to is not None:
        to.close()
    monkeypatch.setattr(sys, "stdout", to)
    monkeypatch.setattr(sys, "stderr", to)
    log.emit(BatchWritten(batch=3, seconds=0.25))
    log.write_stderr("error: it broke")


def test_a_reader_that_stands_still_holds_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a pipe holds is far less than these lines."""
    monkeypatch.setattr(log, "_STDOUT", LineOutput(0.0))
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream, os.fdopen(reader, "rb") as log_reader:
        monkeypatch.setattr(sys, "stdout", stream)
        for number in range(100):
            log.emit(GaveUp(position=f"topic/0/{number}", reason="r" * 10_000))
        os.set_blocking(log_reader.fileno(), False)
        log_reader.read()
        log.emit(BatchWritten(batch=3, seconds=0.25))
        written, lost = (json.loads(line) for line in log_reader.read().splitlines() if line)
    assert written["batch"] == 3
    assert (lost["event"], lost["lines"] > 80) == ("lines_lost", True)


def test_lines_are_counted_until_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set-up: room for the first line that is taken again, and not for the one that says how many are missing."""
    output = LineOutput(0.0)
    monkeypatch.setattr(log, "_STDOUT", output)
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream, os.fdopen(reader, "rb") as log_reader:
        monkeypatch.setattr(sys, "stdout", stream)
        os.set_blocking(log_reader.fileno(), False)
        fill = GaveUp(position="topic/0/1", reason="r" * 1_000_000)
        log.emit(fill)
        log.emit(BatchWritten(batch=1, seconds=0.25))
        log_reader.read()
        take_lost = output.take_lost

        def take_lost_and_fill() -> int:
            lost = take_lost()
            output.write("x" * 1_000_000, stream)
            return lost

        monkeypatch.setattr(output, "take_lost", take_lost_and_fill)
        log.emit(BatchWritten(batch=2, seconds=0.25))
        monkeypatch.setattr(output, "take_lost", take_lost)
        log_reader.read()
        log.emit(BatchWritten(batch=3, seconds=0.25))
        lost = json.loads(log_reader.read().splitlines()[-1])
    assert (lost["event"], lost["lines"]) == ("lines_lost", 4), "the two, the one that fills the pipe, and the count"
