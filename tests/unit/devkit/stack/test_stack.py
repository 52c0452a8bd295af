from collections.abc import Callable
from dataclasses import replace

import pytest

from devkit.errors import StackError
from devkit.stack import stack as stack_module
from devkit.stack.parts.kafka import KafkaBroker
from devkit.stack.parts.mock_api import MockApi
from devkit.stack.parts.object_store import ObjectStore
from devkit.stack.stack import Stack
from tests.unit.devkit.stack.fakes import FakeProcess


@pytest.fixture
def processes() -> list[FakeProcess]:
    return [FakeProcess("kafka"), FakeProcess("object-store"), FakeProcess("mock-api")]


@pytest.fixture
def stack(processes: list[FakeProcess]) -> Stack:
    kafka, store, mock = (process.managed() for process in processes)
    api = MockApi(mock)
    api.endpoint = "http://127.0.0.1:3"
    return Stack(KafkaBroker("127.0.0.1:1", kafka), ObjectStore("http://127.0.0.1:2", store, "moto"), api)


def test_addresses_are_those_of_the_parts(stack: Stack) -> None:
    assert stack.addresses() == {
        "kafka": "127.0.0.1:1",
        "object store": "http://127.0.0.1:2",
        "mock API": "http://127.0.0.1:3",
    }


def test_while_all_run_there_is_nothing_to_say(stack: Stack) -> None:
    stack.require_running()


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_part_that_has_ended_is_named(stack: Stack, processes: list[FakeProcess], number: int) -> None:
    processes[number].exit_code = 1
    name = processes[number].name
    with pytest.raises(StackError, match=f"^{name} ended with exit code 1: it said this at last$"):
        stack.require_running()


class TestGuest:
    """A stack that is shared with others is left, however the work ends."""

    def failing(self, stack: Stack, leave: Callable[[], None], error: BaseException) -> list[str]:
        said: list[str] = []
        with pytest.raises(type(error)) as caught, replace(stack, leave=leave).left_when_it_fails(said.append):
            raise error
        assert caught.value is error
        return said

    @pytest.mark.parametrize("error", [StackError("kafka is gone"), KeyboardInterrupt()])
    def test_it_is_left_when_the_work_fails(self, stack: Stack, error: BaseException) -> None:
        left: list[bool] = []
        assert self.failing(stack, lambda: left.append(True), error) == []
        assert left == [True]

    def test_what_cannot_be_left_is_said_beside_the_error(self, stack: Stack) -> None:
        def leave() -> None:
            raise StackError("not everything could be removed", hint="left are topics a, b")

        assert self.failing(stack, leave, ValueError("a defect")) == [
            "not everything could be removed; left are topics a, b"
        ]

    def test_it_is_not_left_while_all_goes_well(self, stack: Stack) -> None:
        left: list[bool] = []
        with replace(stack, leave=lambda: left.append(True)).left_when_it_fails(lambda _: None):
            pass
        assert left == []


class TestNamedFailures:
    def fail(self, stack: Stack, error: Exception) -> BaseException:
        with pytest.raises(type(error)) as caught, stack.named_failures():
            raise error
        return caught.value

    def test_a_refused_connection_becomes_the_end_of_the_part(self, stack: Stack, processes: list[FakeProcess]) -> None:
        processes[1].exit_code = -9
        refused = StackError("the checkpoint could not be listed: connection refused")
        error = self.fail(stack, refused)
        assert str(error) == "object-store ended by signal 9: it said this at last"
        assert error.__cause__ is refused

    def test_news_that_come_a_little_later_are_waited_for(
        self, stack: Stack, processes: list[FakeProcess], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def wait(condition: Callable[[], object], **_: object) -> object:
            assert not condition()
            processes[0].exit_code = 3
            return condition()

        monkeypatch.setattr(stack_module, "wait_until", wait)
        assert str(self.fail(stack, StackError("Kafka did not say"))).startswith("kafka ended with exit code 3")

    def test_an_error_while_all_parts_run_stays_what_it_is(self, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(stack_module, "_NEWS", stack_module._NEWS * 0)
        error = StackError("the pipeline refused to run")
        assert self.fail(stack, error) is error

    def test_another_kind_of_error_is_none_of_its_business(self, stack: Stack, processes: list[FakeProcess]) -> None:
        processes[0].exit_code = 1
        error = ZeroDivisionError("a defect")
        assert self.fail(stack, error) is error

    def test_without_an_error_nothing_happens(self, stack: Stack) -> None:
        with stack.named_failures():
            pass
