from pathlib import Path

import pytest

from devkit.cli.options import STACKS, require_addresses_fit
from devkit.errors import UsageError
from devkit.stack.registry import BACKENDS, DEFAULT, start_stack
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
