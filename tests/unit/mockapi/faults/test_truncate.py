from typing import Any

import pytest

from mockapi.server.delivery import HALF, BytePlace, Ending, Offset
from tests.unit.mockapi.faults.planned import delivery, problem


@pytest.mark.parametrize(
    ("fault", "ending"),
    [
        ("50%", Ending(BytePlace.IN_BODY, HALF, chunked=False)),
        (0, Ending(BytePlace.IN_BODY, Offset(count=0), chunked=False)),
        (
            {"after": "1KiB", "end": "reset", "length": "chunked"},
            Ending(BytePlace.IN_BODY, Offset(count=1024), reset=True, chunked=True),
        ),
    ],
)
def test_the_body_stops_there(fault: Any, ending: Ending) -> None:
    assert delivery({"truncate": fault}).ending == ending


def test_it_needs_a_place() -> None:
    assert problem({"truncate": {}}).startswith("do.truncate.after: is missing")
