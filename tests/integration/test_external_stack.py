"""The external stack, on parts that somebody else started: what it asks for first, and what it leaves.

Set-up: the session's embedded parts, given by their addresses.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kafka import KafkaAdminClient

from devkit.errors import StackError, UsageError
from devkit.guardian import Guardian
from devkit.stack.external import start_external
from devkit.stack.external_lease import release_lapsed
from devkit.stack.stack import BUCKETS, Stack, StackRequest
from devkit.stack.topics import TopicEnds, recreate_topics, remove_topics
from tests.integration.cli_run import CliRun

ROOMS = ("devkit/stack",)


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of these runs alone."""
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DEVKIT_STATE", raising=False)


@pytest.fixture
def place(stack: tuple[Guardian, Stack], tmp_path: Path) -> Path:
    parts = stack[1]
    file = tmp_path / "addresses.yaml"
    file.write_text(
        f"kafka: {parts.kafka.bootstrap}\n"
        f"s3_endpoint: {parts.object_store.endpoint}\n"
        f"mock_api: {parts.mock_api.endpoint}\n"
    )
    return file


@pytest.fixture
def guest() -> Iterator[Guardian]:
    with Guardian() as guardian:
        yield guardian


def topics(bootstrap: str) -> set[str]:
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        return set(admin.list_topics())
    finally:
        admin.close()


def test_it_leaves_what_it_found(guest: Guardian, place: Path, tmp_path: Path) -> None:
    request = StackRequest(addresses=place, topics=("guest.in", "guest.out"))
    stack = start_external(guest, tmp_path, request)
    before = topics(stack.kafka.bootstrap)
    stack.require_running()
    recreate_topics(stack.kafka.bootstrap, {"guest.in": (1, {})})
    client = stack.object_store.client()
    for bucket in BUCKETS:
        client.put_object(Bucket=bucket, Key=f"{stack.prefix}some/thing", Body=b"x")
        client.put_object(Bucket=bucket, Key="theirs", Body=b"x")

    stack.leave()

    assert topics(stack.kafka.bootstrap) == before
    for bucket in BUCKETS:
        keys = [found["Key"] for found in client.list_objects_v2(Bucket=bucket)["Contents"]]
        assert "theirs" in keys
        assert not [key for key in keys if key.startswith(guest.run_id)]
        client.delete_object(Bucket=bucket, Key="theirs")


def test_what_a_killed_run_left_is_told_and_tidied(
    guest: Guardian, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guest comes, and then its guardian is gone: its objects are removed, its topics are named."""
    request = StackRequest(addresses=place, topics=("killed.in",))
    stack = start_external(guest, tmp_path, request)
    recreate_topics(stack.kafka.bootstrap, {"killed.in": (1, {})})
    client = stack.object_store.client()
    client.put_object(Bucket=BUCKETS[0], Key=f"{stack.prefix}some/thing", Body=b"x")
    assert release_lapsed() == [], "it is alive"
    guest.shutdown()

    with Guardian() as another, pytest.raises(UsageError) as refused:
        start_external(another, tmp_path, request)
    (tidied,) = release_lapsed()

    assert "a run of this machine that was killed left them" in (refused.value.hint or "")
    assert (tidied.lease.run_id, tidied.remaining, tidied.why) == (guest.run_id, ("killed.in",), "")
    assert "Contents" not in client.list_objects_v2(Bucket=BUCKETS[0], Prefix=stack.prefix)
    assert "killed.in" in topics(stack.kafka.bootstrap)
    remove_topics(stack.kafka.bootstrap, ["killed.in"])


def test_topics_of_somebody_else_are_not_deleted(
    stack: tuple[Guardian, Stack], guest: Guardian, place: Path, tmp_path: Path
) -> None:
    bootstrap = stack[1].kafka.bootstrap
    recreate_topics(bootstrap, {"precious": (1, {})})
    request = StackRequest(addresses=place, topics=("precious", "other"))
    with pytest.raises(UsageError, match=r"would delete and make afresh: precious$"):
        start_external(guest, tmp_path, request)
    assert "precious" in topics(bootstrap)
    place.write_text(place.read_text() + "may_recreate_topics: true\n")
    start_external(guest, tmp_path, request)


def test_up_asks_before_it_makes_its_topics_afresh(
    stack: tuple[Guardian, Stack], place: Path, devkit_cli: Callable[..., CliRun]
) -> None:
    bootstrap, topic = stack[1].kafka.bootstrap, "mediawiki.page_change.v1"
    recreate_topics(bootstrap, {topic: (3, {})})
    try:
        run = devkit_cli("up", "--stack", "external", "--addresses", str(place))
        assert run.wait(60) == 2
        assert f"would delete and make afresh: {topic}" in run.output()
        with contextlib.closing(TopicEnds(bootstrap)) as ends:
            assert len(ends.of(topic)) == 3, "it is as it was"
    finally:
        remove_topics(bootstrap, [topic])


def test_a_silent_part_is_named(guest: Guardian, place: Path, tmp_path: Path) -> None:
    lines = place.read_text().splitlines()
    place.write_text("\n".join([*lines[:2], "mock_api: http://127.0.0.1:1"]))
    with pytest.raises(StackError, match="mock API did not answer"):
        start_external(guest, tmp_path, StackRequest(addresses=place))
    place.write_text("\n".join([lines[0], "s3_endpoint: http://127.0.0.1:1", lines[2]]))
    with pytest.raises(StackError, match=r"object store at http://127\.0\.0\.1:1 does not answer"):
        start_external(guest, tmp_path, StackRequest(addresses=place))
