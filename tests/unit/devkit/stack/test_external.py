"""What cannot work on somebody else's stack is refused by name; the real thing is in the integration tests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from kafka.errors import KafkaTimeoutError, TopicAuthorizationFailedError

from devkit.errors import PartError, StackError, UsageError
from devkit.stack import external
from devkit.stack.addresses import Addresses
from devkit.stack.external import (
    RemotePart,
    require_brokers,
    require_control,
    require_topics,
    require_triple_store,
    start_external,
)
from devkit.stack.parts.mock_api import MockApi
from devkit.stack.parts.part import LEVERS, Lever
from devkit.stack.parts.part_life import require_running
from devkit.stack.parts.triple_store import TripleStoreSilentError
from devkit.stack.stack import Ports, StackRequest
from tests.unit.devkit.observe.memory_store import MemoryStore
from tests.unit.devkit.stack.fakes import FakeGuardian

PLACE = {"kafka": "k:9092", "s3_endpoint": "http://s3", "mock_api": "http://m"}


@dataclass
class FakeAdmin:
    """A broker's administration; `denied` is what it answers to the making of topics."""

    topics: set[str] = field(default_factory=set)
    denied: Exception | None = None
    made: list[str] = field(default_factory=list)
    closed: bool = False

    brokers: int = 1

    def describe_cluster(self) -> dict[str, list[object]]:
        return {"brokers": [object()] * self.brokers}

    def list_topics(self) -> list[str]:
        return sorted(self.topics)

    def create_topics(self, new: Sequence[Any], **_: object) -> None:
        if self.denied:
            raise self.denied
        self.made += [topic.name for topic in new]

    def delete_topics(self, names: Sequence[str], **_: object) -> None:
        for name in names:
            self.made.remove(name)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> FakeAdmin:
    fake = FakeAdmin()
    monkeypatch.setattr(external, "KafkaAdminClient", lambda **_: fake)
    return fake


def ask(*topics: str, may_recreate: bool = False) -> None:
    addresses = Addresses.model_validate(PLACE | {"may_recreate_topics": may_recreate})
    require_topics(addresses, topics, probe="devkit.probe.cafe")


