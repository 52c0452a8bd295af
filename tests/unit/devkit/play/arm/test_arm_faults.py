"""What an arm tells its timeline, and what the timeline tells the arm's log and its verdict."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.errors import StackError, UsageError
from devkit.faults.condition import Seen
from devkit.faults.fault import Proof
from devkit.faults.journal import Journal
from devkit.faults.kafka.add_partitions import AddPartitions
from devkit.faults.timeline_item import TimelineItem
from devkit.observe.arm_observation import Sample, TimelineEvidence
from devkit.observe.checkpoint import Checkpoint
from devkit.observe.timeline.kit_events import ProcessEnded
from devkit.observe.timeline.timeline import Timeline
from devkit.play.arm.arm_faults import ArmFaults, require_levers
from devkit.play.arm.arm_state import ArmState
from devkit.play.arm.clock import ArmClock
from devkit.play.arm.log import ArmLog
from devkit.play.arm.run_context import ArmInPlay
from devkit.programs.program_state import ProgramState
from devkit.report.progress import Progress
from devkit.stack.stack import Stack
from pipeline.events import BatchCommitted, BatchStarted, Resumed, Waiting
from tests.unit.devkit.faults.fakes import Clock, FakePart

SAMPLE = Sample(
    at_s=1,
    committed=40,
    source_end=100,
    outputs=30,
    errors=1,
    requests=50,
    in_flight=0,
    process=1,
    faults={"slow": 2, "never": 0, "waits": 0},
    faults_in_flight={"waits": 1},
)
PAUSE = {"pause": {"part": "kafka"}}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "cache"))


def item(**keys: Any) -> TimelineItem:
    return TimelineItem.model_validate({"name": "x", "do": {"kill": {"part": "kafka"}}} | keys)


class Arm:
    def __init__(self, directory: Path, *items: TimelineItem) -> None:
        self.path, self.clock, self.part, self.shown = directory / "events.jsonl", Clock(), FakePart(), io.StringIO()
        stack = SimpleNamespace(
            parts={"kafka": self.part, "mock-api": FakePart("mock-api")},
            kafka=SimpleNamespace(bootstrap="127.0.0.1:1", direct="127.0.0.1:1"),
            triple_store=None,
            prefix="",
            proxy=None,
            excused=lambda _name: nullcontext(),
        )
        self.timeline = Timeline(self.path)
        self.state, self.program = (
            ArmState(),
            SimpleNamespace(
                label="pipeline",
                is_running=True,
                view=SimpleNamespace(shows_offsets=True),
                state=ProgramState(),
                supervisor=SimpleNamespace(restarts=2),
                processes=lambda role: [role],
                name="",
            ),
        )
        log = ArmLog("fixed", self.timeline, Progress(self.shown))
        clock = ArmClock(self.clock)
        in_play = ArmInPlay("fixed", clock, cast(Any, [self.program]), self.state, log)
        checkpoint = cast(Checkpoint, None)
        self.faults = ArmFaults(
            items, in_play, cast(Stack, stack), "run1", topics={}, checkpoint=checkpoint, events=100, seed=7
        )
        self.faults._runner._start = lambda work: work()

    def at(self, second: float) -> None:
        self.clock.now = second
        self.faults._runner.tick()

    def look(self) -> None:
        self.state.sample = SAMPLE
        self.state.samples.append(SAMPLE)
        self.faults.look()

    def seen(self) -> Seen:
        return self.faults._runner._seen

    def lines(self) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.path.read_text().splitlines()]
        return [{key: value for key, value in line.items() if key != "t_s"} for line in lines]


Make = Callable[..., Arm]


@pytest.fixture
def arm_with(tmp_path: Path) -> Iterator[Make]:
    """An arm with these items."""
    with ExitStack() as closing:

        def make(*items: TimelineItem) -> Arm:
            arm = Arm(tmp_path, *items)
            closing.enter_context(arm.timeline)
            return arm

        yield make


def test_a_fault_is_told_when_it_begins_and_when_it_is_over(arm_with: Make) -> None:
    arm = arm_with(item(at="1s", **{"for": "2s"}))
    arm.at(1)
    assert arm.faults.blinds
    arm.at(3)
    assert not arm.faults.blinds
    asked = "kill: {part: kafka}, at 1s, for 2s"
    did = "it ended with signal 9, and was started again: away for 0.0 s, 0.0 s of them its start"
    begun, shown, over, _ = arm.lines()
    assert begun == {"kind": "fault_begins", "arm": "fixed", "name": "x", "asked": asked, "from_s": 1}
    assert (shown["kind"], shown["phase"], shown["text"]) == ("phase", "fault", f"x begins: {asked}")
    assert over == begun | {"kind": "fault_ends", "to_s": 3, "acted": True, "did": did, "irreversible": []}
    assert f"x is over: {did}" in arm.shown.getvalue()
    assert arm.faults.evidence() == (
        TimelineEvidence(fault="x", fired=True, asked=asked, acted=True, did=did, from_s=1, to_s=3),
    )


@pytest.mark.parametrize(
    ("begins", "did"),
    [
        ({"at": "50s"}, "the arm ended before"),
        ({"when": "committed: 30%", "after": "50s"}, "the arm ended before"),
        ({"when": "committed: 90%"}, "committed came to 40 of 90"),
    ],
)
def test_a_fault_that_never_began_is_no_evidence_and_says_why(arm_with: Make, begins: dict[str, str], did: str) -> None:
    arm = arm_with(item(**begins))
    arm.look()
    arm.at(1)
    arm.faults.end()
    (found,) = arm.faults.evidence()
    assert (found.fired, found.acted, found.did) == (False, False, did)


@pytest.mark.parametrize(
    ("do", "forgets"),
    [
        ({"kill": {"part": "mock-api"}}, True),
        ({"restart": {"part": "mock-api"}}, True),
        ({"pause": {"part": "mock-api"}}, False),
        ({"kill": {"part": "kafka"}}, False),
    ],
)
def test_a_mock_that_is_started_again_takes_what_it_counted_away(
    arm_with: Make, do: dict[str, Any], forgets: bool
) -> None:
    arm = arm_with(item(do=do, at="1s"))
    assert arm.faults.not_observable == frozenset()  # it has not begun
    arm.at(1)
    arm.faults.end()
    assert arm.faults.not_observable == ({"upstream"} if forgets else frozenset())


def test_conditions_see_what_was_sampled_and_said(arm_with: Make) -> None:
    arm = arm_with()
    arm.faults.note(BatchCommitted(batch=3, rows=1, durations_ms={}))
    arm.faults.note(BatchStarted(batch=5))
    arm.faults.note(Waiting(batch=6, reason="no room"))
    arm.faults.note(BatchCommitted(batch=9, rows=1, durations_ms={}), is_of_main=False)
    arm.faults.note(BatchStarted(batch=9), is_of_main=False)
    arm.faults.note(Resumed(batch=9), is_of_main=False)
    arm.look()
    assert arm.seen() == Seen(
        {"outputs": 30, "errors": 1, "requests": 50, "deferred": 0, "restarts": 2, "lag": 60, "committed": 40},
        frozenset({"pipeline"}),
        frozenset({3, 4}),
        frozenset({"batch_committed", "batch_started", "waiting", "resumed"}),
        frozenset({"slow", "waits"}),
    )


def test_before_the_first_sample_nothing_is_known(arm_with: Make) -> None:
    arm = arm_with()
    arm.faults.look()
    assert arm.seen() == Seen({}, frozenset({"pipeline"}))


def test_faults_find_the_processes_of_the_programs(arm_with: Make) -> None:
    processes = arm_with().faults._context(lambda _undo: None).processes
    assert (processes("driver", None), processes("driver", "other")) == (["driver"], [])


def test_what_is_not_observable_is_not_seen(arm_with: Make) -> None:
    arm = arm_with()
    arm.program.view.shows_offsets = False
    arm.look()
    assert {"lag", "committed"}.isdisjoint(arm.seen().figures)


class TestExcusing:
    def test_what_fails_while_a_fault_holds_a_part_is_said_to_be_not_observable(self, arm_with: Make) -> None:
        arm = arm_with(item(at="1s"))
        arm.at(1)
        with arm.faults.excusing():
            raise StackError("Kafka does not answer")
        assert arm.lines()[-1] == {
            "kind": "parts_not_observable",
            "arm": "fixed",
            "parts": ["kafka"],
            "error": "Kafka does not answer",
        }

    def test_a_look_that_a_fault_ended_under_is_excused_as_well(self, arm_with: Make) -> None:
        arm = arm_with(item(at="1s"))
        arm.at(1)
        with arm.faults.excusing():
            arm.faults.end()
            raise StackError("Kafka does not answer")

    def test_without_a_fault_it_fails(self, arm_with: Make) -> None:
        arm = arm_with(item(at="1s"))
        with pytest.raises(StackError, match="does not answer"), arm.faults.excusing():
            raise StackError("Kafka does not answer")


class TestLevers:
    def of(self, *parts: FakePart) -> Stack:
        return Stack(cast(Any, None), cast(Any, None), cast(Any, None), {part.name: part for part in parts})

    def test_a_part_that_the_stack_has_not(self) -> None:
        with pytest.raises(
            UsageError, match=r"fault 'x' \(kill: .*\) cannot be: the stack has no part 'kafka'"
        ) as caught:
            require_levers([item(at="1s")], self.of(FakePart("kafka-1")))
        assert caught.value.hint == "did you mean 'kafka-1'?"

    def test_a_lever_that_the_backend_refuses(self) -> None:
        part = FakePart(refused={"restart": "it is not ours"})
        with pytest.raises(UsageError, match="cannot be: `restart` cannot be done to kafka: it is not ours"):
            require_levers([item(at="1s")], self.of(part))
        assert part.pulled == []

    def test_what_it_can_do(self) -> None:
        require_levers([item(at="1s"), item(do=PAUSE, at="2s")], self.of(FakePart()))


def test_a_fault_that_was_put_in_by_hand_is_told(arm_with: Make) -> None:
    arm = arm_with(item(at="1s"))
    arm.at(1)
    page = Journal("run1").open("mine", item(at="1s").do, holder=1)
    arm.look()
    page.close()
    arm.look()
    assert arm.faults.by_hand == ("mine",)


def test_which_topics_grew(arm_with: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kafka itself gives their keys other partitions then, which is no program's doing."""
    grown = SimpleNamespace(end=lambda: Proof(acted=True, did="it has 6 partitions"))
    monkeypatch.setattr(AddPartitions, "begin", lambda _self, _context: grown)
    monkeypatch.setattr("devkit.play.arm.arm_faults.cluster_id", lambda _bootstrap: "a cluster")
    arm = arm_with(
        item(do={"add_partitions": {"topic": "page_html", "partitions": 6}}, at="1s"),
        item(name="y", do={"add_partitions": {"topic": "source", "partitions": 6}}, at="9s"),
    )
    assert arm.faults.grown == frozenset()
    arm.at(1)
    assert arm.faults.grown == {"page_html"}


