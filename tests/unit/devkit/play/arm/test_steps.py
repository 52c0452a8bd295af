"""An arm that is taken through its steps: what is started when, what is awaited, what an operator's command does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from devkit.faults.condition import Seen
from devkit.guardian import Guardian
from devkit.observe.arm_end import EndByCondition, EndByDeadline, EndByRefusal, EndByStep
from devkit.observe.timeline.action_outcomes import StepOutcome
from devkit.play.arm import steps as steps_module
from devkit.play.arm.clock import ArmClock
from devkit.play.arm.start import start_due
from devkit.play.arm.steps import ArmSteps
from devkit.play.arm.warm_up import reason_against
from devkit.play.arm.watch import arm_status, has_ended
from devkit.programs.places import CONFIG_FILE
from devkit.programs.spark import place as place_module
from devkit.scenario.load import load_scenario
from devkit.scenario.traffic import ScenarioTraffic
from devkit.stack.stack import Stack
from devkit.traffic.records import DumpedEntities
from tests.unit.devkit.play.arm.stage import SOURCE, Stage, set_up
from tests.unit.devkit.programs.file_guardian import FileGuardian

REFUSED = {"event": "failed", "error": "checkpoint x holds no position", "refused": True, "stalled": False}


@dataclass
class Command:
    """An operator's command whose end the test decides."""

    words: tuple[str, ...]
    environment: dict[str, str]
    exit_code: int | None = None
    written: str = "a line\nits last line"
    killed: int = 0

    def output(self) -> str:
        return self.written

    def kill(self) -> None:
        self.killed += 1


@dataclass
class Played:
    """`now` is the arm's clock, in seconds."""

    stage: Stage
    guardian: FileGuardian
    commands: list[Command] = field(default_factory=list)
    steps: ArmSteps = field(init=False)
    now: float = 0.0

    def look(self) -> list[bool | None]:
        """As an arm is watched: what programs say comes first. Which steps have come to which end."""
        arm = self.stage.arm
        for line in arm.main.poll():
            arm.events[arm.main.name].take(line)
        self.steps.advance()
        return [one.holds for one in self.outcomes]

    @property
    def outcomes(self) -> list[StepOutcome]:
        return self.stage.arm.state.steps

    def ends(self, code: int, *log_lines: dict[str, Any]) -> None:
        self.guardian.started[-1].says(*log_lines)
        self.guardian.started[-1].exit_code = code


Play = Callable[[str], Played]


