from pathlib import Path
from typing import Literal

import pytest

from devkit.headroom.calibration import Calibration
from devkit.headroom.figures import ArmHeadroom, FirstPlay, RunHeadroom
from devkit.observe.about import Difference
from devkit.observe.arm import TimelineEvidence
from devkit.report.result import ProgramResult, Result
from devkit.report.verdict_lines import verdict_lines
from tests.unit.devkit.report.conftest import fired

DIRECTORY = Path("runs/an-incident/20261121T100000Z")

GOOD = """\

an-incident: REPRODUCED AND FIXED
  One record is larger than the sink will take, and the job restarts into it for
  ever (seed 7)

incident arm holds (31.0 s, ended by: replays 2)
  ok   restarts: expected at least 2, measured 2
  ok   exception: expected RecordTooLargeException: …23048294…, measured
                  RecordTooLargeException: The message is 23048294 bytes when
                  serialized which is larger than 20971520, which is the value
                  of the max.request.size configuration. (3 times)

fixed arm holds (14.3 s, ended by: drained)
  ok   drained: expected true, measured committed 161 of 161
  ok   audit: expected clean, measured clean: 161 in = 150 out + 4 errors + 7
              filtered

configuration difference:
  content_limit.measure: content_length (incident) → decoded (fixed)
  record_limit.policy: none (incident) → serialized (fixed)

faults:
  incident: 'huge page' met 6 requests; largest answer: Content-Length 76,412
            bytes, 76,412 on the wire, 17,300,041 decoded; slowest 0.31 s
  fixed: 'huge page' met 2 requests; largest answer: Content-Length absent,
         76,412 on the wire, 17,300,041 decoded; slowest 0.31 s

evidence: runs/an-incident/20261121T100000Z"""

FAILED_END = """\
fixed arm DOES NOT HOLD (14.3 s, ended by: drained)
  ok   drained: expected true, measured committed 161 of 161
  FAIL audit: expected clean, measured lost 2
       audit: lost: mediawiki.page_change.v1/0/17, expected output
       audit: lost: mediawiki.page_change.v1/0/99

why:
  - fixed: audit expected clean, measured lost 2
"""


def rendered(result: Result) -> str:
    return "\n".join(verdict_lines(result, DIRECTORY))


def test_a_run_as_it_is_hoped_for(good: Result) -> None:
    assert rendered(good) == GOOD


def test_a_fix_that_does_not_hold(failed: Result) -> None:
    text = rendered(failed)
    assert text.startswith("\nan-incident: FIX DOES NOT HOLD\n")
    assert FAILED_END in text
    assert text.endswith(
        "\n\nevidence: runs/an-incident/20261121T100000Z\nrepeat:   devkit scenario run an-incident --seed 7"
    )


def test_a_fault_that_never_fired_is_not_called_one_that_did(good: Result) -> None:
    silent = fired(fired=False, requests=0, completed=0, max_content_length_bytes=None, max_wire_bytes=0)
    changed = good.model_copy(update={"fault_evidence": {"incident": (silent,), "fixed": ()}})
    assert "faults:\n  incident: 'huge page' never fired\n  fixed: none was injected\n" in rendered(changed)


def test_answers_are_told_when_they_are_more_than_200s(good: Result) -> None:
    storm = fired(fault="gateway", by_status={"504": 4, "200": 2}, acted=True)
    idle = fired(by_status={"200": 6}, acted=False, inaction="no answer was 504")
    changed = good.model_copy(update={"fault_evidence": {"incident": (storm,), "fixed": (idle,)}})
    text = " ".join(rendered(changed).split())
    assert "incident: 'gateway' met 6 requests (200: 2, 504: 4); largest answer" in text
    assert "fixed: 'huge page' met 6 requests; largest answer" in text
    assert "slowest 0.31 s; never acted: no answer was 504" in text


def test_equal_arms_are_said_to_be_equal(good: Result) -> None:
    text = rendered(good.model_copy(update={"config_difference": {}}))
    assert "configuration difference:\n  none: both arms ran the same configuration\n" in text


