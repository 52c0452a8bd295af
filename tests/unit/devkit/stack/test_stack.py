"""Parts of a stack, of processes or of containers, and where they are to be found."""

import os
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from typing import cast

import pytest

from devkit.errors import PartError, StackError, UsageError
from devkit.guardian.run_state import PartPlace
from devkit.proxy.client import ProxyControl
from devkit.stack import stack as stack_module
from devkit.stack.compose import _variables
from devkit.stack.compose_file import REPOSITORY
from devkit.stack.container_stack import Clients, ContainerPorts
from devkit.stack.front import Front
from devkit.stack.parts.kafka import KafkaBroker
from devkit.stack.parts.mock_api import MockApi, MockSilentError
from devkit.stack.parts.object_store import ObjectStore
from devkit.stack.parts.triple_store import TripleStore
from devkit.stack.ports import free_port
from devkit.stack.stack import Ports, Stack, by_name
from tests.unit.devkit.stack.fakes import FakePart, FakeProcess

PORTS = ContainerPorts(kafka=1, kit=2, object_store=3, mock_api=4, triple_store=5)


@pytest.fixture
def processes() -> list[FakeProcess]:
    return [FakeProcess("kafka"), FakeProcess("object-store"), FakeProcess("mock-api")]


@pytest.fixture
def stack(processes: list[FakeProcess]) -> Stack:
    return Stack(
        KafkaBroker("127.0.0.1:1", "127.0.0.1:4"),
        ObjectStore("http://127.0.0.1:2", "http://127.0.0.1:2", "moto"),
        MockApi("http://127.0.0.1:3"),
        by_name(*(FakePart(process, f"127.0.0.1:{number}") for number, process in enumerate(processes, 1))),
    )


def test_addresses_are_those_of_the_parts(stack: Stack) -> None:
    assert stack.addresses() == {
        "kafka": "127.0.0.1:1",
        "object store": "http://127.0.0.1:2",
        "mock API": "http://127.0.0.1:3",
    }


def test_behind_a_proxy_the_kits_own_way_is_told_too(stack: Stack) -> None:
    behind = replace(stack, proxy=ProxyControl("http://127.0.0.1:5"))
    assert behind.addresses() == stack.addresses() | {
        "kafka direct": "127.0.0.1:4",
        "object store direct": "http://127.0.0.1:2",
        "mock API direct": "http://127.0.0.1:3",
        "proxy": "http://127.0.0.1:5",
    }


def test_the_urls_of_a_triple_store_are_told_where_there_is_one(stack: Stack) -> None:
    store = TripleStore.at("127.0.0.1:6", "127.0.0.1:7")
    with_one = replace(stack, triple_store=store)
    shown = {"SPARQL query": "http://127.0.0.1:6/query", "SPARQL update": "http://127.0.0.1:6/update"}
    assert with_one.addresses() == stack.addresses() | shown
    behind = replace(with_one, proxy=ProxyControl("http://127.0.0.1:5"))
    assert behind.addresses()["SPARQL update direct"] == "http://127.0.0.1:7/update"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_part_that_has_ended_is_named(stack: Stack, processes: list[FakeProcess], number: int) -> None:
    stack.require_running()
    processes[number].exit_code = 1
    name = processes[number].name
    with pytest.raises(StackError, match=f"^{name} ended with exit code 1: it said this at last$"):
        stack.require_running()


@pytest.mark.parametrize(
    ("name", "hint"), [("kakfa", "did you mean 'kafka'?"), ("x", "there are: kafka, object-store, mock-api")]
)
def test_a_part_that_is_not_there_is_answered_with_the_near_miss(stack: Stack, name: str, hint: str) -> None:
    assert stack.part("object-store") is stack.parts["object-store"]
    with pytest.raises(UsageError, match=f"^the stack has no part '{name}'$") as caught:
        stack.part(name)
    assert caught.value.hint == hint


def test_places_are_those_of_what_runs_now(stack: Stack, processes: list[FakeProcess]) -> None:
    processes[0].pid = 7
    assert stack.places()[0] == PartPlace(name="kafka", address="127.0.0.1:1", pid=7)
    processes[0].pid = 8
    assert stack.places()[0].pid == 8


class TestExcused:
    """A part that a fault holds may end."""

    def test_its_end_is_no_news_while_it_is_held_by_one_fault_or_two(
        self, stack: Stack, processes: list[FakeProcess]
    ) -> None:
        processes[0].exit_code = -9
        with stack.excused("kafka"):
            with stack.excused("kafka"):
                stack.require_running()
            stack.require_running()
        with pytest.raises(StackError, match=r"^kafka ended by signal 9"):
            stack.require_running()

    def test_no_other_part_is_excused(self, stack: Stack, processes: list[FakeProcess]) -> None:
        processes[1].exit_code = 1
        with stack.excused("kafka"), pytest.raises(StackError, match=r"^object-store ended"):
            stack.require_running()

    def test_what_failed_meanwhile_keeps_its_own_error(
        self, stack: Stack, processes: list[FakeProcess], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stack_module, "_NOTICE", stack_module._NOTICE * 0)
        processes[0].exit_code = -9
        error = StackError("Kafka did not say")
        with pytest.raises(StackError) as caught, stack.excused("kafka"), stack.named_failures():
            raise error
        assert caught.value is error

    def test_there_must_be_such_a_part(self, stack: Stack) -> None:
        with pytest.raises(UsageError, match="no part 'kakfa'"), stack.excused("kakfa"):
            pass


