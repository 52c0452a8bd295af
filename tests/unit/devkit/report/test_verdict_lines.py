from pathlib import Path
from typing import Any

import pytest

from devkit.headroom.calibration import Calibration
from devkit.headroom.headroom_figures import ArmHeadroom, FirstPlay, RunHeadroom
from devkit.observe.arm_observation import Evidence, RuleSwitch, TimelineEvidence
from devkit.observe.settings import ChangedValue
from devkit.report.result import Result
from devkit.report.verdict_lines import verdict_lines
from tests.unit.devkit.report.conftest import a_program, fired, with_arm

DIRECTORY = Path("runs/an-incident/20261121T100000Z")

GOOD = """\

an-incident: REPRODUCED AND FIXED
  next: `devkit scenario run an-incident --seed 7 --ablate` shows which of the
  differences the fix needs
  One record is larger than the sink will take, and the job restarts into it for
  ever (seed 7)

incident arm holds (31.0s, ended by: replays 2)
  ok   restarts: 2 (expected at least 2)
  ok   exception: RecordTooLargeException: The message is 23048294 bytes when
                  serialized which is larger than 20971520, which is the value
                  of the max.request.size configuration. (3 times) (expected
                  RecordTooLargeException: …23048294…)

fixed arm holds (14.3s, ended by: drained)
  ok   drained: committed 161 of 161 (expected true)
  ok   audit: clean: 161 in = 150 out + 4 errors + 7 filtered (expected clean)

configuration difference:
  content_limit.measure: content_length (incident) → decoded (fixed)
  record_limit.policy: none (incident) → serialized (fixed)

faults:
  incident: 'huge page' matched 6 requests
  fixed: 'huge page' matched 2 requests

evidence: runs/an-incident/20261121T100000Z"""

FAILED = """\

an-incident: FIX DOES NOT HOLD
  One record is larger than the sink will take, and the job restarts into it for
  ever (seed 7)

the program said first:
  fixed: at 3.1s, process 1, warning (limits_disagree): the topic takes 1MiB;
         raise it
  fixed: at 9.5s, process 2, error (failed): query failed: no room

broken expectations:
  fixed: audit: expected clean, measured lost 2

configuration difference:
  content_limit.measure: content_length (incident) → decoded (fixed)
  record_limit.policy: none (incident) → serialized (fixed)

what the audit found:
  fixed: lost: page 'X', event 0b9e, source t/0/17: committed, and never emitted
  fixed: lost: source t/0/99

incident arm holds (31.0s, ended by: replays 2)
fixed arm DOES NOT HOLD (14.3s, ended by: drained); these hold: drained

faults:
  incident: 'huge page' matched 6 requests; largest answer in bytes: 17,300,041
            decoded, 76,412 on the wire, Content-Length 76,412; slowest answer:
            0.31s
  fixed: 'huge page' matched 2 requests; largest answer in bytes: 17,300,041
         decoded, 76,412 on the wire, Content-Length absent; slowest answer:
         0.31s

evidence: runs/an-incident/20261121T100000Z
repeat:   devkit scenario run an-incident --seed 7"""


def rendered(result: Result, width: int | None = 80) -> str:
    return "\n".join(verdict_lines(result, DIRECTORY, width))


@pytest.mark.parametrize(("which", "text"), [("good", GOOD), ("failed", FAILED)])
def test_the_whole_of_it(which: str, text: str, request: pytest.FixtureRequest) -> None:
    assert rendered(request.getfixturevalue(which)) == text


def test_where_there_is_no_terminal_each_statement_is_one_line(good: Result, failed: Result) -> None:
    for result in (good, failed):
        lines = rendered(result, None).splitlines()
        joined = " ".join(rendered(result).split())
        assert " ".join(" ".join(lines).split()) == joined
        assert len(lines) < len(rendered(result).splitlines())
    assert any(line.endswith("raise it") and line.startswith("  fixed: at 3.1s") for line in lines)


