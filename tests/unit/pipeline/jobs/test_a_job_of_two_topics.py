"""A job of another package reads two topics of different schemas by a route of its own: one file, and its `register`.

The engine runs it as any other: records, error events, filtering, deferral, all by (topic, partition).
"""

import importlib
import shutil
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from located_config import registry as additions
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.snapshot import Fence
from pipeline.deferral.wire import position_of
from pipeline.driver.identity import Identity
from pipeline.driver.source_stream import source_options
from pipeline.fetch.client import FetchedText, FetchFailedError, WikiClient
from pipeline.fetch.deadline import Deadline
from pipeline.fetch.route import Route
from pipeline.jobs import registry
from pipeline.jobs.message import SourceMessage
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.records.error_event import Failure
from pipeline.records.record import Position
from pipeline.worker import spark_task as task
from pipeline.worker.engine import LoopThread
from tests.unit.pipeline.making import make_config, make_event
from tests.unit.pipeline.worker.test_spark_task import read, source

FILE = Path(__file__).with_name("links_job.py")
PAGES, LINKS = "mediawiki.page_change.v1", "acme.links_change.v1"
PAGE_EVENTS = (("edit", 3), ("delete", 4), ("edit", 503))
WHEN = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A package of another author, loaded; the registries are as before afterwards."""
    place = tmp_path_factory.mktemp("site")
    made = place / "acme_links"
    made.mkdir()
    (made / "__init__.py").touch()
    shutil.copy(FILE, made / "links_job.py")
    makes = dict(registry._makes)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(place))
        patch.setenv("ENRICHMENT_EXTEND", "")
        patch.setattr(JOB_DEFAULTS, "_by_name", dict(JOB_DEFAULTS))
        patch.setattr(additions, "_additions", list(additions._additions))
        importlib.import_module("acme_links.links_job")
        yield
    registry._makes.clear()
    registry._makes.update(makes)


@pytest.fixture
def asked(package: None, loop_thread: LoopThread, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The paths that were asked for; revision 404 is gone, 503 fails for now, others have as many links as their id."""
    paths: list[str] = []
    clients: list[WikiClient] = []
    made = WikiClient.__init__

    def remember(self: WikiClient, *arguments: Any, **named: Any) -> None:
        made(self, *arguments, **named)
        clients.append(self)

    async def fetch(
        _: WikiClient, wiki_id: str, rev_id: int, *, request_id: str, deadline: Deadline, route: Route
    ) -> FetchedText:
        deadline.begin()
        paths.append(f"{wiki_id} {route.path(rev_id)}")
        if rev_id == 404:
            raise FetchFailedError(Failure("revision_not_found", f"no {request_id}"))
        if rev_id == 503:
            raise FetchFailedError(Failure("fetch_failed", "not now"), transient=True)
        read_by: Any = route.read
        return FetchedText(read_by(rev_id, orjson.dumps({"source": "[[link]] " * rev_id}).decode()), None)

    monkeypatch.setattr(WikiClient, "__init__", remember)
    monkeypatch.setattr(WikiClient, "fetch", fetch)
    monkeypatch.setattr(task, "_loop_thread", lambda: loop_thread)
    monkeypatch.setattr(task, "_job", task._job.__wrapped__)
    yield paths
    for client in clients:
        loop_thread.call(client.close)


def links(rev_id: int, wiki: str = "enwiki", **meta: str) -> bytes:
    return orjson.dumps({"meta": {"id": str(uuid.UUID(int=rev_id)), **meta}, "wiki": wiki, "rev": rev_id})


def messages() -> list[SourceMessage]:
    """The partitions of both topics have the same number, and the events the same offsets and keys."""
    pages = [*(make_event(kind, revision={"rev_id": rev_id}) for kind, rev_id in PAGE_EVENTS), {}]
    others = [links(5), links(404), links(503), b"no json", links(6, wiki="testwiki"), links(7, domain="canary")]
    values = {PAGES: [orjson.dumps(event) for event in pages], LINKS: others}
    return [
        SourceMessage(Position(topic, 0, at), str(at).encode(), value, WHEN)
        for topic, of_topic in values.items()
        for at, value in enumerate(of_topic)
    ]


