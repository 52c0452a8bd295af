"""A batch that is kept is released with it, unless the incident's policy forgets to."""

from typing import Any

import pytest

from pipeline.config.batch_section import Reuse
from pipeline.driver.batch import reused
from tests.unit.pipeline.driver.batch_parts import Frame


@pytest.mark.parametrize(
    ("reuse", "done"),
    [("off", []), ("released", [("persist",), ("unpersist",)]), ("cached", [("persist",)])],
)
def test_also_where_the_batch_fails(reuse: Reuse, done: list[tuple[str]]) -> None:
    frame = Frame()
    given: Any = frame

    def fails() -> None:
        with reused(given, reuse) as rows:
            assert rows is given
            raise OSError("the broker is gone")

    with pytest.raises(OSError, match="gone"):
        fails()
    assert frame.done == done
