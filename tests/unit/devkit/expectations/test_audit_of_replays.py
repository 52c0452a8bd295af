"""What the audit's expectation says of events that left more than once."""

import pytest

from devkit.expectations.audit import AUDIT
from tests.unit.devkit.observed import an_audit, an_observation

CLEAN = "clean: 161 in = 150 out + 4 errors + 7 filtered, and "


@pytest.mark.parametrize(
    ("figures", "measured", "holds"),
    [
        ({"duplicated": 3, "excused": 3}, f"{CLEAN}3 repeats by replays", True),
        ({"duplicated": 3, "excused": 2}, "duplicated 1", False),
        ({"conflicting": 1, "excused_conflicts": 1}, f"{CLEAN}1 conflict by replays", True),
        ({"conflicting": 2, "excused_conflicts": 1}, "conflicting 1", False),
        ({"conflicting": 1}, "conflicting 1", False),
        (
            {"duplicated": 3, "excused": 3, "conflicting": 2, "excused_conflicts": 2},
            f"{CLEAN}3 repeats by replays, and 2 conflicts by replays",
            True,
        ),
        ({"duplicated": 3, "excused": 3, "excused_by_retry": 3}, f"{CLEAN}3 repeats by retried tasks", True),
        (
            {
                "duplicated": 3,
                "excused": 3,
                "excused_by_retry": 1,
                "conflicting": 1,
                "excused_conflicts": 1,
                "excused_conflicts_by_retry": 1,
            },
            f"{CLEAN}2 repeats by replays, and 1 repeat by retried tasks, and 1 conflict by retried tasks",
            True,
        ),
    ],
)
def test_what_a_restart_excuses_is_clean_and_counted(figures: dict[str, int], measured: str, holds: bool) -> None:
    found = AUDIT.judge("clean", an_observation(audit=an_audit(**figures), restarts=1))
    assert (found.measured, found.holds) == (measured, holds)
