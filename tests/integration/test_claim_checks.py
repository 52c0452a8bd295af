"""Claim checks in a real store, named by records of a real topic: swept.

Set-up: three payloads stored as the pipeline stores them, and a topic of which one record names one of them. Checked:
a sweep removes the other two and an object that is none stays.
"""

import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import orjson
import pytest
from kafka import KafkaProducer

from devkit.guardian import Guardian
from devkit.stack.stack import CLAIM_CHECKS, Stack
from devkit.stack.topics import recreate_topics
from pipeline.claims.commands import sweep_job
from pipeline.claims.orphans import ClaimShelf
from pipeline.config.pipeline_config import ClaimCheck, MediaWiki, PipelineConfig, Sink, Source
from pipeline.records.claim_check import Claim, ClaimStore, store_client
from pipeline.records.record import Position

ROOMS = ("pipeline/claims", "pipeline/records")
TOPIC, PREFIX = "claims.out", "claims-test"
EVENT_ID = "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a"
SOURCE = Position("claims.source", 0, 41)
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def config(stack: tuple[Guardian, Stack], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PipelineConfig:
    running = stack[1]
    for name, value in running.object_store.credentials().items():
        monkeypatch.setenv(name, value)
    return PipelineConfig(
        source=Source(bootstrap_servers=running.kafka.bootstrap),
        sink=Sink(bootstrap_servers=running.kafka.bootstrap, topic=TOPIC),
        mediawiki=MediaWiki(endpoint="http://127.0.0.1:1"),
        checkpoint=str(tmp_path),
        claim_check=ClaimCheck(endpoint=running.object_store.endpoint, bucket=CLAIM_CHECKS, prefix=PREFIX),
    )


@pytest.fixture
def claims(stack: tuple[Guardian, Stack], config: PipelineConfig) -> list[Claim]:
    """Of which the topic names the first."""
    stored = [ClaimStore(config.claim_check).put(payload) for payload in (b"named", b"orphan 1", b"orphan 2")]
    stack[1].object_store.client().put_object(Bucket=CLAIM_CHECKS, Key=f"{PREFIX}/README", Body=b"")
    bootstrap = stack[1].kafka.bootstrap
    recreate_topics(bootstrap, {TOPIC: (2, {})})
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    producer.send(TOPIC, partition=0, value=b"{}", headers=list(SOURCE.headers()))
    headers = (*Position(SOURCE.topic, 0, 42).headers(), *stored[0].headers())
    value = orjson.dumps({"meta": {"id": EVENT_ID}})
    producer.send(TOPIC, partition=1, value=value, headers=list(headers))
    producer.flush()
    producer.close()
    return stored


def keys(stack: Stack) -> set[str]:
    listed = stack.object_store.client().list_objects_v2(Bucket=CLAIM_CHECKS, Prefix=f"{PREFIX}/")
    return {found["Key"] for found in listed["Contents"]}


def test_a_sweep_removes_what_nothing_names(
    stack: tuple[Guardian, Stack], config: PipelineConfig, claims: list[Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    # Nothing is ever old here: the store dates what it gets, and its dates have whole seconds.
    soon = -timedelta(seconds=5)
    before = keys(stack[1])
    sweep_job(config, age=soon, more_topics=(), dry_run=True)
    assert keys(stack[1]) == before
    assert capsys.readouterr().out.count("would remove claims-test/") == 2
    sweep_job(config, age=soon, more_topics=(), dry_run=False)
    assert keys(stack[1]) == {claims[0].key, f"{PREFIX}/README"}
    assert f"{TOPIC}: 2 records, of which 1 name a claim check" in capsys.readouterr().out


def test_two_sweeps_at_once_remove_each_orphan(config: PipelineConfig, claims: list[Claim]) -> None:
    shelves = [ClaimShelf(store_client(config.claim_check), config.claim_check) for _ in range(2)]
    listed = [shelf.look().claims for shelf in shelves]
    for shelf, found in zip(shelves, listed, strict=True):
        assert all(shelf.remove(one) for one in found)
    assert shelves[0].look().claims == ()
    assert len(listed[1]) == len(claims)


def test_a_sweep_keeps_what_is_named_behind_an_open_transaction(
    stack: tuple[Guardian, Stack], config: PipelineConfig, claims: list[Claim]
) -> None:
    bootstrap = stack[1].kafka.bootstrap
    with closing(KafkaProducer(bootstrap_servers=bootstrap, transactional_id="claims.other")) as other:
        other.init_transactions()
        other.begin_transaction()
        other.send(TOPIC, partition=0, value=b"{}").get(30)
        with closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
            producer.send(TOPIC, partition=0, value=b"{}", headers=list(claims[1].headers())).get(30)
        sweep_job(config, age=-timedelta(seconds=5), more_topics=(), dry_run=False)
        other.abort_transaction()
    assert keys(stack[1]) == {claims[0].key, claims[1].key, f"{PREFIX}/README"}


def test_the_command_keeps_what_is_young(
    stack: tuple[Guardian, Stack], config: PipelineConfig, claims: list[Claim], tmp_path: Path
) -> None:
    file = tmp_path / "pipeline.yaml"
    file.write_bytes(orjson.dumps(config.model_dump(mode="json", by_alias=True)))
    before = keys(stack[1])
    argv = [sys.executable, "-m", "pipeline", "claims", "sweep", "--older-than", "30d", "--config", str(file)]
    done = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "nothing to remove"), done.stderr
    assert keys(stack[1]) == before
