from dataclasses import replace

import pytest

from devkit.report.arm_record import ArmRecord, Process, Span
from devkit.report.page.strip import Lane, Strip, strips
from devkit.report.run_record import RunRecord


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
