import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.cli.options import STACKS, require_addresses_fit
from devkit.errors import StackError, UsageError
from devkit.stack import embedded
from devkit.stack.parts.process import ProcessPart
from devkit.stack.ports import LOOPBACK, claim_port, free_port
from devkit.stack.registry import BACKENDS, DEFAULT, start_line, start_stack
from devkit.stack.stack import ALL_PARTS, Ports, StackRequest
from tests.unit.devkit.stack.fakes import FakeGuardian


def test_the_command_line_offers_what_there_is() -> None:
    assert tuple(BACKENDS) == STACKS
    assert STACKS[0] == DEFAULT


@pytest.mark.parametrize("backend", [name for name in STACKS if name != "external"])
def test_addresses_for_a_stack_that_starts_its_own(backend: str) -> None:
    with pytest.raises(UsageError, match=f"--stack {backend} starts its own") as caught:
        require_addresses_fit(backend, Path("x.yaml"))
    assert caught.value.exit_code == 2
    require_addresses_fit(backend, None)
    require_addresses_fit("external", Path("x.yaml"))


@pytest.mark.parametrize(
    ("backend", "request_", "message"),
    [
        ("compose", StackRequest(brokers=3), "has one Kafka broker, and 3 are asked for"),
        ("testcontainers", StackRequest(brokers=3), "has one Kafka broker, and 3 are asked for"),
        ("testcontainers", StackRequest(triple_store=True), "has no triple store"),
    ],
)
def test_what_containers_do_not_have(backend: str, request_: StackRequest, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"^the {backend} stack {message}$"):
        start_stack(backend, FakeGuardian(tmp_path).real(), tmp_path, request_)


def test_no_proxy_stands_before_parts_of_somebody_else(tmp_path: Path) -> None:
    request = StackRequest(proxied=frozenset({"mock-api", "kafka"}))
    with pytest.raises(UsageError, match="cannot put a proxy before kafka, mock-api of an external stack"):
        start_stack("external", FakeGuardian(tmp_path).real(), tmp_path, request)


@pytest.mark.parametrize("backend", STACKS)
def test_behind_a_proxy_no_port_is_chosen(backend: str, tmp_path: Path) -> None:
    guardian = FakeGuardian(tmp_path)
    request = StackRequest(Ports(kafka=9092), proxied=ALL_PARTS)
    with pytest.raises(UsageError, match="port of a part cannot be chosen where a proxy leads"):
        start_stack(backend, guardian.real(), tmp_path, request)
    assert guardian.started == []


def test_a_wish_that_can_be_met_is_and_no_wish_is_any_free_port() -> None:
    port = free_port()
    assert claim_port(port, "Kafka") == port
    assert 1024 <= claim_port(None, "Kafka") <= 65535


def test_a_port_in_use_is_an_error_that_names_the_part() -> None:
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(
            StackError, match=f"^port {port} for Kafka cannot be used: Address already in use$"
        ) as caught:
            claim_port(port, "Kafka")
    assert "leave the option out" in (caught.value.hint or "")


def test_what_is_asked_for_meanwhile_is_done_while_the_parts_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def part(name: str) -> ProcessPart:
        done.append(f"{name} begun")
        return cast(ProcessPart, SimpleNamespace(name=name, await_ready=lambda: done.append(f"{name} ready")))

    def start(name: str, *, several: bool = False) -> Any:
        return lambda *_, **__: (None, (part(name),) if several else part(name))

    monkeypatch.setattr(embedded, "start_object_store", start("object-store"))
    monkeypatch.setattr(embedded, "start_mock_api", start("mock-api"))
    monkeypatch.setattr(embedded, "start_kafka", start("kafka", several=True))
    awaited: list[str] = []
    request = StackRequest(meanwhile=lambda: done.append("meanwhile"), awaiting=awaited.append)
    embedded.start_embedded(FakeGuardian(tmp_path).real(), tmp_path, request)
    names = ["object-store", "mock-api", "kafka"]
    assert done == [*(f"{name} begun" for name in names), "meanwhile", *(f"{name} ready" for name in names)]
    assert awaited == names


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_line_of_progress_says_that_parts_are_started_except_where_they_are_there(backend: str) -> None:
    assert start_line(backend).startswith("connecting to" if backend == "external" else "starting Kafka")
