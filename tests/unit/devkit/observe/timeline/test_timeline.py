import json
import threading
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, get_args

import pytest

from devkit.container.memory import KindMemory, TreeMemory
from devkit.headroom.window import HeadroomSample
from devkit.observe.arm_end import EndByCondition, EndByDeadline
from devkit.observe.arm_role import TWO_ARMS, Roles
from devkit.observe.logs.logs import UnknownLine
from devkit.observe.samples.sample import Sample
from devkit.observe.timeline.action_outcomes import StepOutcome
from devkit.observe.timeline.kit_events import (
    ArmEnded,
    CalibrationTaken,
    FaultBegun,
    FaultEnded,
    GuardianStarted,
    HarnessError,
    KitEvent,
    LatencyOfSecond,
    NotObservable,
    PartAddress,
    PartsNotObservable,
    PhaseBegun,
    ProbeEnded,
    ProcessEnded,
    ProcessOverLimit,
    ProcessRestarted,
    ProcessStarted,
    ProgramsNamed,
    RuleSwitched,
    StartRefused,
    StepEnded,
    StretchChosen,
    SupervisorGaveUp,
    TrafficBegun,
    VerdictReached,
    WarmedUp,
)
from devkit.observe.timeline.run_metadata import RunMetadata, difference_text
from devkit.observe.timeline.run_phases import phase_times
from devkit.observe.timeline.timeline import Timeline, TimelineEntry, TimelineEvent, read_timeline
from pipeline.events import BatchCommitted, Failed, Started, Waiting

LINE = UnknownLine("mine", {"figure": 3})
SAMPLE = Sample(
    at_s=1.5,
    committed=2,
    source_end=9,
    outputs=1,
    errors=0,
    requests=4,
    in_flight=1,
    by_status={"200": 3},
    faults={"huge page": 1},
)
ALL: tuple[TimelineEvent, ...] = (
    RunMetadata(
        scenario="x",
        seed=7,
        arms=("incident", "fixed"),
        began=datetime(2026, 11, 22, tzinfo=UTC),
        config_difference={"batch": {"incident": 1, "fixed": [2]}},
    ),
    GuardianStarted(run_id="r", directory="/run"),
    PartAddress(part="kafka", address="127.0.0.1:9092"),
    HarnessError(error="kafka ended", exit_code=3),
    VerdictReached(outcome="inconclusive", reasons=("a", "b")),
    PhaseBegun(phase="replay", text="batch 1 again"),
    WarmedUp(offsets={0: 0, 1: 0}, fetches=4, seconds=2.5),
    TrafficBegun(),
    ProgramsNamed(names=("html", "reader")),
    ProcessStarted(),
    ProcessOverLimit(
        process=1,
        limit="memory",
        allowed=100,
        used=200,
        memory=TreeMemory(rows=(KindMemory(pid=7, kind="driver", size=200),), measure="proportional"),
    ),
    ProcessEnded(process=1, exit_code=-9),
    ProcessRestarted(process=2, pid=7),
    SupervisorGaveUp(restarts=3, exit_code=1),
    StartRefused(reason="two metrics of one name"),
    StepEnded(outcome=StepOutcome(number=2, step="stop", holds=True, did="ended with 0", from_s=1.5, to_s=3)),
    ArmEnded(end=EndByCondition(reached={"restarts": 2, "replays": 1})),
    ArmEnded(end=EndByDeadline(deadline_s=60)),
    SAMPLE,
    LatencyOfSecond(at_s=3, count=2, waiting=1, p50_s=0.5),
    CalibrationTaken(quantum_s=0.02, baseline="kept", measured_s=0.03, slowdown=1.5),
    StretchChosen(stretch=2, by="repeat"),
    HeadroomSample(from_s=1, to_s=2, slowdown=1.2, pressure=0.1),
    ProbeEnded(exit_code=1),
    FaultBegun(name="broker", asked="pause: {part: kafka}", from_s=3),
    FaultEnded(name="broker", asked="pause", from_s=3, to_s=4, acted=True, did="stopped", irreversible=("x",)),
    RuleSwitched(name="slow", on=True, at_s=4.5, published=90),
    PartsNotObservable(parts=("kafka",), error="no answer"),
    NotObservable(observables=("offsets", "words")),
    BatchCommitted(batch=3, rows=50, durations_ms={"addBatch": 7}),
    Waiting(batch=4, reason="breaker open: enwiki", wikis=("enwiki",)),
    UnknownLine("mine", {"figure": [1, None], "text": "x"}),
    UnknownLine("batch_started", {"batch": "no number"}),
)
STRETCH = StretchChosen(stretch=1, by="calibration")
VERDICT = VerdictReached(outcome="reproduced and fixed", reasons=())
STARTED = Started(start="earliest", spark_ui="off")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_line_says_when_what_and_where(tmp_path: Path) -> None:
    moments = iter([100.0, 101.23456, 102.5])
    with Timeline(tmp_path / "events.jsonl", clock=lambda: next(moments)) as timeline:
        timeline.add(PartAddress(part="kafka", address="127.0.0.1:9092"))
        timeline.add(LINE, arm="incident")
    assert lines(tmp_path / "events.jsonl") == [
        {"t_s": 1.235, "kind": "address", "part": "kafka", "address": "127.0.0.1:9092"},
        {"t_s": 2.5, "kind": "mine", "arm": "incident", "figure": 3},
    ]


