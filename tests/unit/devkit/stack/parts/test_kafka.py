from pathlib import Path

import pytest

from devkit.errors import StackError
from devkit.stack.parts.kafka import KafkaBroker, await_kafka, render_properties
from tests.unit.devkit.stack.fakes import FakeProcess


def rendered(**changes: object) -> dict[str, str]:
    values: dict[str, object] = {
        "listeners": "PLAINTEXT://127.0.0.1:9092",
        "advertised": "PLAINTEXT://127.0.0.1:9092",
        "controller": "127.0.0.1:9093",
        "data": Path("/run/kafka/data"),
    }
    text = render_properties(**(values | changes))  # type: ignore[arg-type]
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def test_addresses_are_filled_in() -> None:
    properties = rendered()
    assert properties["listeners"] == "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093"
    assert properties["advertised.listeners"] == "PLAINTEXT://127.0.0.1:9092"
    assert properties["inter.broker.listener.name"] == "PLAINTEXT"
    assert properties["controller.quorum.voters"] == "1@127.0.0.1:9093"
    assert properties["log.dirs"] == "/run/kafka/data"


def test_it_may_listen_elsewhere_than_it_is_known_by() -> None:
    """In a container."""
    properties = rendered(
        listeners="PLAINTEXT://0.0.0.0:9092,INTERNAL://0.0.0.0:19092",
        advertised="PLAINTEXT://127.0.0.1:31234,INTERNAL://kafka:19092",
        inter_broker="INTERNAL",
    )
    assert properties["listeners"].startswith("PLAINTEXT://0.0.0.0:9092,INTERNAL://0.0.0.0:19092,")
    assert properties["advertised.listeners"].endswith("INTERNAL://kafka:19092")
    assert properties["inter.broker.listener.name"] == "INTERNAL"


def test_nothing_is_left_to_be_filled_in() -> None:
    assert "$" not in "".join(rendered().values())


def test_topics_are_made_on_purpose_only() -> None:
    assert rendered()["auto.create.topics.enable"] == "false"


def test_the_brokers_own_limit_is_above_those_of_topics() -> None:
    assert int(rendered()["message.max.bytes"]) == int(rendered()["replica.fetch.max.bytes"]) == 64 * 1024 * 1024


def test_a_broker_that_ended_is_not_waited_for() -> None:
    with pytest.raises(StackError, match=r"^kafka ended with exit code 1"):
        await_kafka(KafkaBroker("127.0.0.1:1"), FakeProcess(exit_code=1))
