"""An event chooses a wiki by name and page and revisions by number: no host, no path beside the template, no header.

Set-up: both jobs as a worker makes them, and two servers that keep every byte they are sent, one as MediaWiki, one as
object store. Every page is over the content limit, so each that is fetched is stored too. Checked: each request by its
bytes, and every address that was connected to.
"""

import asyncio
import json
import random
import re
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import WikiClient
from pipeline.jobs import registry
from pipeline.jobs.enrichment import Enrichment
from pipeline.jobs.message import Outcome, SourceMessage
from pipeline.records.claim_check import ClaimStore
from pipeline.records.error_event import MAX_KEY_BYTES
from pipeline.records.record import Position, Record
from pipeline.worker.engine import LoopThread
from tests.unit.pipeline.making import make_config, make_event

WIKIS = {"enwiki": "en.wikipedia.org", "dewiki": "de.wikipedia.org"}
JOBS: tuple[str, ...] = ("html-enrichment", "content-enrichment")
PAGE = b"<p>page</p>\n"

PATHS = {
    "html-enrichment": rb"/w/rest\.php/v1/revision/[1-9][0-9]{0,15}/html",
    "content-enrichment": rb"/w/api\.php\?action=query&format=json&formatversion=2&maxlag=[0-9]+&prop=revisions"
    rb"&revids=[1-9][0-9]{0,15}&rvprop=ids%7Ccontent%7Ccontentmodel&rvslots=main",
}
ROLES = {"html-enrichment": "(latest|parent)", "content-enrichment": "content"}
UUID = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
KEY = rb"jobs/(enwiki|dewiki)/[0-9]{1,16}/[1-9][0-9]{0,15}/[0-9]{1,16}/[0-9a-f]{64}"
APPENDED_MS = "1772442000000"
OBJECT = rb"PUT /claims/" + KEY + rb" HTTP/1\.1"

NASTY = [
    *("evil.example.org", "http://evil.example.org/", "//evil.example.org/x", "en.wikipedia.org@evil.example.org"),
    *("../../../../etc/passwd", "..%2f..%2f", "x?action=delete&y#z", "a\r\nHost: evil.example.org\r\nX-Evil: 1"),
    *("a\r\n\r\nDELETE / HTTP/1.1\r\nHost: x\r\n\r\n", "a\nX-Evil: 1", "\0", "\N{LINE SEPARATOR}", "ä/ö 😀"),
    *("{0} %s ${x} {{y}}", "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a\r\nX-Evil: 1"),
    *("5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a\n", "x" * 9_000),
]
TEXTS = st.sampled_from(NASTY) | st.text(max_size=30)
IDS = TEXTS | st.uuids().map(str) | st.uuids().map(lambda id_: str(id_).upper())
NUMBERS = (
    st.integers(1, 2**53 - 1)
    | st.integers(1, 2**40).map(float)
    | st.sampled_from([0, -1, 1.5, 2**53, 2**70, 1e300, True, None, "5", "5/../../x", "5&rvslots=*", [5], {"a": 5}])
)
EVENTS = st.builds(
    lambda **drawn: changed(drawn),
    kind=st.sampled_from(["create", "edit", "move", "undelete", "visibility_change"]),
    wiki_id=st.sampled_from([*WIKIS, *WIKIS, *WIKIS.values(), "__class__"]) | TEXTS,
    domain=TEXTS,
    uri=TEXTS,
    id=IDS,
    request_id=TEXTS,
    stream=TEXTS,
    rev_id=NUMBERS,
    rev_parent_id=NUMBERS,
    page_title=TEXTS,
    role=TEXTS,
)
KEYS = st.none() | st.binary(max_size=40) | TEXTS.map(str.encode)


def changed(drawn: dict[str, Any]) -> bytes:
    slot = {"slot_role": drawn["role"], "content_model": "wikitext", "origin_rev_id": 9}
    made = make_event(
        drawn["kind"],
        wiki_id=drawn["wiki_id"],
        meta={name: drawn[name] for name in ("domain", "uri", "id", "request_id", "stream")},
        page={"page_title": drawn["page_title"]},
        revision={"rev_id": drawn["rev_id"], "rev_parent_id": drawn["rev_parent_id"], "content_slots": {"main": slot}},
    )
    return json.dumps(made).encode()