def test_an_inconclusive_run_says_first_what_was_missing_and_then_what_to_do_next(good: Result) -> None:
    silent = fired(fired=False, requests=0)
    reasons = ("fixed: fault 'huge page' matched no request", "fixed: another reason")
    changes: dict[str, Any] = {"outcome": "inconclusive", "exit_code": 3, "reasons": reasons}
    changes["fault_evidence"] = {"incident": (fired(),), "fixed": (silent,)}
    lines = rendered(good.model_copy(update=changes), None).splitlines()
    assert lines[1] == "an-incident: INCONCLUSIVE: fixed: fault 'huge page' matched no request"
    assert lines[2] == (
        "  next: `devkit scenario run an-incident --seed 7 --keep`, then compare the rule's `when` with the requests "
        "in the mock's /__mock/journal"
    )
    assert lines[5:7] == ["missing for a verdict:", "  fixed: another reason"]
    assert lines[-1] == "repeat:   devkit scenario run an-incident --seed 7"


def faults(result: Result, *incident: Evidence | TimelineEvidence) -> str:
    """What is said of the faults of the incident arm, and of a fixed arm that has none."""
    evidence = {"incident": incident, "fixed": ()}
    text = rendered(result.model_copy(update={"fault_evidence": evidence}), None)
    return text.split("\nfaults:\n")[1].split("\n\n")[0]


SPANS = "its window was open from 2 s to 5 s after the first request, and requests came from 0 s to 1.8 s"
SWITCHES = (RuleSwitch(on=True, at_s=4.5, published=90), RuleSwitch(on=False, at_s=8.26, published=180))
ON_AND_OFF = "switched on at 4.5s, with 90 events published; switched off at 8.3s, with 180 events published"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fired": False, "requests": 0}, "matched no request"),
        ({"requests": 1}, "matched 1 request"),
        ({"requests": 2, "switches": SWITCHES}, f"matched 2 requests; {ON_AND_OFF}"),
        ({"fired": False, "switches": ()}, "matched no request; never switched: its part of the traffic did not come"),
        ({"fired": False, "window": (2, 5), "last_request_s": 1.84}, f"matched no request: {SPANS}"),
    ],
    ids=["it never fired", "one request", "the kit switched it", "the kit never switched it", "its window was missed"],
)
def test_what_is_said_of_a_rule_of_the_mock(good: Result, changes: dict[str, Any], said: str) -> None:
    assert faults(good, fired(**changes)) == f"  incident: 'huge page' {said}\n  fixed: no fault was injected"


MORE = TimelineEvidence(fault="more", fired=True, asked="add_partitions", acted=True, did="4", from_s=8, to_s=9)
MORE_FOR_EVER = MORE.model_copy(update={"irreversible": ("2 more",)})
UNREACHED = MORE.model_copy(update={"unreached": "partition 3 of topic t"})
NEVER = TimelineEvidence(fault="still", fired=False, asked="pause", acted=False, did="")
IDLE = TimelineEvidence(fault="idle", fired=True, asked="kill", acted=False, did="it lives", from_s=1, to_s=2)


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        (MORE_FOR_EVER, "'more' (add_partitions), 8.0s to 9.0s: 4; cannot be undone: 2 more"),
        (UNREACHED, "'more' (add_partitions), 8.0s to 9.0s: 4; no record came to partition 3 of topic t afterwards"),
        (NEVER, "'still' never began (pause)"),
        (IDLE, "'idle' (kill), 1.0s to 2.0s: NOT SEEN TO ACT: it lives"),
    ],
    ids=["it cannot be undone", "no record met it", "it never began", "it did nothing"],
)
def test_a_fault_of_the_timeline_says_what_its_part_did(good: Result, evidence: TimelineEvidence, said: str) -> None:
    assert faults(good, evidence).splitlines()[0] == f"  incident: {said}"


def test_equal_arms_have_no_difference(good: Result) -> None:
    text = rendered(good.model_copy(update={"config_difference": {}}))
    assert "configuration difference:\n  none: both arms ran the same configuration\n" in text


