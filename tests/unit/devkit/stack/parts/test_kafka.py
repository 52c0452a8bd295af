from pathlib import Path

import pytest

from devkit.errors import StackError
from devkit.stack.parts.kafka import await_kafka, render_properties
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


def test_a_single_broker_has_one_replica_of_everything_and_limits_above_those_of_topics() -> None:
    properties = rendered()
    expected = {
        "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
        "advertised.listeners": "PLAINTEXT://127.0.0.1:9092",
        "inter.broker.listener.name": "PLAINTEXT",
        "controller.quorum.voters": "1@127.0.0.1:9093",
        "log.dirs": "/run/kafka/data",
        "min.insync.replicas": "1",
        "auto.create.topics.enable": "false",
        "message.max.bytes": str(64 << 20),
        "replica.fetch.max.bytes": str(64 << 20),
    }
    assert {key: properties[key] for key in expected} == expected
    replicas = [value for key, value in properties.items() if key.endswith("replication.factor")]
    assert replicas == ["1"] * 4
    assert "$" not in "".join(properties.values()), "nothing is left to be filled in"


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


def test_three_are_one_quorum_and_one_of_them_may_be_missing() -> None:
    voters = {number: f"127.0.0.1:{19090 + number}" for number in (1, 2, 3)}
    properties = rendered(node=2, voters=voters, controller=voters[2])
    assert properties["node.id"] == "2"
    assert properties["controller.quorum.voters"] == "1@127.0.0.1:19091,2@127.0.0.1:19092,3@127.0.0.1:19093"
    assert properties["listeners"].endswith("CONTROLLER://127.0.0.1:19092")
    replicas = {value for key, value in properties.items() if key.endswith("replication.factor")}
    in_sync = {properties[key] for key in properties if key.endswith(("min.isr", "insync.replicas"))}
    assert (replicas, in_sync) == ({"3"}, {"2"})


def test_a_broker_that_ended_is_not_waited_for() -> None:
    with pytest.raises(StackError, match=r"^kafka ended with exit code 1"):
        await_kafka("127.0.0.1:1", FakeProcess(exit_code=1))
