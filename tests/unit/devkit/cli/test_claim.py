import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from devkit.observe.audit.arrivals import Arrival
from devkit.programs.places import NOWHERE
from devkit.programs.spark.configuration import CONFIG
from pipeline.config.pipeline_config import ClaimCheck, MediaWiki, PipelineConfig, Sink, Source
from tests.unit.devkit.cli.conftest import Devkit, Kept
from tests.unit.devkit.observe.fake_s3 import FakeS3

PAYLOAD = b'{"html": "a large page"}'
SHA256 = hashlib.sha256(PAYLOAD).hexdigest()


@dataclass
class World:
    """A store and a broker; what was asked of them."""

    store: FakeS3 = field(default_factory=FakeS3)
    records: list[Arrival] = field(default_factory=list)
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def put(self, bucket: str, prefix: str, topic: str) -> None:
        key = f"{prefix}/{SHA256[:2]}/{SHA256}"
        self.store.put(bucket, key, PAYLOAD)
        headers = {"bucket": bucket, "key": key, "length": "24", "sha256": SHA256}
        of_claim = {f"claim-check-{name}": value.encode() for name, value in headers.items()}
        self.records = [Arrival(topic, 0, 7, b"{}", of_claim, ("source", 0, 3), 0)]

    def client(self, endpoint: str, *, access_key: str, secret_key: str) -> FakeS3:
        self.asked.append((endpoint, access_key, secret_key))
        return self.store

    def read(self, bootstrap: str, topic: str) -> Iterator[Arrival]:
        self.asked.append((bootstrap, topic))
        return iter(self.records)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.setattr("devkit.stack.parts.object_store.s3_client", world.client)
    monkeypatch.setattr("devkit.observe.audit.arrivals.read_topic", world.read)
    return world


@pytest.fixture
def place(kept: Kept, here: Path) -> None:
    """A kept stack whose pipeline puts claim checks somewhere of its own."""
    config = PipelineConfig(
        source=Source(bootstrap_servers=NOWHERE.bootstrap),
        sink=Sink(bootstrap_servers=NOWHERE.bootstrap, topic="enriched"),
        mediawiki=MediaWiki(endpoint=NOWHERE.mock_endpoint),
        checkpoint=NOWHERE.checkpoint,
        claim_check=ClaimCheck(bucket="own-claims", prefix="own"),
    )
    (here / "pipeline.yaml").write_bytes(CONFIG.dump_json(config, by_alias=True))
    kept(kafka="127.0.0.1:1", object_store="http://127.0.0.1:2", logs=str(here))


@pytest.mark.parametrize("reference", [SHA256, "source/0/3"])
def test_of_the_stack_that_is_up(devkit: Devkit, world: World, place: None, reference: str) -> None:
    world.put("own-claims", "own", "enriched")
    found = devkit("claim", "get", reference)
    assert (found.code, found.out) == (0, PAYLOAD.decode())
    assert found.err == f"own-claims/own/{SHA256[:2]}/{SHA256}: 24 bytes, SHA-256 {SHA256}, as the record says\n"
    assert world.asked[0][0] == "http://127.0.0.1:2"
    assert world.asked[1:] == ([("127.0.0.1:1", "enriched")] if "/" in reference else [])


def test_into_a_file(devkit: Devkit, world: World, place: None, here: Path) -> None:
    world.put("own-claims", "own", "enriched")
    found = devkit("claim", "get", SHA256, "-o", "payload.json")
    assert (found.code, found.out) == (0, "")
    assert (here / "payload.json").read_bytes() == PAYLOAD


def test_by_addresses(devkit: Devkit, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """No stack of the kit's is needed; secrets come from the environment."""
    monkeypatch.setenv("DEVKIT_S3_ACCESS_KEY", "name")
    monkeypatch.setenv("DEVKIT_S3_SECRET_KEY", "secret")
    world.put("claims", "anything", "out")
    places = ("--s3-endpoint", "http://store:1", "--kafka", "broker:1", "--bucket", "claims", "--topic", "out")
    assert devkit("claim", "get", "out/0/7", *places).out == PAYLOAD.decode()
    assert world.asked == [("http://store:1", "name", "secret"), ("broker:1", "out")]


def test_an_event_by_addresses_needs_a_broker(devkit: Devkit, world: World) -> None:
    found = devkit("claim", "get", "out/0/7", "--s3-endpoint", "http://store:1")
    assert found.code == 2
    assert "hint: add --kafka HOST:PORT" in found.err


def test_an_endpoint_that_is_none(devkit: Devkit) -> None:
    found = devkit("claim", "get", SHA256, "--s3-endpoint", "foo")
    assert found.code == 2
    assert "the store at foo: Invalid endpoint: foo\nhint: an endpoint is written http://host:port" in found.err


def test_a_damaged_payload_is_not_printed(devkit: Devkit, world: World, place: None) -> None:
    world.put("own-claims", "own", "enriched")
    world.store.put("own-claims", f"own/{SHA256[:2]}/{SHA256}", PAYLOAD[::-1])
    found = devkit("claim", "get", SHA256)
    assert (found.code, found.out) == (3, "")
    assert "it is damaged" in found.err