@pytest.mark.usefixtures("package")
def test_its_defaults_are_those_of_its_file() -> None:
    config = make_config(job="link-count")
    assert config.source.all_topics == (PAGES, LINKS)
    assert (config.sink.topic, config.deferral.topic) == ("acme.link_count.v1", "acme.link_count.deferred")
    assert source_options(config, None)["subscribe"] == f"{PAGES},{LINKS}"
    assert Identity.of(config, None).source == (LINKS, PAGES)
    assert PipelineConfig.model_validate_json(config.model_dump_json(by_alias=True)).source == config.source


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("given", "topics"), [({"topic": "one"}, ("one",)), ({"topics": ["a", "b", "c"]}, ("a", "b", "c"))]
)
def test_a_configuration_overrides_its_topics(given: dict[str, Any], topics: tuple[str, ...]) -> None:
    assert make_config(job="link-count", source=given).source.all_topics == topics


def test_records_and_error_events_of_both_topics(asked: list[str], in_time: Callable[..., Any]) -> None:
    config = make_config(job="link-count")
    records = read(in_time(lambda: list(task.enrich(config, workers=1)(iter([source(messages())])))))
    by_place = {tuple(dict(one.headers)[name] for name in ("source-topic", "source-offset")): one for one in records}
    found = {(topic.decode(), int(offset)): one for (topic, offset), one in by_place.items()}
    outputs = {at: orjson.loads(one.value)["links"] for at, one in found.items() if one.topic == config.sink.topic}
    assert outputs == {(PAGES, 0): 3, (PAGES, 1): None, (LINKS, 0): 5}
    assert found[LINKS, 0].key == b"enwiki:5"
    errors = {at: orjson.loads(one.value) for at, one in found.items() if one.topic == config.sink.error_topic}
    kinds = {
        at: (one["error_type"], one["errored_stream_name"], one["errored_schema_uri"]) for at, one in errors.items()
    }
    pages_schema, links_schema = "/mediawiki/page/change/1.2.0", "/acme/links/change/1.0.0"
    assert kinds == {
        (PAGES, 2): ("fetch_failed", PAGES, pages_schema),
        (PAGES, 3): ("schema_violation", PAGES, pages_schema),
        (LINKS, 1): ("revision_not_found", LINKS, links_schema),
        (LINKS, 2): ("fetch_failed", LINKS, links_schema),
        (LINKS, 3): ("malformed_json", LINKS, links_schema),
    }
    ids = {at: dict(one.headers).get("source-event-id") for at, one in found.items()}
    of_page = make_event()["meta"]["id"].encode()
    assert {at: event_id for at, event_id in ids.items() if at[0] == PAGES} == {
        (PAGES, at): of_page if at < 3 else None for at in range(4)
    }
    assert {at: event_id for at, event_id in ids.items() if at[0] == LINKS} == {
        (LINKS, at): str(uuid.UUID(int=rev_id)).encode() if rev_id else None
        for at, rev_id in enumerate((5, 404, 503, None))
    }
    assert len(records) == len(found) == 8
    assert sorted(asked) == [f"enwiki /w/rest.php/v1/revision/{rev_id}" for rev_id in (3, 404, 5, 503, 503)]


@pytest.mark.usefixtures("asked")
def test_a_deferred_event_of_one_topic_holds_back_no_page_of_the_other(in_time: Callable[..., Any]) -> None:
    """Same key, same partition number: the ledger's pages are told apart by their topic."""
    config = make_config(job="link-count")
    slow, other = messages()[2], messages()[4]
    later = replace(slow, position=Position(PAGES, 0, 9))
    of_other_topic = replace(other, key=slow.key, position=Position(LINKS, 0, 9))
    function = task.enrich_around(
        config, Fence(blocked={}, unreserved=frozenset(), reserved={}), epoch=1, batch=1, workers=1, limit_bytes=100_000
    )
    records = read(in_time(lambda: list(function(iter([source([slow, of_other_topic, later])])))))
    deferred = [one for one in records if one.topic == config.deferral.topic]
    assert [position_of(one.key or b"") for one in deferred] == [slow.position, later.position]
    (output,) = (one for one in records if one.topic == config.sink.topic)
    assert dict(output.headers)["source-topic"] == LINKS.encode()


def test_every_name_that_may_be_configured_has_a_job() -> None:
    assert set(registry.JOBS) == set(JOB_DEFAULTS)