@pytest.mark.parametrize(
    ("evidence", "begin", "end"),
    [
        ({"by_status": {"504": 4, "200": 2}}, "matched 6 requests (200: 2, 504: 4); largest answer", "0.31s"),
        ({"by_status": {"none": 6}}, "matched 6 requests (no answer: 6); largest answer", "0.31s"),
        (
            {"by_status": {"200": 6}, "acted": False, "inaction": "no answer was 504"},
            "matched 6 requests; largest answer",
            "slowest answer: 0.31s; never acted: no answer was 504",
        ),
    ],
    ids=["answers that are more than 200s", "no answer", "200s alone are not told"],
)
def test_of_a_failure_answers_are_told(failed: Result, evidence: dict[str, Any], begin: str, end: str) -> None:
    said = faults(failed, fired(**evidence)).splitlines()[0]
    assert said.startswith(f"  incident: 'huge page' {begin}")
    assert said.endswith(end)


def test_what_differs_too_and_is_no_named_cause_stands_beside_the_verdict(good: Result, failed: Result) -> None:
    also = {"also_differs": ("fetch.concurrency", "steps")}
    lines = rendered(good.model_copy(update=also), None).splitlines()
    assert lines[1] == "an-incident: REPRODUCED AND FIXED"
    assert lines[2] == "  also differs: fetch.concurrency, steps (not named in `cause`)"
    assert "also differs" not in rendered(failed.model_copy(update=also))


@pytest.mark.parametrize("which", ["good", "failed"])
def test_fits_a_terminal(which: str, request: pytest.FixtureRequest) -> None:
    result: Result = request.getfixturevalue(which)
    many = {f"section.key_{number}": {"incident": "a " * 60, "fixed": number} for number in range(3)}
    wide = result.model_copy(update={"config_difference": many, "reasons": ("x " * 100,), "title": "word " * 40})
    assert max(len(line) for line in verdict_lines(wide, DIRECTORY, 80)) <= 80


def test_what_is_to_be_copied_is_never_broken(good: Result) -> None:
    directory = Path("/a-very-long-path" * 12)
    repeat = "devkit scenario run " + "a-very-long-name" * 8
    lines = list(verdict_lines(good.model_copy(update={"exit_code": 3, "repeat": repeat}), directory, 80))
    assert f"evidence: {directory}" in lines
    assert f"repeat:   {repeat}" in lines


def test_how_much_time_the_machine_had(good: Result) -> None:
    idle = Calibration(quantum_s=0.004, baseline="measured", measured_s=0.004, slowdown=2.8)
    arm = ArmHeadroom(
        slowdown=3.12, worst_slowdown=4.55, worst_from_s=1, limit=10, core_slowdown=1, others_cores=1.5, pressure=None
    )
    first = FirstPlay(directory="first-play", stretch=1, reasons=("short",))
    run = RunHeadroom(margin=5, stretch=2, stretch_by="repeat", calibration=idle, first_play=first)
    text = rendered(with_arm(good, headroom=arm).model_copy(update={"headroom": run}))
    said = """
machine:
  at the start: the machine is 2.8 times slower than when it is free; all times
                are 2 times the file's, as it was short of time before
  fixed: 3.1 times slower than when it is free, 4.5 in its slowest 10s; the
         scenario allows 10
  first play: was short of time; its evidence is in first-play/
"""
    assert said in text


def test_each_of_several_programs_is_told(good: Result) -> None:
    log = {"started": 1, "batch_written": 2}
    several = (
        a_program("html", "pipeline", exit_codes=(1, -9), restarts=2, log=log),
        a_program("reader", "consumer", peak_memory_bytes=300 << 20),
        a_program("late", "command x", started=False),
    )
    lines = rendered(with_arm(good, "incident", programs=several), None).splitlines()
    assert [line for line in lines if line.startswith("  program ")] == [
        "  program html: pipeline, ended by itself with exit code 1, -9, restarted twice, 3 log events",
        "  program reader: consumer, ran until the arm's end, never restarted, at most 300MiB of memory",
        "  program late: command x, never started: a program that it needs did not run",
    ]


def test_a_run_that_is_not_of_the_file_as_it_is_says_so(good: Result) -> None:
    changes = (ChangedValue(place="traffic.rate", before="20/s", value="40/s"),)
    lines = list(verdict_lines(good.model_copy(update={"changes": changes}), DIRECTORY))
    assert lines[4] == "  not the file as it is: traffic.rate: 20/s → 40/s"