@pytest.fixture
def play(tmp_path: Path, edited: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    monkeypatch.setattr(place_module, "_classpath", lambda: "a.jar")
    opened = []

    def begun(steps: str) -> Played:
        path = tmp_path / "steps.yaml"
        path.write_text(edited(("arms:\n  incident:\n", f"arms:\n  incident:\n    steps: [{steps}]\n")))
        setting = set_up(load_scenario(path, unchecked=True), tmp_path)
        stage = setting.__enter__()
        opened.append(setting)
        played = Played(stage, FileGuardian(tmp_path))
        store = SimpleNamespace(endpoint="http://127.0.0.1:1", credentials=dict)
        stack = cast(Stack, SimpleNamespace(**{**vars(stage.arm.context.stack), "object_store": store}))
        guardian = cast(Guardian, played.guardian)
        stage.main.context = replace(stage.main.context, guardian=guardian, stack=stack)
        stage.main.supervisor._guardian = guardian
        stage.arm.clock = ArmClock(lambda: played.now, lambda: 1_700_000_000_000)

        def run(_guardian: Guardian, _name: str, words: tuple[str, ...], environment: dict[str, str], **_: Path) -> Any:
            played.commands.append(Command(words, environment))
            return played.commands[-1]

        monkeypatch.setattr(steps_module, "run_command", run)
        played.steps = ArmSteps(stage.arm, lambda: arm_status(stage.arm))
        return played

    yield begun
    for setting in opened:
        setting.__exit__(None, None, None)


def test_without_a_start_nothing_is_started_but_by_its_step(play: Play) -> None:
    played = play("{ command: [x] }, { start: new }")
    start_due(played.stage.arm)
    assert played.look() == [None, None]
    assert played.guardian.started == []
    played.commands[0].exit_code = 0
    assert played.look() == [True, True]
    assert played.guardian.started[0].argv[-2:] == ["--new", "earliest"]
    assert played.stage.timeline()[-1]["text"] == "2 of 2, start: process 1"


def test_a_refusal_that_is_awaited_is_followed_by_the_operators_start(play: Play) -> None:
    played = play(
        "{ start: new }, { expect: { refused: no position } }, { start: { arguments: [--new, latest] } }, "
        "{ expect: { running: true } }"
    )
    assert played.look() == [True, None, None, None]
    played.ends(2, REFUSED)
    assert played.look() == [True, True, True, None]
    assert played.guardian.started[1].argv[-2:] == ["--new", "latest"]
    assert "earliest" not in played.guardian.started[1].argv
    assert played.outcomes[1].did == "refused: checkpoint x holds no position"
    assert has_ended(played.stage.arm, 90) is None
    played.guardian.started[1].says({"event": "started", "start": "latest"})
    assert played.look() == [True] * 4
    main = played.stage.main
    assert (main.supervisor.starts, main.supervisor.restarts, main.state.processes) == (2, 0, 2)
    assert main.supervisor.refusal == "checkpoint x holds no position"
    restarted = [line for line in played.stage.timeline() if line["kind"] == "process_restarted"]
    assert [(line["process"], line["by"]) for line in restarted] == [(2, "operator")]


def test_an_operator_starts_it_again_with_another_configuration(play: Play) -> None:
    """It stays for the supervisor's restarts, and the next start has the arm's own again."""
    changed = "configuration: { batch: { max_offsets: 7 } }"
    played = play(
        f"{{ start: new }}, {{ stop: true }}, {{ start: {{ {changed} }} }}, {{ when: committed >= 50% }}, "
        "{ stop: true }, { start: checkpoint }"
    )
    main, now, seen = played.stage.main, 0.0, []
    main.supervisor._clock = lambda: now
    own = main.configured.effective()["batch"]["max_offsets"]

    def runs_with() -> tuple[int, int]:
        file = orjson.loads((main.context.directory / CONFIG_FILE).read_bytes())
        seen.append(main.current.effective()["batch"]["max_offsets"])
        return file["batch"]["max_offsets"], main.supervisor.starts

    played.look()
    played.guardian.started[0].says({"event": "started", "start": "earliest"})
    assert runs_with() == (own, 1)
    played.ends(0)
    assert played.look() == [True, True, True, None, None, None]
    assert runs_with() == (7, 2)
    played.guardian.started[1].says({"event": "started", "start": "checkpoint"})
    played.ends(1)
    played.look()
    now = 1e6
    played.look()
    assert runs_with() == (7, 3)
    played.stage.arm.faults.seen = Seen({"committed": 161})
    played.look()
    played.ends(0)
    assert played.look() == [True] * 6
    assert runs_with() == (own, 4)
    assert seen == [own, 7, 7, own]


def test_a_refusal_for_another_reason_fails(play: Play) -> None:
    played = play("{ start: new }, { expect: { refused: two metrics } }, { start: checkpoint }")
    played.look()
    played.ends(2, REFUSED)
    assert played.look() == [True, False, None]
    assert played.look() == [True, False, None]
    did = "refused for another reason: checkpoint x holds no position"
    assert has_ended(played.stage.arm, 90) == EndByStep(step=2, did=did)
    assert len(played.guardian.started) == 1


def test_what_an_earlier_process_refused_is_no_refusal_of_a_later_one(play: Play) -> None:
    played = play(
        "{ start: new }, { expect: { refused: no position } }, { start: { arguments: [--new, latest] } }, "
        "{ expect: { refused: no position } }"
    )
    played.look()
    played.ends(2, REFUSED)
    assert played.look() == [True, True, True, None]
    arm = played.stage.arm
    arm.main.supervisor._gave_up_after, arm.main.supervisor._is_over = "3 restarts in a row", True
    assert played.look() == [True, True, True, False]
    assert played.outcomes[3].did == "the program's supervisor had given up after 3 restarts in a row"
    arm.state.steps = arm.state.steps[:3]
    assert has_ended(arm, 90) is None
    assert arm.main.supervisor.refusal == "checkpoint x holds no position"


def test_a_refusal_after_the_last_step_ends_the_arm(play: Play) -> None:
    played = play("{ start: new }, { expect: { refused: no position } }, { start: { arguments: [--new, latest] } }")
    for _ in range(2):
        played.look()
        played.ends(2, REFUSED)
    played.look()
    assert has_ended(played.stage.arm, 90) == EndByRefusal()


def test_until_counts_once_all_steps_are_done_and_the_deadline_always(play: Play) -> None:
    played = play("{ start: new }, { when: committed >= 50% }")
    arm = played.stage.arm
    arm.main.state.drained = True
    played.look()
    assert has_ended(arm, 90) is None
    played.now = 91
    assert has_ended(arm, 90) == EndByDeadline(deadline_s=90)
    played.now = 5
    arm.faults.seen = Seen({"committed": 161})
    assert played.look() == [True, True]
    assert has_ended(arm, 90) == EndByCondition(reached={"drained": 1})
    assert [(one.from_s, one.to_s) for one in played.outcomes] == [(0, 0), (0, 5)]


class TestCommand:
    def test_its_words_are_filled_in_and_it_has_the_programs_environment(self, play: Play, tmp_path: Path) -> None:
        played = play("{ start: new }, { command: [x, '{config}', 'at={checkpoint}', '{arm}', '{source}', '{mock}'] }")
        assert played.look() == [True, None]
        (command,) = played.commands
        config = tmp_path / "incident" / "pipeline.yaml"
        assert config.exists()
        checkpoint = "at=s3a://checkpoints/incident/an-incident"
        assert command.words == ("x", str(config), checkpoint, "incident", SOURCE, "http://127.0.0.1:1")
        assert command.environment == played.guardian.started[0].env

    def test_its_end_is_recorded(self, play: Play) -> None:
        played = play("{ start: new }, { command: [x] }")
        played.look()
        played.commands[0].exit_code = 0
        assert played.look() == [True, True]
        found = played.outcomes[1]
        assert (found.exit_code, found.output, found.did) == (0, "a line\nits last line", "exit code 0: its last line")
        (ended,) = [line for line in played.stage.timeline() if line["kind"] == "step_ended"][1:]
        assert ended["outcome"]["exit_code"] == 0

    @pytest.mark.parametrize(
        ("written", "code", "holds"), [("", 3, False), (", exit_code: 3", 3, True), ("", -9, False)]
    )
    def test_another_exit_code_than_expected_fails(self, play: Play, written: str, code: int, *, holds: bool) -> None:
        played = play(f"{{ start: new }}, {{ command: {{ argv: [x]{written} }} }}")
        played.look()
        played.commands[0].exit_code = code
        assert played.look() == [True, holds]
        end = has_ended(played.stage.arm, 90)
        assert end == (None if holds else EndByStep(step=2, did=f"exit code {code}: its last line"))

    def test_one_that_takes_too_long_is_killed(self, play: Play) -> None:
        played = play("{ start: new }, { command: { argv: [x], within: 3s } }")
        played.look()
        played.now = 3
        assert played.look() == [True, None]
        played.now = 3.1
        assert played.look() == [True, False]
        assert played.commands[0].killed == 1
        assert played.outcomes[1].timed_out
        assert "within 3s" in played.outcomes[1].did


class TestStop:
    def test_the_program_is_asked_to_end_and_is_not_restarted(self, play: Play) -> None:
        played = play("{ start: new }, { stop: true }, { start: checkpoint }")
        assert played.look() == [True, None, None]
        assert played.guardian.started[0].signals == [15]
        played.ends(0, {"event": "started"})
        assert played.look() == [True, True, True]
        assert played.outcomes[1].did == "ended with 0"
        assert len(played.guardian.started) == 2
        assert "--new" not in played.guardian.started[1].argv
        assert played.stage.main.supervisor.restarts == 0


class TestWhereTheOperatorBegins:
    def at(self, played: Played, monkeypatch: pytest.MonkeyPatch, **furthest: int) -> str:
        records = [
            SimpleNamespace(partition=p, offset=o, timestamp_ms=1_700_000_000_000 + 10 * o + p)
            for p in (0, 1)
            for o in range(3)
        ]
        monkeypatch.setattr(steps_module, "read_topic", lambda _, topic: records if topic == SOURCE else [])
        played.stage.main.state.furthest = {(SOURCE, int(name[1:])): end for name, end in furthest.items()}
        played.look()
        return str(played.guardian.started[0].argv[-1])

    @pytest.mark.parametrize(
        ("furthest", "time"),
        [
            ({}, "22:13:20.000Z"),
            ({"p0": 2, "p1": 1}, "22:13:20.011Z"),
            ({"p0": 2, "p1": 3}, "22:13:20.020Z"),
            ({"p0": 3, "p1": 3}, "22:13:20.000Z"),
        ],
        ids=["nothing committed", "the earliest of the partitions", "one is done with", "all is, so it is now"],
    )
    def test_it_is_the_first_event_that_no_checkpoint_had(
        self, play: Play, monkeypatch: pytest.MonkeyPatch, furthest: dict[str, int], time: str
    ) -> None:
        played = play("{ start: { arguments: [--new, 'timestamp={uncommitted_since}'] } }")
        assert self.at(played, monkeypatch, **furthest) == f"timestamp=2023-11-14T{time}"


def test_an_operator_is_given_the_dump(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devkit.scenario.validate.steps._check_dump", lambda *_: ())  # the file's traffic has none
    played = play("{ command: [x, '{revisions}', '{dump_begun}', '{dump_ended}'] }, { start: checkpoint }")
    arm, begun = played.stage.arm, datetime(2026, 3, 2, 9, tzinfo=UTC)
    dump = DumpedEntities(begun, begun + timedelta(minutes=2), {"Q1": 7})
    arm.traffic = cast(ScenarioTraffic, SimpleNamespace(dump=dump))
    played.look()
    times = "2026-03-02T09:00:00.000Z", "2026-03-02T09:02:00.000Z"
    assert played.commands[0].words == ("x", str(arm.directory.absolute() / "revisions.csv"), *times)


def test_no_arm_of_a_scenario_with_steps_is_warmed_up(play: Play) -> None:
    played = play("{ start: new }, { expect: { running: true } }")
    played.stage.arm.scenario = played.stage.arm.scenario.model_copy(update={"traffic_begins": "when running"})
    assert reason_against(played.stage.arm) == "an arm has steps, and begins as they say"


def test_a_program_that_was_given_up_does_not_come_to_run(play: Play) -> None:
    played = play("{ start: new }, { expect: { drained: true } }")
    played.look()
    supervisor = played.stage.main.supervisor
    supervisor._gave_up_after, supervisor._is_over = "3 restarts in a row", True
    assert played.look() == [True, False]
    assert played.outcomes[1].did == "the program's supervisor had given up after 3 restarts in a row"