class TestTopics:
    def test_what_is_not_there_yet_may_be_made(self, admin: FakeAdmin) -> None:
        admin.topics = {"somebody.elses"}
        ask("source", "output")
        assert admin.made == [], "the probe is gone again"
        assert admin.closed

    def test_what_is_there_is_not_ours_to_delete(self, admin: FakeAdmin) -> None:
        admin.topics = {"output", "source", "other"}
        with pytest.raises(UsageError, match=r"would delete and make afresh: output, source$") as caught:
            ask("source", "output", "errors")
        assert "may_recreate_topics" in (caught.value.hint or "")
        assert admin.closed

    @pytest.mark.parametrize(("left", "is_hinted"), [({"source", "x"}, True), ({"x"}, False), (set(), False)])
    def test_what_a_killed_run_left_is_told_apart(self, admin: FakeAdmin, left: set[str], is_hinted: bool) -> None:
        admin.topics = {"source"}
        with pytest.raises(UsageError) as caught:
            require_topics(Addresses.model_validate(PLACE), ["source"], probe="p", leftovers=left)
        assert ("of this machine that was killed" in (caught.value.hint or "")) is is_hinted
        assert "may_recreate_topics" in (caught.value.hint or "")

    def test_unless_it_is_said(self, admin: FakeAdmin) -> None:
        admin.topics = {"source"}
        ask("source", may_recreate=True)

    def test_without_the_right_to_make_topics(self, admin: FakeAdmin) -> None:
        admin.denied = TopicAuthorizationFailedError()
        with pytest.raises(UsageError, match="does not let us make and delete topics"):
            ask("source")
        assert admin.closed

    def test_a_silent_broker(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def no_broker(**_: object) -> None:
            raise KafkaTimeoutError("Unable to bootstrap")

        monkeypatch.setattr(external, "KafkaAdminClient", no_broker)
        with pytest.raises(StackError, match="Kafka at k:9092 does not answer") as caught:
            ask("source")
        assert caught.value.exit_code == 3


class TestBrokers:
    def test_there_have_to_be_as_many_as_are_asked_for(self, admin: FakeAdmin) -> None:
        with pytest.raises(UsageError, match=r"^Kafka at k:9092 has 1 of the 3 brokers that are asked for$"):
            require_brokers(Addresses.model_validate(PLACE), 3)
        assert admin.closed
        admin.brokers = 3
        require_brokers(Addresses.model_validate(PLACE), 3)


class TestControl:
    def mock_that(self, error: StackError) -> MockApi:
        mock = MockApi("http://m")
        mock.counts = lambda: (_ for _ in ()).throw(error)  # type: ignore[method-assign]
        return mock

    def test_a_closed_control_is_refused(self) -> None:
        refusal = StackError("mock API answered 403 to GET /__mock/journal/counts: []")
        with pytest.raises(UsageError, match="does not let this machine control it") as caught:
            require_control(self.mock_that(refusal))
        assert "--allow-control" in (caught.value.hint or "")

    def test_a_silent_mock_is_no_refusal(self) -> None:
        silent = StackError("mock API did not answer GET /: connection refused")
        with pytest.raises(StackError) as caught:
            require_control(self.mock_that(silent))
        assert caught.value is silent


class Triples(MemoryStore):
    """An operator's; `error` is what it answers to an update."""

    def __init__(
        self, *, empty: bool = True, union_default_graph: bool = False, error: PartError | None = None
    ) -> None:
        super().__init__(union_default_graph=union_default_graph)
        self.error = error
        if not empty:
            self.data.update("INSERT DATA { <urn:a> <urn:b> 1 }")
        self.before = {*self.data}

    def change(self, update: str) -> None:
        if self.error:
            raise self.error
        super().change(update)


class TestTripleStore:
    @pytest.mark.parametrize(("empty", "may_clear"), [(True, False), (False, True)])
    def test_an_empty_one_does_and_one_that_may_be_emptied(self, *, empty: bool, may_clear: bool) -> None:
        store = Triples(empty=empty)
        require_triple_store(store, may_clear=may_clear)
        assert {*store.data} == store.before, "it is not emptied before the first arm begins"

    @pytest.mark.parametrize(
        ("store", "message", "hint"),
        [
            (Triples(empty=False), "has triples, which each arm would delete", "may_clear_triple_store"),
            (Triples(union_default_graph=True), "has the triples of all named graphs", "--union-default-graph"),
            (Triples(error=PartError("the store answered 403", "triple-store")), "answered 403; each arm changes", ""),
        ],
        ids=["with triples", "named graphs in its default graph", "no updates"],
    )
    def test_another_is_refused_and_left_as_it_was(self, store: Triples, message: str, hint: str) -> None:
        with pytest.raises(UsageError, match=message) as caught:
            require_triple_store(store, may_clear=False)
        assert hint in (caught.value.hint or "")
        assert {*store.data} == store.before, "the probe was left in it"

    def test_a_silent_one_is_no_refusal(self) -> None:
        silent = TripleStoreSilentError("did not answer")
        with pytest.raises(TripleStoreSilentError) as caught:
            require_triple_store(Triples(error=silent), may_clear=False)
        assert caught.value is silent

    def test_its_password_is_in_a_file_of_the_run(self, tmp_path: Path) -> None:
        urls = {"triple_store_query": "http://t/q", "triple_store_update": "http://t/u"}
        login = {"triple_store_user": "me", "triple_store_password": "hush"}
        store = external._triple_store(Addresses.model_validate(PLACE | urls | login), tmp_path)
        assert store.login is not None
        assert store.login.file is not None
        assert (store.login.file.read_text(), store.login.file.stat().st_mode & 0o777) == ("hush", 0o600)
        assert "hush" not in repr(store)
        assert external._triple_store(Addresses.model_validate(PLACE | urls), tmp_path).login is None

    def test_where_there_is_none_the_keys_are_named(self, tmp_path: Path) -> None:
        file = tmp_path / "a.yaml"
        file.write_text("kafka: k:9092\ns3_endpoint: http://s3\nmock_api: http://m\ntriple_store_query: http://t/q\n")
        request = StackRequest(addresses=file, triple_store=True)
        with pytest.raises(UsageError, match="has no triple store, and one is asked for") as caught:
            start_external(FakeGuardian(tmp_path).real(), tmp_path, request)
        assert "DEVKIT_TRIPLE_STORE_UPDATE" in (caught.value.hint or "")


def test_ports_are_not_ours_to_choose(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ports of an external stack"):
        start_external(FakeGuardian(tmp_path).real(), tmp_path, StackRequest(Ports(kafka=9092)))


@pytest.mark.parametrize("lever", LEVERS)
def test_a_part_of_another_owner_has_no_levers_and_no_end_that_is_seen(lever: Lever) -> None:
    part = RemotePart("kafka", "k:9092")
    require_running(part.life)
    with pytest.raises(UsageError, match=f"^`{lever}` cannot be done to kafka: k:9092 belongs to an external stack"):
        part.pull(lever)
    assert part.levers == frozenset()
