from typing import Any

import pytest

from devkit.report.arm_record import ArmRecord, Span, arm_record
from tests.unit.devkit.report import storm


def line(t_s: float, kind: str, **fields: Any) -> dict[str, Any]:
    return {"t_s": t_s, "kind": kind, "arm": "incident"} | fields


def sample(t_s: float, **fields: Any) -> dict[str, Any]:
    counters = dict.fromkeys(("at_s", "committed", "source_end", "outputs", "errors", "requests", "in_flight"), 0)
    return line(t_s, "sample", **counters | fields)


BEGIN = line(100.0, "phase", phase="arm", text="topics, traffic and pipeline")
END = line(140.0, "arm_ended", end={"by": "condition", "reached": {"restarts": 2}})


def started(**fields: Any) -> dict[str, Any]:
    return line(101.0, "process_started", **fields)


def ended(exit_code: int = 1, **fields: Any) -> dict[str, Any]:
    return line(105.0, "process_ended", process=1, exit_code=exit_code, **fields)


def restarted(**fields: Any) -> dict[str, Any]:
    return line(106.0, "process_restarted", process=2, **fields)


def record(*lines: dict[str, Any]) -> ArmRecord:
    return arm_record("incident", storm.entries(BEGIN, *lines))


@pytest.fixture(scope="module")
def incident() -> ArmRecord:
    return arm_record("incident", storm.entries_of("incident"))


def test_times_count_from_the_arms_start(incident: ArmRecord) -> None:
    assert incident.samples[0].at_s == storm.STEP_S
    assert (incident.duration_s, incident.ended_by) == (44.0, "restarts 2")


def test_an_arm_that_was_cut_short_lasted_until_its_last_line() -> None:
    cut = record(line(103.0, "process_started"))
    assert (cut.duration_s, cut.ended_by) == (3.0, None)


def test_what_comes_after_the_arms_end_does_not_make_it_longer() -> None:
    assert record(END, line(150.0, "phase", phase="audit", text="every input")).duration_s == 40.0


def test_processes_with_their_ends(incident: ArmRecord) -> None:
    assert [(one.number, one.begin_s, one.ready_s, one.end_s, one.exit_code) for one in incident.processes] == [
        (1, 0.2, 3.0, 22.0, 1),
        (2, 23.0, 26.0, 38.0, 1),
        (3, 39.0, 42.0, 44.0, None),
    ]
    assert incident.processes[0].failure == storm.STALLED
    assert incident.downtimes == (Span(22.0, 26.0), Span(38.0, 42.0))


def test_the_only_program_of_an_arm_may_have_a_name_and_nothing_to_say() -> None:
    own: dict[str, Any] = {"program": "own"}
    hidden = line(101.0, "not_observable", observables=["offsets", "words"], **own)
    arm = record(started(**own), hidden, ended(**own), restarted(**own), END)
    assert (arm.program, arm.beside) == ("own", {})
    assert [(one.begin_s, one.end_s, one.exit_code) for one in arm.processes] == [(1.0, 5.0, 1), (6.0, 40.0, None)]
    assert arm.downtimes == (Span(5.0, 6.0),)


def test_a_process_that_never_got_ready_is_down_until_the_end() -> None:
    assert record(started(), ended(), restarted(), END).downtimes == (Span(5.0, 40.0),)


def test_a_process_that_was_over_a_limit_of_its_container_says_what_it_had_taken() -> None:
    mib = 1 << 20
    held = {"rows": [{"pid": 7, "kind": "Python worker", "size": 700 * mib}], "measure": "proportional"}
    over = {"process": 1, "limit": "memory", "allowed": 600 * mib, "used": 700 * mib, "memory": held}
    arm = record(started(), line(105.0, "process_over_limit", **over), ended(137), restarted(), END)
    killed, later = arm.processes
    assert "over its container's memory limit of 600MiB: proportional memory of 700MiB (" in killed.killed
    assert "700" in killed.killed.partition("(")[2]
    assert (killed.exit_code, later.killed) == (137, "")


class TestBatches:
    def test_written_and_not(self, incident: ArmRecord) -> None:
        found = [(one.number, one.written, one.replay) for one in incident.batches]
        assert found == [(0, True, False), (1, False, False), (1, False, True)]
        assert [one.end_s for one in incident.batches] == [4.6, 22.0, 38.0]

    def test_its_own_figure_says_how_long_it_took(self) -> None:
        """Two lines that are read in one look have one time."""
        arm = record(line(105.0, "batch_started", batch=0), line(105.0, "batch_written", batch=0, seconds=1.5), END)
        assert [(one.begin_s, one.end_s) for one in arm.batches] == [(3.5, 5.0)]

    def test_one_that_the_arms_end_cut_off(self) -> None:
        arm = record(started(), line(105.0, "batch_started", batch=0), END)
        assert [(one.end_s, one.written) for one in arm.batches] == [(40.0, False)]


@pytest.mark.parametrize(
    ("counts", "step_s", "spans"),
    [
        ([0, 0, 2, 3, 3, 3, 3, 3, 4], 1, (Span(1.0, 3.0), Span(7.0, 8.0))),
        ([0, 1, 1, 1, 2], 0.5, (Span(0.0, 2.0),)),
        ([0, 0], 1, ()),
    ],
    ids=["where its count grew", "short pauses do not part it", "it matched nothing"],
)
def test_a_fault_of_the_mock_acts(counts: list[int], step_s: float, spans: tuple[Span, ...]) -> None:
    lines = (sample(100.0 + n * step_s, faults={"x": count}) for n, count in enumerate(counts))
    assert record(*lines, END).faults == {"x": spans}


