from dataclasses import dataclass, field

import pytest

from devkit.docker.causes import EngineError
from devkit.errors import StackError
from devkit.stack.container_life import ContainerLife
from devkit.stack.parts.part_life import require_running
from tests.unit.devkit.stack.fakes import FakeProcess


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
