"""What an observation says besides figures."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import pytest

from devkit.observe.kafka.deferrals import Deferrals
from devkit.observe.observable import UPSTREAM
from devkit.play.arm.arm_faults import ArmFaults
from devkit.play.arm.observation import manual_changes, not_observable_of
from devkit.stack.parts.mock_api import MockChange
from tests.unit.devkit.play.arm.stage import Stage

AT = datetime(2026, 11, 22, 12, 30, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("action", "rules", "text"),
    [
        ("added", ("status-504",), "fault 'status-504' was put in by hand"),
        ("removed", ("huge page",), "fault 'huge page' was removed by hand"),
        ("replaced", ("huge page",), "fault 'huge page' was replaced by hand"),
        ("switched off", ("huge page",), "fault 'huge page' was switched off by hand"),
        ("replaced", (), "the mock's rules were replaced by hand"),
        ("populated", (), "the mock got other pages and rules by hand"),
        ("reset", (), "the mock was reset by hand"),
        ("emptied the journal", (), "the mock's journal was emptied by hand"),
    ],
)
def test_what_another_client_changed_of_the_mock_is_told(
    stage: Stage, action: str, rules: tuple[str, ...], text: str
) -> None:
    stage.sample()
    assert manual_changes(stage.arm) == ()
    stage.changes.append(MockChange(n=3, at=AT, action=action, rules=rules, client="127.0.0.1", author="curl/8.5"))
    stage.sample(last=True)
    assert manual_changes(stage.arm) == (f"{text} (12:30:15, curl/8.5 at 127.0.0.1)",)


def test_a_rule_that_was_removed_and_put_back_is_told_though_the_mock_has_forgotten_it(stage: Stage) -> None:
    stage.counts.revision = 3
    stage.changes += [
        MockChange(n=2, at=AT, action="removed", rules=("huge page",)),
        MockChange(n=3, at=AT, action="added", rules=("huge page",)),
    ]
    stage.sample()
    # It was started again and populated.
    stage.changes.clear()
    stage.counts.revision = 1
    stage.sample()
    stage.sample(last=True)
    assert manual_changes(stage.arm) == (
        "fault 'huge page' was removed by hand (12:30:15)",
        "fault 'huge page' was put in by hand (12:30:15)",
    )


def test_what_a_fault_took_from_sight_is_not_seen(stage: Stage) -> None:
    stage.arm.deferrals = cast(Deferrals, SimpleNamespace())
    assert not_observable_of(stage.arm) == frozenset()
    assert stage.timeline() == []
    stage.arm.faults = cast(ArmFaults, SimpleNamespace(not_observable=UPSTREAM))
    assert not_observable_of(stage.arm) == UPSTREAM
    assert [line["observables"] for line in stage.timeline()] == [["upstream"]]
