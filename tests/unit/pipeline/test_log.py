import json
from datetime import datetime, timedelta

import pytest

from pipeline import log


def test_one_json_object_a_line_with_the_time_in_utc(capsys: pytest.CaptureFixture[str]) -> None:
    log.say("batch_written", batch=3, seconds=0.25, unsafe=["a"], note="two\nlines, ä", nothing=None)
    (line,) = capsys.readouterr().out.splitlines()
    said = json.loads(line)
    assert datetime.fromisoformat(said.pop("at")).utcoffset() == timedelta(0)
    assert said == {
        "event": "batch_written",
        "batch": 3,
        "seconds": 0.25,
        "unsafe": ["a"],
        "note": "two\nlines, ä",
        "nothing": None,
    }
