"""The levers and the life of a part in a container, with an engine that does what it is told."""

from dataclasses import dataclass, field

import pytest

from devkit.docker.causes import EngineError
from devkit.errors import StackError
from devkit.stack.container_life import ContainerLife
from devkit.stack.container_part import ContainerPart
from devkit.stack.parts.data_directory import KeptData
from devkit.stack.parts.part import LEVERS, NOT_COPIED, Lever
from devkit.stack.parts.part_life import Life, require_running
from tests.unit.devkit.stack.fakes import FakeProcess


@dataclass
class Engine:
    """One container, and the part that it runs."""

    status: str = "running"
    commands: list[str] = field(default_factory=list)
    follower: FakeProcess = field(default_factory=FakeProcess)
    ready: list[Life] = field(default_factory=list)
    restored: int = 0
    succeeded: list[tuple[ContainerLife, str]] = field(default_factory=list)

    def order(self, words: list[str]) -> str:
        assert (words[0], words[-1]) == ("container", "abc")
        match words[1:-1]:
            case ["inspect", _, "{{.State.Paused}}"]:
                return f"{self.status == 'paused'}\n".lower()
            case ["inspect", _, "{{.State.StartedAt}}"]:
                return "2026-11-22T10:00:00Z\n"
            case [verb, *_]:
                self._obey(verb)
        return ""

    def _obey(self, verb: str) -> None:
        self.commands.append(verb)
        if verb in ("kill", "stop", "pause") and self.status != "running":
            raise StackError(f"container is {self.status}")
        self.status = {"pause": "paused", "kill": "exited", "stop": "exited"}.get(verb, "running")
        self.follower.exit_code = 0 if self.status == "exited" else None

    def life(self) -> ContainerLife:
        return ContainerLife(
            "kafka",
            "abc",
            self.follower.managed(),
            lambda _: "true 0 false" if self.status == "running" else "false 137 false",
        )

    def succeed(self, before: ContainerLife, began: str) -> ContainerLife:
        self.succeeded.append((before, began))
        return self.life()

    def restore(self) -> None:
        """Of the data while it does not run, else of what was in memory."""
        if self.status == "exited":
            self.commands.append("restored")
        else:
            self.restored += 1

    def await_ready(self, life: Life) -> None:
        require_running(life)
        self.ready.append(life)

    def require_copy(self) -> None:
        self.commands.append("required")

    def copy(self) -> None:
        assert self.status == "exited"
        self.commands.append("copied")

    def part(self, data: KeptData | None = None) -> ContainerPart:
        return ContainerPart(
            self.life(),
            address="127.0.0.1:1",
            ready=self.await_ready,
            restore=self.restore,
            order=self.order,
            succeed=self.succeed,
            data=data,
        )


@pytest.fixture
def engine() -> Engine:
    return Engine()


def test_an_engine_can_do_all(engine: Engine) -> None:
    assert engine.part().levers == set(LEVERS) - set(NOT_COPIED)
    assert engine.part(engine).levers == set(LEVERS)


def test_its_data_is_copied_and_restored_while_it_does_not_run(engine: Engine) -> None:
    part = engine.part(engine)
    part.pull("copy")
    part.pull("restore")
    assert engine.commands == ["stop", "copied", "start", "required", "stop", "restored", "start"]
    assert part.life.exit_code is None


def test_it_is_paused_and_resumed(engine: Engine) -> None:
    part = engine.part()
    for lever in ("pause", "pause", "resume", "resume"):
        part.pull(lever)  # type: ignore[arg-type]
    assert engine.commands == ["pause", "unpause"], "the engine refuses both when they are so already"
    assert engine.ready == [part.life] * 2
    assert engine.restored == 0


@pytest.mark.parametrize("lever", ["pause", "resume"])
def test_one_that_has_ended_can_be_neither_paused_nor_resumed(engine: Engine, lever: Lever) -> None:
    engine.status, engine.follower.exit_code = "exited", 0
    with pytest.raises(StackError, match=r"^kafka ended with exit code 137"):
        engine.part().pull(lever)


def test_it_is_killed_once(engine: Engine) -> None:
    part = engine.part()
    part.pull("kill")
    assert part.life.exit_code == 137
    part.pull("kill")
    assert engine.commands == ["kill"]


def test_a_paused_one_is_let_go_before_it_is_ended(engine: Engine) -> None:
    part = engine.part()
    part.pull("pause")
    part.pull("kill")
    assert engine.commands == ["pause", "unpause", "kill"]


def test_a_restarted_one_has_a_new_life_whose_log_goes_on(engine: Engine) -> None:
    part = engine.part()
    before = part.life
    part.pull("restart")
    assert engine.commands == ["stop", "start"]
    assert engine.succeeded == [(before, "2026-11-22T10:00:00Z")]
    assert part.life is not before
    assert engine.ready == [part.life]
    assert engine.restored == 1


def test_a_dead_one_is_started(engine: Engine) -> None:
    part = engine.part()
    part.pull("kill")
    part.pull("restart")
    assert engine.commands == ["kill", "start"]
    require_running(part.life)


@dataclass
class Desk:
    """A container of which the test decides everything."""

    follower: FakeProcess = field(default_factory=FakeProcess)
    says: str | StackError = "true 0 false"
    now: float = 0.0
    asked: int = 0

    def inspect(self, container: str) -> str:
        assert container == "abc"
        self.asked += 1
        if isinstance(self.says, StackError):
            raise self.says
        return self.says

    def life(self) -> ContainerLife:
        return ContainerLife("kafka", "abc", self.follower.managed(), self.inspect, clock=lambda: self.now)


def test_while_its_log_is_followed_the_engine_is_not_asked() -> None:
    desk = Desk()
    require_running(desk.life())
    assert desk.asked == 0


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("false 137 false", "kafka ended with exit code 137: it said this at last"),
        ("false 137 true", "kafka ended with exit code 137: (it went over its memory limit) it said this at last"),
        (
            StackError("No such container: abc"),
            "kafka ended with exit code 255: (No such container: abc) it said this at last",
        ),
    ],
    ids=["its last words", "its memory", "a container that was removed"],
)
def test_its_end_is_told_with_its_cause(said: str | StackError, message: str) -> None:
    with pytest.raises(StackError) as caught:
        require_running(Desk(FakeProcess(exit_code=0), said).life())
    assert str(caught.value) == message


def test_an_engine_that_ended_is_named_before_the_part() -> None:
    desk = Desk(FakeProcess(exit_code=1), EngineError("no Docker engine answers", hint="start it"))
    with pytest.raises(EngineError, match=r"^the Docker engine ended, and kafka with it: no Docker engine") as caught:
        require_running(desk.life())
    assert caught.value.hint == "start it"


def test_a_lost_log_is_no_end_and_the_engine_is_asked_now_and_then() -> None:
    desk = Desk(FakeProcess(exit_code=1), "true 0 false")
    life = desk.life()
    assert [life.exit_code, life.exit_code] == [None, None]
    assert desk.asked == 1
    desk.now, desk.says = 2.0, "false 3 false"
    assert (life.exit_code, desk.asked) == (3, 2)
    desk.now = 4.0
    assert (life.exit_code, desk.asked) == (3, 2), "an end is final"