class TestGuest:
    """A stack that is shared with others is left, however the work ends."""

    def failing(self, stack: Stack, leave: Callable[[], None], error: BaseException) -> list[str]:
        lines: list[str] = []
        with pytest.raises(type(error)) as caught, replace(stack, leave=leave).leave_on_failure(lines.append):
            raise error
        assert caught.value is error
        return lines

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
        with replace(stack, leave=lambda: left.append(True)).leave_on_failure(lambda _: None):
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

    def test_a_mock_that_has_ended_is_named_with_its_last_words(
        self, stack: Stack, processes: list[FakeProcess]
    ) -> None:
        processes[2].exit_code = 1
        silent = replace(stack, mock_api=MockApi(f"http://127.0.0.1:{free_port()}"))
        last_words = r"^mock-api ended with exit code 1: it said this at last$"
        with pytest.raises(StackError, match=last_words) as caught, silent.named_failures():
            silent.mock_api.counts()
        assert isinstance(caught.value.__cause__, MockSilentError)

    def test_an_error_while_all_parts_run_stays_what_it_is(self, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(stack_module, "_NOTICE", stack_module._NOTICE * 0)
        error = StackError("the pipeline refused to run")
        assert self.fail(stack, error) is error

    def test_a_part_that_does_not_answer_is_looked_for_in_its_own_log(
        self, stack: Stack, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Not in this machine, which is what is hinted at where nothing else is known."""
        monkeypatch.setattr(stack_module, "_NOTICE", stack_module._NOTICE * 0)
        error = PartError("Kafka did not say where source ends: timed out", "kafka")
        assert "doctor" not in error.with_hint
        self.fail(stack, error)
        assert error.with_hint.endswith("; hint: read what kafka logged: /nowhere/kafka.log")

    @pytest.mark.parametrize(
        ("names", "log", "hint"),
        [
            (("kafka-1", "kafka-2"), "/logs/x.log", "read what kafka logged: /logs/x.log, /logs/x.log"),
            (("kafka",), os.devnull, None),
            (("kafkaesque",), "/logs/x.log", None),
        ],
    )
    def test_each_broker_has_a_log_and_a_part_of_another_owner_has_none(
        self, stack: Stack, names: tuple[str, ...], log: str, hint: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stack_module, "_NOTICE", stack_module._NOTICE * 0)
        parts = by_name(*(FakePart(FakeProcess(name, stderr=Path(log)), "127.0.0.1:1") for name in names))
        error = PartError("Kafka does not answer", "kafka")
        self.fail(replace(stack, parts=parts), error)
        assert error.hint == hint

    def test_another_kind_of_error_is_none_of_its_business(self, stack: Stack, processes: list[FakeProcess]) -> None:
        processes[0].exit_code = 1
        error = ZeroDivisionError("a defect")
        assert self.fail(stack, error) is error


class Leading:
    """A proxy before every part."""

    def lead(self, part: str, address: str) -> str:
        return f"{part}.proxy:1{address.rpartition(':')[2]}"

    lead_requests = lead


def test_ports_that_nobody_chose_are_different() -> None:
    claimed = ContainerPorts.claim(Ports())
    assert len(set(astuple(claimed))) == 5


def test_without_a_proxy_programs_and_the_kit_find_the_same_but_for_the_brokers_listener() -> None:
    clients = Clients.of(PORTS, None)
    assert clients.kafka == KafkaBroker("127.0.0.1:1", "127.0.0.1:2")
    assert clients.object_store.endpoint == clients.object_store.direct == "http://127.0.0.1:3"
    assert clients.mock_api.endpoint == clients.mock_api.direct == "http://127.0.0.1:4"


def test_behind_a_proxy_only_programs_are_told_its_addresses() -> None:
    clients = Clients.of(PORTS, cast(Front, Leading()))
    assert clients.kafka == KafkaBroker("kafka.proxy:11", "127.0.0.1:2")
    store, mock = clients.object_store, clients.mock_api
    assert (store.endpoint, store.direct) == ("http://object-store.proxy:13", "http://127.0.0.1:3")
    assert (mock.endpoint, mock.direct) == ("http://mock-api.proxy:14", "http://127.0.0.1:4")


def test_compose_knows_every_port_and_the_one_that_kafka_advertises() -> None:
    variables = _variables(PORTS, Clients.of(PORTS, cast(Front, Leading())))
    assert variables["KAFKA_ADVERTISED_PORT"] == "11"
    file = (REPOSITORY / "docker-compose.yml").read_text()
    assert [name for name in variables if f"${{{name}:-" not in file] == []


def test_a_triple_store_is_there_only_where_it_is_asked_for() -> None:
    assert Clients.of(PORTS, None).triple_store is None
    store = Clients.of(PORTS, cast(Front, Leading()), triple_store=True).triple_store
    assert store is not None
    assert (store.query, store.update) == ("http://triple-store.proxy:15/query", "http://triple-store.proxy:15/update")
    assert (store.direct_query, store.direct_update) == ("http://127.0.0.1:5/query", "http://127.0.0.1:5/update")
