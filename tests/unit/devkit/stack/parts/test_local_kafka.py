"""What is started for a broker or three, and under which addresses they are found."""

from pathlib import Path

import pytest

from devkit.jvm import jars, runtime
from devkit.jvm.cache import CACHE_VARIABLE
from devkit.stack.parts import local_kafka
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
