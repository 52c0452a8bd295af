"""The strip above the plots, and lines of panels that are more than a field of a sample."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.report.arm_record import ArmRecord, Process, Span
from devkit.report.page.panels import PANELS, short_names
from devkit.report.page.strip import Lane, Strip, strips
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


@pytest.fixture(scope="module")
def both(run: RunRecord) -> tuple[Strip, ...]:
    return strips(run.arms, 44.0)


def lane(strip: Strip, name: str) -> Lane:
    (found,) = [one for one in strip.lanes if one.name == name]
    return found


def test_both_arms_have_the_same_lanes(both: tuple[Strip, ...]) -> None:
    names = ["traffic", "pipeline process", "fault: parser", "fault: slow parsing", "main lane waits"]
    assert [[one.name for one in strip.lanes] for strip in both] == [[*names, "slow lane at work"]] * 2


def test_processes_start_run_and_fail(both: tuple[Strip, ...]) -> None:
    incident, fixed = (lane(strip, "pipeline process") for strip in both)
    assert incident.text == "3 started, 2 ended with exit code 1 at 22 s, 38 s"
    assert [block.kind for block in incident.blocks] == ["start", "run"] * 3
    assert incident.failures == (50.0, 86.364)
    assert (fixed.text, fixed.failures) == ("1 started, none ended", ())


def test_what_happened_in_one_arm_never_did_in_the_other(both: tuple[Strip, ...]) -> None:
    incident, fixed = (lane(strip, "main lane waits") for strip in both)
    assert (incident.text, incident.blocks) == ("never", ())
    assert fixed.text == "from 9 to 12.5 s"
    assert fixed.blocks[0].title == "deferral is full, 9 to 12.5 s"
    assert lane(both[1], "slow lane at work").text == "3 times between 12.4 and 20 s, 4.8 s in all"


def an_arm(ends: int) -> ArmRecord:
    processes = tuple(Process(n, n, n + 0.5, n + 0.1, exit_code=1 + n % 2) for n in range(1, ends + 1))
    return ArmRecord("incident", 500.0, None, (), (), processes, (), {}, (), ())


def test_a_rule_that_was_on_and_never_acted_shows_when() -> None:
    switched = {"late": (Span(2.0, 5.0),), "parser": (Span(1.0, 9.0),)}
    arm = replace(an_arm(1), duration_s=10.0, switched=switched, faults={"parser": (Span(3.0, 4.0),)})
    (strip,) = strips({"incident": arm}, 10.0)
    late, parser = lane(strip, "fault: late"), lane(strip, "fault: parser")
    assert (late.text, [block.kind for block in late.blocks]) == ("never; it was on from 2 to 5 s", ["window"])
    assert (parser.text, [block.kind for block in parser.blocks]) == ("from 3 to 4 s", ["window", "fault"])


def test_many_ends_are_not_listed_one_by_one() -> None:
    (strip,) = strips({"incident": an_arm(300)}, 500.0)
    found = lane(strip, "pipeline process")
    assert found.text == "300 started, 300 ended with exit code 1 or 2 at 1.5 s to 300.5 s"
    assert len(found.blocks) <= 120


def test_an_arm_in_which_nothing_happened() -> None:
    (strip,) = strips({"incident": an_arm(0)}, 1.0)
    texts = {"traffic": "nothing was published", "pipeline process": "0 started, none ended"}
    assert {one.name: one.text for one in strip.lanes} == texts


def test_each_of_several_programs_has_a_lane() -> None:
    arm = replace(an_arm(1), program="html", beside={"reader": (Process(1, 2.0, 500.0, 2.0),), "once": ()})
    (strip,) = strips({"incident": arm}, 500.0)
    assert [one.name for one in strip.lanes[1:]] == ["program html", "program reader", "program once"]
    reader = lane(strip, "program reader")
    assert (reader.text, reader.blocks[-1].title) == ("1 started, none ended", "process 1 runs, 2 to 500 s")
