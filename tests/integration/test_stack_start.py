"""A part that loses the race for its free port gets another one.

Set-up: a socket listens on the port that Kafka and the object store are told first. Checked: both come up elsewhere.
"""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.guardian import Guardian
from devkit.stack.embedded import start_embedded
from devkit.stack.parts import local_kafka, object_store
from devkit.stack.ports import claim_port

ROOMS = ("devkit/stack",)


def first_then_free(port: int) -> Callable[[int | None, str], int]:
    ports: list[int] = []

    def claim(wanted: int | None, part: str) -> int:
        ports.append(port if not ports else claim_port(wanted, part))
        return ports[-1]

    return claim


def test_a_port_lost_in_a_race_is_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.socket() as other, Guardian() as guardian:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        monkeypatch.setattr(local_kafka, "claim_port", first_then_free(taken))
        monkeypatch.setattr(object_store, "claim_port", first_then_free(taken))
        stack = start_embedded(guardian, tmp_path)
        stack.require_running()
        assert stack.kafka.bootstrap != f"127.0.0.1:{taken}"
        assert stack.object_store.endpoint != f"http://127.0.0.1:{taken}"
