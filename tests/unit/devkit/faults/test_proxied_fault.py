"""Faults of the network and of the store: what they have the proxy do, how they are undone, and their proof."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
import uvicorn
from ruamel.yaml import YAML

from devkit.errors import StackError
from devkit.faults.do import parse_do
from devkit.faults.fault import Context, Fault, Need, Undo
from devkit.faults.proxied_fault import DirectedFault, ProxiedFault
from devkit.faults.registry import FAULTS
from devkit.proxy.client import ProxyControl
from devkit.proxy.control import create_control
from devkit.proxy.proxy import Proxy
from devkit.proxy.toxics.bandwidth import Bandwidth
from devkit.proxy.toxics.kafka_error import KafkaError
from devkit.proxy.toxics.latency import LatencyToxic
from devkit.proxy.toxics.store_error import StoreError
from devkit.proxy.toxics.store_slow import StoreSlow
from devkit.proxy.toxics.toxic import StreamEffect
from devkit.proxy.toxics.toxic import ToxicContext as ToxicContext
from tests.unit.devkit.faults.fakes import FakePart

PROXIED = [fault for fault in FAULTS.values() if issubclass(fault, ProxiedFault)]


@pytest.fixture(scope="module")
def control() -> Iterator[ProxyControl]:
    """The proxy in a thread, in front of a port where nobody listens and of a store that is not there."""
    listening = socket.create_server(("127.0.0.1", 0))
    proxy = Proxy()
    server = uvicorn.Server(uvicorn.Config(create_control(proxy), lifespan="off", log_level="error"))

    async def serve() -> None:
        await server.serve(sockets=[listening])
        await proxy.close_all()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    control = ProxyControl("http://{}:{}".format(*listening.getsockname()))
    control.listen("kafka", "127.0.0.1:1")
    control.listen("kafka.protocol", "127.0.0.1:1", layer="kafka")
    control.listen("object-store.s3", "127.0.0.1:1", layer="s3")
    yield control
    control.disconnect()
    server.should_exit = True
    thread.join()


def context(control: ProxyControl, plans: list[Undo] | None = None, seed: int = 0) -> Context:
    noted = [] if plans is None else plans
    return Context({"proxy": FakePart("proxy", control.endpoint)}, "127.0.0.1:1", noted.append, seed=seed)


def example(kind: type[Fault]) -> ProxiedFault:
    fault = parse_do({kind.name: YAML(typ="safe", pure=True).load(kind.example)})
    assert isinstance(fault, ProxiedFault)
    return fault


def acting(control: ProxyControl, listener: str) -> list[str]:
    return [toxic.name for toxic in control.toxics(listener) if toxic.ended_at is None]


@pytest.mark.parametrize("kind", PROXIED)
def test_a_fault_is_its_toxic_at_the_proxy_from_beginning_to_end(kind: type[Fault], control: ProxyControl) -> None:
    fault, plans = example(kind), list[Undo]()
    assert fault.needs() == (Need(fault.part, proxied=True),)
    listener = fault.part + fault.listener_suffix
    begun = fault.begin(context(control, plans))
    state = control.toxics(listener)[-1]
    assert (type(state.do), state.direction) == (fault.toxic, fault.sense)
    assert [plan.data["listener"] for plan in plans] == [listener]
    begun.end()
    assert acting(control, listener) == []
    # Another process undoes it by its plan alone, and twice is harmless.
    fault.begin(context(control, plans))
    for _ in range(2):
        kind.undo(Undo.model_validate_json(plans[1].model_dump_json()))
        assert acting(control, listener) == []


def test_a_proxy_that_is_gone_has_nothing_to_undo(control: ProxyControl) -> None:
    FAULTS["network_cut"].undo(Undo(data={"control": "http://127.0.0.1:1", "listener": "kafka", "toxic": "t"}))


def test_a_proxy_that_stands_still_is_not_gone_and_its_fault_not_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devkit.proxy.client._TIMEOUT_S", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = "http://{}:{}".format(*silent.getsockname())
        with pytest.raises(StackError, match="the proxy did not answer"):
            FAULTS["network_cut"].undo(Undo(data={"control": endpoint, "listener": "kafka", "toxic": "t"}))


@pytest.mark.parametrize(
    ("do", "toxic"),
    [
        (
            {"network_latency": {"part": "kafka", "time": "200ms", "jitter": "50ms"}},
            LatencyToxic(time=timedelta(milliseconds=200), jitter=timedelta(milliseconds=50)),
        ),
        ({"network_bandwidth": {"part": "kafka", "rate": "50KiB"}}, Bandwidth(rate=50 << 10)),
        (
            {"store_error": {"status": 403, "methods": ["GET"], "share": "5%"}},
            StoreError.model_validate({"status": 403, "methods": ["GET"], "share": "5%"}),
        ),
        (
            {"kafka_error": {"error": "throttled", "api": "fetch", "throttle": "1s", "topic": "t"}},
            KafkaError(error="throttled", api="fetch", throttle=timedelta(seconds=1), topic="t"),
        ),
        ({"store_slow": {"through": "1s", "bucket": "b"}}, StoreSlow(through=timedelta(seconds=1), bucket="b")),
    ],
)
def test_the_parameters_are_the_toxics(do: dict[str, object], toxic: object, control: ProxyControl) -> None:
    fault = parse_do(do)
    assert isinstance(fault, ProxiedFault)
    begun = fault.begin(context(control, seed=7))
    assert control.toxics(fault.part + fault.listener_suffix)[-1].do == toxic
    begun.end()


@pytest.mark.parametrize("direction", ["to_server", "to_client", "both"])
def test_a_direction_is_the_toxics(direction: str, control: ProxyControl) -> None:
    fault = parse_do({"network_blackhole": {"part": "kafka", "direction": direction}})
    assert isinstance(fault, DirectedFault)
    begun = fault.begin(context(control))
    assert control.toxics("kafka")[-1].direction == direction
    begun.end()


def test_the_proof_is_what_the_proxy_counted(control: ProxyControl) -> None:
    reset = parse_do({"network_reset": {"part": "kafka"}})
    silent = reset.begin(context(control)).end()
    assert (silent.acted, silent.did) == (False, "nothing that it acts on came by the proxy")
    begun = reset.begin(context(control))
    [listener] = [listener for listener in control.listeners() if listener.name == "kafka"]
    host, port = listener.address.split(":")
    # The RST may come while the client still connects.
    with pytest.raises(ConnectionResetError), socket.create_connection((host, int(port)), timeout=10) as client:
        client.recv(1)
    proof = begun.end()
    assert proof.acted
    assert proof.did.startswith("1 connection, first at ")


def test_the_same_fault_twice_at_a_time_is_undone_each_by_itself(control: ProxyControl) -> None:
    cut, plans = parse_do({"network_cut": {"part": "kafka"}}), list[Undo]()
    first = cut.begin(context(control, plans))
    [only] = acting(control, "kafka")
    cut.begin(context(control, plans))
    type(cut).undo(plans[1])
    assert acting(control, "kafka") == [only]
    first.end()
    assert acting(control, "kafka") == []


def test_what_it_draws_depends_on_the_name_in_the_timeline_and_not_on_parameters(
    control: ProxyControl, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn_by: list[str] = []

    effect_of = LatencyToxic.effect

    def effect(toxic: LatencyToxic, context: ToxicContext) -> StreamEffect:
        drawn_by.append(context.name)
        return effect_of(toxic, context)

    monkeypatch.setattr(LatencyToxic, "effect", effect)
    for name, time in (("slow", "1s"), ("slow", "2s"), ("slower", "2s")):
        fault = parse_do({"network_latency": {"part": "kafka", "time": time, "jitter": "50ms"}})
        fault.begin(replace(context(control), name=name)).end()
    assert drawn_by == ["slow", "slow", "slower"]


def test_a_topic_may_be_a_role_of_the_arm(control: ProxyControl) -> None:
    fault = parse_do({"kafka_error": {"error": "message_too_large", "api": "produce", "topic": "output"}})
    fault.begin(replace(context(control), topics={"output": "out-1"})).end()
    toxic = control.toxics("kafka.protocol")[-1].do
    assert isinstance(toxic, KafkaError)
    assert toxic.topic == "out-1"


def test_a_part_that_is_no_broker_has_no_protocol_errors() -> None:
    with pytest.raises(ValueError, match="'mock-api' is no broker; write kafka, or kafka-1 where there are several"):
        parse_do({"kafka_error": {"error": "message_too_large", "api": "produce", "part": "mock-api"}})


def test_without_a_proxy_it_does_not_begin() -> None:
    with pytest.raises(StackError, match="no proxy stands in front of kafka"):
        parse_do({"network_cut": {"part": "kafka"}}).begin(Context({}, "127.0.0.1:1", lambda _plan: None))
