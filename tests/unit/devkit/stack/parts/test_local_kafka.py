"""What is started for a broker or three, and under which addresses they are found."""

from pathlib import Path

import pytest

from devkit.errors import StackError
from devkit.jvm import jars, runtime
from devkit.jvm.cache import CACHE_VARIABLE
from devkit.stack.parts import local_kafka
from devkit.stack.parts.kafka import await_kafka, render_properties
from devkit.stack.parts.local_kafka import start_kafka
from tests.unit.devkit.stack.fakes import FakeGuardian, FakeProcess

FORMATTED = "cluster.id=abc\ndirectory.id=first\nnode.id=1\nversion=1\n"


class Formatter(FakeGuardian):
    """Formats the directory that the properties name, at once."""

    def spawn(self, name: str, argv: list[str], **kwargs: object) -> FakeProcess:
        process = super().spawn(name, argv, **kwargs)  # type: ignore[arg-type]
        if name == "kafka-format":
            data = Path(properties_of(Path(argv[-1]))["log.dirs"])
            data.mkdir()
            (data / "meta.properties").write_text(FORMATTED)
            (data / "bootstrap.checkpoint").write_bytes(b"features")
            process.exit_code = 0
        return process


def properties_of(path: Path) -> dict[str, str]:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


@pytest.fixture
def guardian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Formatter:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))  # what is formatted here is good for no real broker
    monkeypatch.setattr(jars, "ensure", lambda _: [Path("a.jar")])
    monkeypatch.setattr(runtime, "java_home", lambda: Path("/java"))
    return Formatter(tmp_path)


def started(guardian: Formatter) -> dict[str, dict[str, str]]:
    """The properties of each broker, by the name of its part."""
    return {name: properties_of(Path(argv[-1])) for name, argv, _ in guardian.started if name != "kafka-format"}


def test_one_broker_has_a_listener_for_programs_and_one_for_the_kit(guardian: Formatter) -> None:
    broker, (part,) = start_kafka(guardian.real(), guardian.directory)
    assert part.name == "kafka"
    assert part.address == broker.bootstrap != broker.direct
    properties = started(guardian)["kafka"]
    assert properties["advertised.listeners"] == f"PLAINTEXT://{broker.bootstrap},KIT://{broker.direct}"
    assert properties["listeners"].startswith(properties["advertised.listeners"])
    assert properties["inter.broker.listener.name"] == "KIT", "brokers are not led through a proxy"


def test_programs_are_told_the_address_of_a_proxy(guardian: Formatter) -> None:
    led: list[str] = []

    def lead(part: str, address: str) -> str:
        led.append(address)
        return f"127.0.0.1:{len(led)}"

    broker, (part,) = start_kafka(guardian.real(), guardian.directory, lead=lead)
    assert broker.bootstrap == part.address == "127.0.0.1:1"
    properties = started(guardian)["kafka"]
    assert properties["advertised.listeners"].startswith("PLAINTEXT://127.0.0.1:1,")
    assert properties["listeners"].startswith(f"PLAINTEXT://{led[0]},")


def formats(guardian: Formatter) -> int:
    return [name for name, *_ in guardian.started].count("kafka-format")


def test_three_brokers_are_formatted_once_and_have_ids_of_their_own(guardian: Formatter) -> None:
    broker, parts = start_kafka(guardian.real(), guardian.directory, brokers=3)
    assert [part.name for part in parts] == ["kafka-1", "kafka-2", "kafka-3"]
    assert broker.bootstrap == ",".join(part.address for part in parts)
    assert formats(guardian) == 1
    by_part = started(guardian)
    assert [properties["node.id"] for properties in by_part.values()] == ["1", "2", "3"]
    data = [Path(properties["log.dirs"]) for properties in by_part.values()]
    metas = [properties_of(directory / "meta.properties") for directory in data]
    assert [meta["node.id"] for meta in metas] == ["1", "2", "3"]
    (cluster,) = {meta["cluster.id"] for meta in metas}
    assert cluster != "abc", "it is of this run alone"
    assert len({meta["directory.id"] for meta in metas}) == 3
    assert all((directory / "bootstrap.checkpoint").read_bytes() == b"features" for directory in data)


def test_another_run_formats_nothing_and_has_a_directory_of_its_own(guardian: Formatter) -> None:
    data = []
    for _ in range(2):
        start_kafka(guardian.real(), guardian.directory)
        data.append(Path(started(guardian)["kafka"]["log.dirs"]))
    assert formats(guardian) == 1
    assert (data[1] / "bootstrap.checkpoint").read_bytes() == b"features"
    first, second = (properties_of(directory / "meta.properties") for directory in data)
    assert first["directory.id"] != second["directory.id"]
    assert first["cluster.id"] != second["cluster.id"]


def test_another_version_of_kafka_or_of_its_configuration_is_formatted_anew(
    guardian: Formatter, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_kafka(guardian.real(), guardian.directory)
    monkeypatch.setattr(local_kafka, "read_pins", lambda _: ())
    start_kafka(guardian.real(), guardian.directory)
    assert formats(guardian) == 2


@pytest.mark.parametrize("damage", ["", "{}", "half", "another"])
def test_what_is_damaged_is_formatted_anew(guardian: Formatter, tmp_path: Path, damage: str) -> None:
    start_kafka(guardian.real(), guardian.directory)
    (kept,) = (tmp_path / "cache/kafka").iterdir()
    text = kept.read_text()
    damages = {"half": text[: len(text) // 2], "another": text.replace("ZmVhdHVyZXM=", "ZmVhdHVyZXk=")}
    kept.write_text(damages.get(damage, damage))
    assert kept.read_text() != text
    for _ in range(2):
        start_kafka(guardian.real(), guardian.directory)
        assert formats(guardian) == 2


def test_a_cache_that_cannot_be_written_costs_nothing_else(guardian: Formatter, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no directory")
    for _ in range(2):
        start_kafka(guardian.real(), guardian.directory)
    assert formats(guardian) == 2


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
