"""Lines of panels that are more than a field of a sample."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.report.arm_record import ArmRecord
from devkit.report.page.panels import PANELS, short_names
from devkit.report.run_record import RunRecord

BEGIN_S = 1_790_000_000.0
(WAITING,) = (panel for panel in PANELS if panel.title == "Mutations not applied")
(EVENT_TIME,) = (panel for panel in PANELS if panel.title == "Event time of each stream")


@pytest.fixture
def arm(run: RunRecord) -> ArmRecord:
    return run.arms["incident"]


def at(arm: ArmRecord, *looks: dict[str, float], watermarks: tuple[tuple[float, float], ...] = ()) -> ArmRecord:
    """With these streams at each look, in seconds behind the beginning."""
    samples = tuple(
        arm.samples[0].model_copy(
            update={"at_s": float(second), "event_times": {name: BEGIN_S + time for name, time in look.items()}}
        )
        for second, look in enumerate(looks)
    )
    return replace(arm, samples=samples, watermarks=tuple((at_s, BEGIN_S + time) for at_s, time in watermarks))


def lines(arm: ArmRecord) -> dict[str, tuple[str, list[float | None]]]:
    return {line.label: (line.style, [value for _, value in line.points]) for line in EVENT_TIME.lines(arm)}


def test_each_stream_stands_against_the_watermark(arm: ArmRecord) -> None:
    found = at(arm, {}, {"dense": 10}, {"dense": 20, "burst": 500}, watermarks=((1.5, 5), (2.5, 470)))
    assert lines(found) == {
        "burst": ("main", [None, None, 495]),
        "dense": ("second", [None, 5, 15]),
        "watermark": ("context", [0, 465]),
    }


def test_of_many_streams_the_two_ends(arm: ArmRecord) -> None:
    found = at(arm, {"a": 10}, {"a": 20, "b": 30, "c": 90, "d": 15})
    assert lines(found) == {"furthest stream": ("main", [0, 80]), "furthest behind": ("second", [None, 5])}


def test_what_waits_for_a_program_that_applies_it(arm: ArmRecord) -> None:
    nothing = tuple(sample.model_copy(update={"waiting": {}}) for sample in arm.samples)
    assert WAITING.lines(replace(arm, samples=nothing)) == []
    looks: tuple[dict[str, int], ...] = ({}, {"apply": 90}, {}, {"apply": 0})
    samples = tuple(
        arm.samples[0].model_copy(update={"at_s": float(at_s), "waiting": look}) for at_s, look in enumerate(looks)
    )
    (line,) = WAITING.lines(replace(arm, samples=samples))
    assert (line.label, line.points) == ("apply", ((0.0, None), (1.0, 90), (2.0, None), (3.0, 0)))


def test_where_events_have_no_times_there_is_nothing(arm: ArmRecord) -> None:
    assert lines(at(arm, {}, {}, watermarks=((1.0, 5),))) == {}


def test_an_arm_may_end_after_its_first_look(arm: ArmRecord) -> None:
    assert lines(at(arm, {"source/0": 10})) == {"source.0": ("main", [0])}


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["mediawiki.page_change.v1", "silent.page_change.v1"], ["mediawiki", "silent"]),
        (["codfw.mediawiki.page_change.v1", "eqiad.mediawiki.page_change.v1"], ["codfw", "eqiad"]),
        (["mediawiki.page_change.v1", "mediawiki.page_links_change.v1"], ["page_change", "page_links_…"]),
        (["a.page_change.v1", "page_change.v1"], ["a.page_change", "page_change"]),
        (["page_change/0", "page_change/1"], ["0", "1"]),
        (["topic/0"], ["topic.0"]),
        (["events", "links"], ["events", "links"]),
        ([], []),
    ],
)
def test_short_names_have_no_common_parts(names: list[str], short: list[str]) -> None:
    assert short_names(names) == [name if len(name) <= 12 else f"{name[:11]}…" for name in short]


@given(st.lists(st.text("ab./", min_size=1, max_size=6), unique=True))
def test_each_name_has_a_short_one_that_fits(names: list[str]) -> None:
    short = short_names(names)
    assert len(short) == len(names)
    assert all(len(name) <= 12 for name in short)