@dataclass
class Recorder:
    """A server that keeps the heads of its requests, byte for byte, and has `answer` make a body of each."""

    answer: Callable[[bytes], bytes]
    heads: list[bytes] = field(default_factory=list)
    port: int = 0

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).removesuffix(b"\r\n\r\n")
                self.heads.append(head)
                fields = fields_of(head)
                if "expect" in fields:
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                await reader.readexactly(int(fields.get("content-length", "0")))
                body = self.answer(head)
                named = b"".join(b"%b: %b\r\n" % pair for pair in head_of(head))
                writer.write(b"HTTP/1.1 200 OK\r\n%bContent-Length: %d\r\n\r\n%b" % (named, len(body), body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has closed
        finally:
            writer.close()


def fields_of(head: bytes) -> dict[str, str]:
    pairs = [line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")[1:]]
    names = [name.lower() for name, _ in pairs]
    assert len(names) == len(set(names)), head
    return {name.lower(): value for name, value in pairs}


def head_of(request: bytes) -> list[tuple[bytes, bytes]]:
    """What MediaWiki's REST API names of a page's answer."""
    found = re.search(rb"/revision/([0-9]+)/html", request)
    return [(b"Content-Type", b"text/html; charset=utf-8"), (b"Content-Revision-Id", found[1])] if found else []


def page_of(head: bytes) -> bytes:
    found = re.search(rb"revids=([0-9]+)", head)
    if found is None:
        return PAGE
    slots = {"main": {"content": PAGE.decode()}}
    return orjson.dumps({"query": {"pages": [{"revisions": [{"revid": int(found[1]), "slots": slots}]}]}})


@dataclass
class Wired:
    """The jobs at work between two servers."""

    thread: LoopThread
    jobs: dict[str, Enrichment[Any, Any]]
    config: PipelineConfig
    wiki: Recorder
    store: Recorder
    connected: set[object]

    def process(self, job: str, value: bytes, key: bytes | None) -> Outcome:
        self.wiki.heads.clear()
        self.store.heads.clear()
        message = SourceMessage(Position("source", 0, 5), key, value, datetime(2026, 3, 2, 9, tzinfo=UTC))
        return self.thread.call(lambda: self.jobs[job].process(message, limit_s=20))


@pytest.fixture(scope="module")
def wired() -> Iterator[Wired]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        connected: set[object] = set()
        connect = socket.socket.connect

        def recorded(self: socket.socket, address: Any) -> None:
            connected.add(address)
            connect(self, address)

        patch.setattr(socket.socket, "connect", recorded)
        thread = LoopThread()
        wiki, store = Recorder(page_of), Recorder(lambda _: b"")
        servers = [thread.call(wiki.start), thread.call(store.start)]
        config = make_config(
            mediawiki={"endpoint": f"http://127.0.0.1:{wiki.port}", "wikis": WIKIS},
            claim_check={"endpoint": f"http://127.0.0.1:{store.port}", "bucket": "claims", "prefix": "jobs"},
            content_limit={"max_bytes": 1},
        )
        jobs = {name: thread.call(lambda name=name: made(config, name)) for name in JOBS}
        connected.clear()  # those of the event loop itself
        yield Wired(thread, jobs, config, wiki, store, connected)

        async def end() -> None:
            for job in jobs.values():
                await job.close()
            for server in servers:
                server.close()
                await server.wait_closed()
            # boto3 keeps its connections.
            served = asyncio.all_tasks() - {asyncio.current_task()}
            for task in served:
                task.cancel()
            await asyncio.gather(*served, return_exceptions=True)

        thread.call(end)
        thread.loop.call_soon_threadsafe(thread.loop.stop)


async def made(config: PipelineConfig, name: str) -> Enrichment[Any, Any]:
    client = WikiClient(config, clock=time.monotonic, now=lambda: datetime.now(UTC), jitter=random.Random(0))
    return Enrichment(config, registry.JOBS[name](config, client), client, ClaimStore(config.claim_check))


def assert_as_configured(wired: Wired, job: str, outcome: Outcome, key: bytes | None) -> None:
    for head in wired.wiki.heads:
        assert re.fullmatch(rb"GET " + PATHS[job] + rb" HTTP/1\.1", head.split(b"\r\n")[0]), head
        fields = fields_of(head)
        assert fields.keys() == {"host", "x-request-id", "user-agent", "accept-encoding", "accept"}
        assert fields["host"] in WIKIS.values()
        assert re.fullmatch(f"{UUID}:{ROLES[job]}", fields["x-request-id"])
    for head in wired.store.heads:
        assert re.fullmatch(OBJECT, head.split(b"\r\n")[0]), head
        fields = fields_of(head)
        assert fields["host"] == f"127.0.0.1:{wired.store.port}"
        said = {name: value for name, value in fields.items() if name.startswith("x-amz-meta")}
        assert said == {"x-amz-meta-source": "source/0/5", "x-amz-meta-source-time-ms": APPENDED_MS}
    assert wired.connected <= {("127.0.0.1", wired.wiki.port), ("127.0.0.1", wired.store.port)}
    assert isinstance(outcome, Record)
    assert outcome.topic in (wired.config.sink.topic, wired.config.sink.error_topic)
    is_long = outcome.topic == wired.config.sink.error_topic and len(key or b"") > MAX_KEY_BYTES
    if key is None and outcome.topic == wired.config.sink.topic:
        assert re.fullmatch(rb'{"wiki_id":"(enwiki|dewiki)","page_id":7}', outcome.key or b"")
    else:
        assert outcome.key == (None if is_long else key)
    names = [name for name, _ in outcome.headers if not name.startswith("claim-check-")]
    assert names[:3] == ["source-topic", "source-partition", "source-offset"]
    assert names[3:] in ([], ["source-event-id"])
    if names[3:]:
        assert re.fullmatch(UUID, dict(outcome.headers)["source-event-id"].decode())
    claims = dict(outcome.headers)
    if "claim-check-key" in claims:
        assert claims["claim-check-bucket"] == b"claims"
        assert re.fullmatch(KEY, claims["claim-check-key"])


@pytest.mark.parametrize("job", JOBS)
@given(value=EVENTS, key=KEYS)
def test_whatever_it_says(wired: Wired, job: str, value: bytes, key: bytes | None) -> None:
    assert_as_configured(wired, job, wired.process(job, value, key), key)


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_what_it_says_beside_wiki_and_number_goes_nowhere(wired: Wired, job: str, text: str) -> None:
    value = orjson.dumps(
        make_event(
            "edit",
            wiki_id="dewiki",
            meta={"domain": text, "id": text, "request_id": text, "stream": text},
            page={"page_title": text},
            revision={"comment": text, "rev_sha1": text, "rev_id": 12.0, "rev_parent_id": 11},
        )
    )
    outcome = wired.process(job, value, text.encode())
    assert_as_configured(wired, job, outcome, text.encode())
    asked = {fields_of(head)["host"] for head in wired.wiki.heads}
    assert (asked, len(wired.wiki.heads)) == ({"de.wikipedia.org"}, 2 if job == "html-enrichment" else 1)
    assert all(re.search(rb"(revision/|revids=)1[12](/html|&)", head) for head in wired.wiki.heads)
    assert len(wired.store.heads) == 1
    assert isinstance(outcome, Record)
    assert outcome.topic == wired.config.sink.topic


@pytest.mark.parametrize("wiki_id", [*NASTY, *WIKIS.values(), "ENWIKI", " enwiki", "__class__"], ids=ascii)
def test_a_wiki_that_is_not_configured_is_not_asked(wired: Wired, wiki_id: str) -> None:
    outcome = wired.process("html-enrichment", orjson.dumps(make_event(wiki_id=wiki_id)), b"key")
    assert isinstance(outcome, Record)
    assert orjson.loads(outcome.value)["error_type"] == "unknown_wiki"
    assert not wired.wiki.heads
    assert not wired.store.heads