STOPS = line(107.0, "process_ended", process=1, exit_code=1)


@pytest.mark.parametrize(
    ("ends", "end_s"),
    [(line(108.0, "resumed"), 8.0), (STOPS, 7.0), (END, 40.0)],
    ids=["it resumed", "its process ended", "it goes on until the arm's end"],
)
def test_a_wait_lasts_until(ends: dict[str, Any], end_s: float) -> None:
    waiting = line(105.0, "waiting", reason="deferral is full")
    assert record(waiting, ends, *([] if ends is END else [END])).waits == (Span(5.0, end_s, "deferral is full"),)


def test_rounds_of_the_slow_lane_end_when_they_are_told() -> None:
    arm = record(line(105.0, "slow_round", pages=2, entries=3, resolved=3, rewritten=0, seconds=1.5), END)
    assert arm.slow_rounds == (Span(3.5, 5.0, "3 entries"),)


@pytest.mark.parametrize("broken", [{"committed": None}, {"committed": "many"}, {"requests": 1.5}])
def test_a_line_that_makes_no_sense_is_left_out(broken: dict[str, Any]) -> None:
    arm = record(sample(101.0), sample(102.0, **broken), sample(103.0), END)
    assert [one.at_s for one in arm.samples] == [1.0, 3.0]


def test_a_fault_of_the_timeline_lasts_from_when_it_was_begun_until_it_was_ended() -> None:
    broker = {"name": "broker", "asked": "pause: {part: kafka}"}
    arm = record(
        line(102.0, "fault_begins", **broker),
        line(103.0, "fault_begins", name="store", asked="kill: {part: object-store}"),
        line(105.0, "fault_ends", **broker, acted=True, did="it answered nothing"),
        line(110.0, "traffic_begins"),
    )
    assert arm.faults == {
        "broker": (Span(2.0, 5.0, "it answered nothing"),),
        "store": (Span(3.0, 10.0, "kill: {part: object-store}"),),
    }


def test_a_rule_is_on_from_when_it_was_switched_on_until_it_was_switched_off() -> None:
    switches = [("late", 2, True), ("early", 3, False), ("late", 4, False), ("late", 6, True)]
    lines = [
        line(100.0 + at_s, "rule_switched", name=name, on=on, at_s=float(at_s), published=5)
        for name, at_s, on in switches
    ]
    spans = {"late": (Span(2.0, 4.0), Span(6.0, 10.0)), "early": (Span(0.0, 3.0),)}
    assert record(*lines, line(110.0, "traffic_begins")).switched == spans


def test_the_machines_headroom_counts_from_the_arms_start_and_what_was_before_it_is_left_out() -> None:
    arm = record(
        line(100.4, "headroom", from_s=99.2, to_s=100.4, slowdown=1.5),
        line(101.5, "headroom", from_s=100.5, to_s=101.5, slowdown=3.0, core=1.2, others_cores=1.9),
        END,
    )
    assert [(one.from_s, one.to_s, one.slowdown, one.core, one.others_cores) for one in arm.headroom] == [
        (0.5, 1.5, 3.0, 1.2, 1.9)
    ]


def of_programs(names: list[str], *events: tuple[float, str, str, dict[str, Any]]) -> ArmRecord:
    """An arm of these programs, with a line at a time, of a kind and of a program for each event."""
    lines: list[dict[str, Any]] = [{"t_s": 0.0, "kind": "programs", "names": names}]
    lines += [{"t_s": t_s, "kind": kind, "program": name} | fields for t_s, kind, name, fields in events]
    return arm_record("incident", storm.entries(*lines))


def test_of_several_programs_the_main_one_is_shown_and_the_others_stand_beside_it() -> None:
    arm = of_programs(
        ["html", "reader", "once"],
        (1.0, "process_started", "reader", {}),
        (2.0, "process_started", "html", {}),
        (3.0, "started", "html", {"start": "earliest", "spark_ui": "off"}),
        (4.0, "process_ended", "reader", {"process": 1, "exit_code": 3}),
        (5.0, "process_restarted", "reader", {"process": 2}),
        (6.0, "not_observable", "reader", {"observables": ["words"]}),
    )
    (process,) = arm.processes
    assert (arm.program, process.begin_s, process.ready_s, process.exit_code) == ("html", 2.0, 3.0, None)
    first, second = arm.beside["reader"]
    assert (first.begin_s, first.ready_s, first.end_s, first.exit_code) == (1.0, 1.0, 4.0, 3)
    assert (second.begin_s, second.exit_code) == (5.0, None)
    assert arm.beside["once"] == ()
    assert arm.not_observable == frozenset(), "what one beside it does not show is not the main one's"


def test_apply_is_ready_when_it_begins_to_read_mutations() -> None:
    reads = {"topic": "mutation", "endpoint": "http://store", "next_offset": 0, "kept_in": "new", "behind": 0}
    arm = of_programs(
        ["resolve", "apply"], (1.0, "process_started", "apply", {}), (3.0, "apply_started", "apply", reads)
    )
    (process,) = arm.beside["apply"]
    assert (process.begin_s, process.ready_s) == (1.0, 3.0)


def test_watermarks_count_from_the_first_that_an_event_has_made() -> None:
    figures = {"operator": "dedupe", "rows": 1, "bytes": 1, "commit_ms": 1, "duplicates": 0, "late_dropped": 0}
    times = [{}, {"watermark": "1970-01-01T00:00:00.000Z"}, {"watermark": "2026-03-02T09:08:30.000Z"}]
    lines = [line(108.0 + at, "state_committed", batch=at, **figures, **time) for at, time in enumerate(times)]
    assert record(*lines).watermarks == ((10.0, 1772442510.0),)