@pytest.mark.parametrize("which", ["good", "failed"])
def test_fits_a_terminal(which: str, request: pytest.FixtureRequest) -> None:
    result: Result = request.getfixturevalue(which)
    many = {f"section.key_{number}": Difference(incident="a " * 60, fixed=number) for number in range(3)}
    wide = result.model_copy(update={"config_difference": many, "reasons": ("x " * 100,), "title": "word " * 40})
    assert max(len(line) for line in verdict_lines(wide, DIRECTORY)) <= 80


def test_what_is_to_be_copied_is_never_broken(good: Result) -> None:
    directory = Path("/a-very-long-path" * 12)
    repeat = "devkit scenario run " + "a-very-long-name" * 8
    lines = list(verdict_lines(good.model_copy(update={"exit_code": 3, "repeat": repeat}), directory))
    assert f"evidence: {directory}" in lines
    assert f"repeat:   {repeat}" in lines


def test_is_plain_text(failed: Result) -> None:
    assert "\x1b" not in rendered(failed)


def test_a_fault_of_the_timeline_says_what_its_part_did(good: Result) -> None:
    began = TimelineEvidence(
        fault="more",
        fired=True,
        asked="add_partitions",
        acted=True,
        did="4",
        from_s=8,
        to_s=9,
        irreversible=("2 more",),
    )
    never = TimelineEvidence(fault="still", fired=False, asked="pause", acted=False, did="")
    idle = TimelineEvidence(fault="idle", fired=True, asked="kill", acted=False, did="it lives", from_s=1, to_s=2)
    evidence: dict[Literal["incident", "fixed"], tuple[TimelineEvidence, ...]] = {"incident": (began, never, idle)}
    text = "\n".join(verdict_lines(good.model_copy(update={"fault_evidence": evidence}), DIRECTORY))
    assert "  incident: 'more' (add_partitions), 8.0 to 9.0 s: 4; cannot be undone: 2 more" in text
    assert "  incident: 'still' never began (pause)" in text
    assert "  incident: 'idle' (kill), 1.0 to 2.0 s: NOT SEEN TO ACT: it lives" in text


def test_how_much_time_the_machine_had(good: Result) -> None:
    idle = Calibration(quantum_s=0.004, baseline="measured", measured_s=0.004, slowdown=2.8)
    arm = ArmHeadroom(
        slowdown=3.12, worst_slowdown=4.55, worst_from_s=1, limit=10, core_slowdown=1, others_cores=1.5, pressure=None
    )
    arms = {**good.arms, "fixed": good.arms["fixed"].model_copy(update={"headroom": arm})}
    first = FirstPlay(directory="first-play", stretch=1, reasons=("short",))
    run = RunHeadroom(margin=5, stretch=2, stretch_by="repeat", calibration=idle, first_play=first)
    text = rendered(good.model_copy(update={"arms": arms, "headroom": run}))
    assert (
        """
machine:
  at the start: the machine is 2.8 times slower than when it is free; all times
                are 2 times the file's, as it was short of time before
  fixed: 3.1 times slower than when it is free, 4.5 in its slowest 10 s; the
         scenario leaves 10
  first play: was short of time; its evidence is in first-play/
"""
        in text
    )


def test_each_of_several_programs_is_told(good: Result) -> None:
    def program(name: str, run: str, *exit_codes: int, started: bool = True, restarts: int = 0) -> ProgramResult:
        return ProgramResult(
            name=name,
            run=run,
            started=started,
            restarts=restarts,
            exit_codes=exit_codes,
            is_over=False,
            failures=(),
            exceptions=(),
            log={"started": 1, "batch_written": 2} if name == "html" else {},
            peak_memory_bytes=300 << 20 if name == "reader" else None,
        )

    several = (
        program("html", "pipeline", 1, -9, restarts=2),
        program("reader", "consumer"),
        program("late", "command x", started=False),
    )
    arm = good.arms["incident"].model_copy(update={"programs": several})
    lines = list(verdict_lines(good.model_copy(update={"arms": {"incident": arm}}), DIRECTORY))
    assert [line for line in lines if line.startswith("  program ")] == [
        "  program html: pipeline, ended by itself with exit code 1, -9, restarted 2",
        "  program reader: consumer, ran until the arm's end, restarted 0 times, at most",
        "  program late: command x, never started: what it needs did not run",
    ]
