"""Which parts the proxy leads to, against a control interface that remembers what it was asked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.proxy.client import ProxyControl
from devkit.proxy.model import ListenerState
from devkit.proxy.toxics.toxic import Layer
from devkit.stack import front as front_module
from devkit.stack.front import Front
from tests.unit.devkit.stack.fakes import FakeGuardian, FakeProcess


class Control(ProxyControl):
    """Listens nowhere."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        self.held: dict[str, ListenerState] = {}
        self.ports = iter(range(1, 100))

    def listeners(self) -> list[ListenerState]:
        return list(self.held.values())

    def listen(self, name: str, upstream: str, *, layer: Layer = "tcp", port: int | None = None) -> ListenerState:
        assert name not in self.held, "the proxy takes a name once"
        address = f"127.0.0.1:{next(self.ports)}"
        self.held[name] = ListenerState(
            name=name, layer=layer, address=address, upstream=upstream, listening=True, connections=0, open=0
        )
        return self.held[name]

    def close(self, name: str) -> None:
        del self.held[name]


class Ready(FakeGuardian):
    """Its proxy says at once that it is ready."""

    def spawn(self, name: str, argv: list[str], **kwargs: object) -> FakeProcess:
        process = super().spawn(name, argv, **kwargs)  # type: ignore[arg-type]
        process.stdout.write_text(f"proxy controlled at http://127.0.0.1:{argv[-1]}\n")
        return process


InFront = Callable[..., tuple[Front, Control]]


@pytest.fixture
def in_front_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InFront:
    monkeypatch.setattr(front_module, "ProxyControl", Control)

    def start(*names: str) -> tuple[Front, Control]:
        front = Front(Ready(tmp_path).real(), tmp_path, frozenset(names))
        assert isinstance(front.control, Control)
        return front, front.control

    return start


@pytest.mark.parametrize(
    ("names", "led"),
    [
        (("kafka",), {"kafka", "kafka-1", "kafka-3"}),
        (("kafka-1",), {"kafka-1"}),
        (("object-store", "mock-api"), {"object-store", "mock-api"}),
    ],
)
def test_only_to_those_that_were_named(in_front_of: InFront, names: tuple[str, ...], led: set[str]) -> None:
    front, control = in_front_of(*names)
    parts = ("kafka", "kafka-1", "kafka-3", "object-store", "mock-api")
    addresses = {part: front.lead(part, "127.0.0.1:9092") for part in parts}
    assert {part for part, address in addresses.items() if address != "127.0.0.1:9092"} == led
    assert control.held.keys() == led | {f"{part}.protocol" for part in led if part.startswith("kafka")}
    assert all(control.held[part].address == addresses[part] for part in led)


def test_a_part_that_had_to_begin_again_elsewhere_is_led_to_there(in_front_of: InFront) -> None:
    front, control = in_front_of("mock-api")
    front.lead("mock-api", "127.0.0.1:9092")
    address = front.lead("mock-api", "127.0.0.1:9093")
    assert [(listener.address, listener.upstream) for listener in control.listeners()] == [(address, "127.0.0.1:9093")]


@pytest.mark.parametrize(("part", "suffix", "layer"), [("object-store", ".s3", "s3"), ("kafka", ".protocol", "kafka")])
def test_before_store_and_broker_stand_one_of_bytes_and_one_of_requests(
    in_front_of: InFront, part: str, suffix: str, layer: Layer
) -> None:
    front, control = in_front_of(part)
    lead = front.lead_requests if part == "object-store" else front.lead
    for _ in range(2):
        address = lead(part, "127.0.0.1:9000")
    bytes_, requests = control.held[part], control.held[part + suffix]
    assert (bytes_.layer, requests.layer) == ("tcp", layer)
    assert (address, bytes_.upstream, requests.upstream) == (bytes_.address, requests.address, "127.0.0.1:9000")


def test_a_proxy_that_forgets_is_not_ended(in_front_of: InFront) -> None:
    front, _ = in_front_of("kafka")
    assert front.part.levers == {"pause", "resume"}
    assert "cut or pause the part behind it" in (front.part.refusal("kill") or "")
