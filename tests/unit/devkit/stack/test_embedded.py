"""The order in which parts are begun and waited for; that they start is in the integration tests."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.stack import embedded
from devkit.stack.parts.process import ProcessPart
from devkit.stack.stack import StackRequest
from tests.unit.devkit.stack.fakes import FakeGuardian


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