def test_a_line_is_on_disk_at_once_and_what_was_there_stays(tmp_path: Path) -> None:
    kinds = ["one", "two"]
    for number, kind in enumerate(kinds, 1):
        with Timeline(tmp_path / "events.jsonl") as timeline:
            timeline.add(UnknownLine(kind, {}))
            assert [line["kind"] for line in lines(tmp_path / "events.jsonl")] == kinds[:number]


def test_lines_of_several_threads_are_whole_and_in_the_order_of_their_times(tmp_path: Path) -> None:
    ticks = count()
    with Timeline(tmp_path / "events.jsonl", clock=lambda: float(next(ticks))) as timeline:
        together = threading.Barrier(4)

        def work(name: str) -> None:
            together.wait(30)
            for number in range(50):
                timeline.add(UnknownLine(name, {"number": number}))

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    written = lines(tmp_path / "events.jsonl")
    assert [line["t_s"] for line in written] == [float(number) for number in range(1, 201)]
    for name in "abcd":
        assert [line["number"] for line in written if line["kind"] == name] == list(range(50))


@pytest.mark.parametrize("event", ALL, ids=lambda event: event.event)
def test_what_is_written_is_read_back_as_the_same(tmp_path: Path, event: TimelineEvent) -> None:
    with Timeline(tmp_path / "events.jsonl", clock=lambda: 1.0) as timeline:
        timeline.add(event, arm="fixed")
        timeline.add(event)
        timeline.add(event, arm="fixed", program="html")
    assert list(read_timeline(tmp_path / "events.jsonl")) == [
        TimelineEntry(0.0, event, "fixed"),
        TimelineEntry(0.0, event),
        TimelineEntry(0.0, event, "fixed", "html"),
    ]


def test_every_event_of_the_kit_is_among_them() -> None:
    assert {type(event) for event in ALL} >= set(get_args(KitEvent))


TEXT = "first\nsecond → «третий»"


@pytest.mark.parametrize(
    ("event", "key", "value"),
    [(SAMPLE, "lag", 7), (Failed(error=TEXT), "error", TEXT)],
    ids=["a sample says its lag", "text of any kind is one line"],
)
def test_what_a_line_says(tmp_path: Path, event: TimelineEvent, key: str, value: object) -> None:
    with Timeline(tmp_path / "events.jsonl") as timeline:
        timeline.add(event)
    assert [line[key] for line in lines(tmp_path / "events.jsonl")] == [value]


def test_what_another_program_says_cannot_pose_as_the_lines_own(tmp_path: Path) -> None:
    with Timeline(tmp_path / "events.jsonl", clock=lambda: 1.0) as timeline:
        timeline.add(UnknownLine("mine", {"t_s": 99, "kind": "verdict", "arm": "fixed", "x": 1}), arm="incident")
    assert lines(tmp_path / "events.jsonl") == [{"t_s": 0.0, "kind": "mine", "arm": "incident", "x": 1}]


def test_a_text_that_no_file_can_hold_is_written_all_the_same(tmp_path: Path) -> None:
    with Timeline(tmp_path / "events.jsonl") as timeline:
        timeline.add(HarnessError(error="no file a\udcff", exit_code=3))
    (entry,) = read_timeline(tmp_path / "events.jsonl")
    assert entry.event == HarnessError(error="no file a?", exit_code=3)


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
