from datetime import timedelta

from mockapi.server.delivery import Pace
from tests.unit.mockapi.faults.planned import delivery, problem


def test_so_many_bytes_so_often() -> None:
    assert delivery({"dribble": {"bytes": 100, "every": "500ms"}}).pace == Pace(100, 0.5)


def test_the_last_pace_decides() -> None:
    made = delivery({"latency_through_body": "9s"}, {"dribble": {"bytes": 1, "every": "1s"}})
    assert (made.pace, made.through_body) == (Pace(1, 1.0), timedelta(0))


def test_what_cannot_be_is_refused() -> None:
    assert "greater than or equal to 1" in problem({"dribble": {"bytes": 0, "every": "1s"}})
    assert "must be above 0" in problem({"dribble": {"bytes": 1, "every": "0s"}})
    assert "a body has one pace" in problem({"dribble": {"bytes": 1, "every": "1s"}, "bandwidth": "1KiB"})
