from collections.abc import Iterable

import pytest

from devkit.observe.arm_end import EndByCondition
from devkit.observe.arm_role import TWO_ARMS, Roles
from devkit.observe.timeline.kit_events import (
    ArmEnded,
    PhaseBegun,
    ProcessRestarted,
    ProcessStarted,
    StretchChosen,
    VerdictReached,
)
from devkit.observe.timeline.run_metadata import difference_text
from devkit.observe.timeline.run_phases import phase_times
from devkit.observe.timeline.timeline import TimelineEntry
from pipeline.events import Started

STRETCH = StretchChosen(stretch=1, by="calibration")
VERDICT = VerdictReached(outcome="reproduced and fixed", reasons=())
STARTED = Started(start="earliest", spark_ui="off")


def an_arm(name: str, at: float, *, tells: bool = True) -> Iterable[TimelineEntry]:
    yield TimelineEntry(at, PhaseBegun(phase="arm", text="topics, traffic and pipeline"), name)
    yield TimelineEntry(at + 0.5, ProcessStarted(), name)
    if tells:
        yield TimelineEntry(at + 10, STARTED, name)
    yield TimelineEntry(at + 15, ProcessRestarted(process=2), name)
    if tells:
        yield TimelineEntry(at + 18, STARTED, name)
    yield TimelineEntry(at + 20, ArmEnded(end=EndByCondition(reached={"restarts": 1})), name)


def test_all_of_a_run_is_in_one_phase_or_another() -> None:
    entries = [TimelineEntry(2, STRETCH), *an_arm("incident", 10), *an_arm("fixed", 31), TimelineEntry(53.5, VERDICT)]
    times = phase_times(entries)
    assert [(one.phase, one.arm, one.seconds) for one in times] == [
        ("calibration", None, 2),
        ("stack", None, 8),
        ("prepare", "incident", 0.5),
        ("start", "incident", 9.5),
        ("play", "incident", 10),
        ("collect", "incident", 1),
        ("prepare", "fixed", 0.5),
        ("start", "fixed", 9.5),
        ("play", "fixed", 10),
        ("collect", "fixed", 2.5),
    ]
    assert sum(one.seconds for one in times) == 53.5


def test_a_program_that_does_not_say_when_it_runs_is_played_from_its_start() -> None:
    times = phase_times([TimelineEntry(2, STRETCH), *an_arm("fixed", 10, tells=False), TimelineEntry(32, VERDICT)])
    assert [(one.phase, one.seconds) for one in times][2:] == [("prepare", 0.5), ("play", 19.5), ("collect", 2)]


def test_a_run_that_broke_off_has_none() -> None:
    assert phase_times([TimelineEntry(2, STRETCH), *an_arm("incident", 10)]) == ()


FOUR: Roles = {"incident": "incident", "burst": "incident", "fixed": "fixed", "later": "fixed"}


@pytest.mark.parametrize(
    ("incident", "fixed", "text"),
    [
        ("none", "serialized", "none (incident) → serialized (fixed)"),
        (True, None, "true (incident) → not set (fixed)"),
        ([504, 503], {}, "[504, 503] (incident) → {} (fixed)"),
        (20.5, "é", "20.5 (incident) → é (fixed)"),
    ],
)
def test_values_are_written_as_in_a_file(incident: object, fixed: object, text: str) -> None:
    assert difference_text({"incident": incident, "fixed": fixed}, TWO_ARMS) == text


def test_arms_with_one_value_are_told_together() -> None:
    values = {"incident": "none", "burst": "none", "fixed": "serialized", "later": "header"}
    assert difference_text(values, FOUR) == "none (incident, burst) → serialized (fixed), header (later)"