@pytest.mark.parametrize(
    ("ended_s", "code", "unreached"),
    [
        (None, 0, "partition 2"),
        (0.5, 1, "partition 2"),  # before it
        (3, 0, "partition 2"),
        (3, -9, "partition 2"),  # killed
        (3, 1, ""),
    ],
)
def test_a_program_that_failed_after_a_topic_grew_may_have_met_it(
    arm_with: Make, monkeypatch: pytest.MonkeyPatch, ended_s: float | None, code: int, unreached: str
) -> None:
    monkeypatch.setattr("devkit.play.arm.arm_faults.cluster_id", lambda _bootstrap: "a cluster")
    grown = SimpleNamespace(end=lambda: Proof(acted=True, did="it grew"), unreached=lambda: "partition 2")
    monkeypatch.setattr(AddPartitions, "begin", lambda _self, _context: grown)
    arm = arm_with(item(do={"add_partitions": {"topic": "source", "partitions": 3}}, at="1s"))
    ended = ProcessEnded(process=1, exit_code=code)
    if ended_s == 0.5:
        arm.clock.now = ended_s
        arm.faults.note(ended, is_of_main=False)
    arm.at(1)
    if ended_s == 3:
        arm.clock.now = ended_s
        arm.faults.note(ended, is_of_main=False)
    arm.faults.end()
    arm.faults.look_for_records()
    (found,) = arm.faults.evidence()
    assert (found.acted, found.unreached) == (True, unreached)
