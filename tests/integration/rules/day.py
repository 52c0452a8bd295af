"""One run of the pipeline that meets what each of its rules is about; the tests look at what it left.

    publish all ─▶ the job commits all of it but for one page, which hangs and is deferred
                ─▶ one more event of that page ─▶ committed too ─▶ the page may answer ─▶ drained ─▶ stopped

Nothing is asserted here: a job without its rules may die, or hold up everything, and what is seen of that is kept.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
from kafka import KafkaProducer

from devkit.errors import WaitTimeoutError
from devkit.guardian import Guardian
from devkit.observe.audit.arrivals import Arrival, read_topic
from devkit.scenario.stack_settings import Topics
from devkit.stack.stack import Stack
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from devkit.waiting import wait_until
from tests.integration.crash.bench import Bench, Run

Position = tuple[int, int]

KIB = 1024
LIMIT_BYTES = 64 * KIB
CONTENT_LIMIT_BYTES = 32 * KIB
CONCURRENCY = 6
SLOW_CONCURRENCY = 2
WORKERS = 2
ALLOWANCE_S = 3
RETRY_AFTER_S = 1
MALFORMED_BYTES = 900 * KIB
MEMORY_LIMIT = "8GiB"

GATEWAY, DRAGGING, BUSY, HANGING = "Gateway", "Dragging", "Busy", "Hanging"
HEAVY, TOO_LARGE = "Heavy", "Too large"
# Over the content limit, and as a record below the other: the diff is short.
HEAVY_BODY = {"size": "40KiB", "changed_bytes": "4KiB", "encoding": "gzip"}
# Records of these sizes lie around the limit, closer to each other than a record's headers are long.
EDGES = {f"Edge {number:02}": 50_300 + 40 * number for number in range(12)}
CROWD = [f"Crowd {number:02}" for number in range(12)]
FOREIGN_WIKI, FOREIGN_DOMAIN = "foreignwiki", "host.of.an.event.example"
FOREIGN, BORROWED, MALFORMED, LATE = "foreign wiki", "foreign domain", "malformed", "late"

TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 12,
    "rate": "100/s",
    "for": "100ms",
    "population": 5,
    "mix": dict.fromkeys(("create", "move", "delete", "undelete", "visibility_change"), 0)
    | dict.fromkeys(("canary", "not_wikitext", "not_json", "not_schema"), 0),
    "pages": {
        **{title: {"edits": 1} for title in (GATEWAY, DRAGGING, BUSY, HEAVY, *CROWD)},
        **{title: {"edits": 1, "event_bytes": size} for title, size in EDGES.items()},
        TOO_LARGE: {"edits": 1, "event_bytes": LIMIT_BYTES, "error": "source_event_too_large"},
        HANGING: {"edits": 6},
    },
}
SETTINGS: dict[str, Any] = {
    "sink": {"max.request.size": LIMIT_BYTES},
    "content_limit": {"max_bytes": CONTENT_LIMIT_BYTES},
    "batch": {"max_offsets": 1000},
    # What fails here is the fault of single pages, and the wiki is well.
    "breaker": {"minimum_requests": 100_000},
    # An event that waits for its parent to be published cannot overtake it, whatever else keeps the order.
    "parent_cache": {"policy": "none"},
    "fetch": {
        "concurrency": CONCURRENCY,
        # What is not the allowance must not end a request either: else a page that hangs would hold nothing for long.
        "deadline": "9m",
        "request_timeout": "9m",
        "total_requests": 8,
        "backoff": "50ms",
        "retry_budget": {"share": 1, "burst": 100},
    },
    "deferral": {
        "inline_allowance": f"{ALLOWANCE_S}s",
        "slow_lane": {
            "deadline": "4s",
            "concurrency": SLOW_CONCURRENCY,
            "attempts": 50,
            "backoff": "1s",
            "backoff_cap": "1s",
        },
    },
}
_DEADLINE = timedelta(minutes=10)
_HELD_S = 8 * ALLOWANCE_S


def rules(hanging_revision: int) -> list[dict[str, Any]]:
    """The mock's. A request that drags and one that hangs are what no allowance covers."""
    return [
        {"name": "small", "when": {}, "do": {"body": {"size": "6KiB"}}},
        {"name": "heavy", "when": {"page": HEAVY}, "do": {"body": HEAVY_BODY}},
        {"name": "gateway", "when": {"page": GATEWAY, "attempt": {"at_most": 2}}, "do": {"status": 504}},
        {
            "name": "dragging",
            "when": {"page": DRAGGING, "attempt": {"at_most": 5}},
            "do": {"latency": "900ms", "status": 503},
        },
        {
            "name": "busy",
            "when": {"page": BUSY, "attempt": 1},
            "do": {"status": {"code": 429, "retry_after": f"{RETRY_AFTER_S}s"}},
        },
        *({"name": title, "when": {"page": title}, "do": {"latency": "200ms"}} for title in CROWD),
        {"name": "hanging", "when": {"revision": [hanging_revision]}, "do": {"latency": "10m"}},
    ]


@dataclass(frozen=True)
class Day:
    """What the run left. Positions are partition and offset in the source.

    `held`: while a page hung, nothing was committed. `exit_code` None: it had to be killed. `names` tell what each
    event is: its page's title, or one of the odd ones' names. `requests` are the mock's journal. `late_comes_later`:
    the last event of the page that hangs was published when the page's others had been deferred.
    """

    lines: list[dict[str, Any]]
    exit_code: int | None
    last_words: str
    held: bool
    drained: bool
    late_comes_later: bool
    names: dict[Position, str]
    outputs: list[Arrival]
    errors: list[Arrival]
    deferred_ever: frozenset[Position]
    requests: list[dict[str, Any]]
    bench: Bench

    def logged(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == event]

    def name_of(self, arrival: Arrival) -> str:
        assert arrival.source is not None
        return self.names[arrival.source[1:]]

    def outputs_of(self, *names: str) -> list[Arrival]:
        return [arrival for arrival in self.outputs if self.name_of(arrival) in names]

    def errors_of(self, *names: str) -> list[Arrival]:
        return [arrival for arrival in self.errors if self.name_of(arrival) in names]

    def put_aside(self) -> set[str]:
        """What was ever in the ledger."""
        return {self.names[position] for position in self.deferred_ever}

    def of_page(self, title: str) -> list[dict[str, Any]]:
        """Requests for revisions of the page."""
        return [request for request in self.requests if request["page"] == title]


def play(guardian: Guardian, stack: Stack, directory: Path, name: str = "rules") -> Day:
    """The whole of it, with topics and a checkpoint of that name.

    It takes the time of one start of the pipeline and that of the allowance, on a machine of its own some 30 seconds.
    """
    generated = generate(TrafficSpec.model_validate(TRAFFIC))
    edits = [record for record in generated.records if _title(record.value) == HANGING]
    first = orjson.loads(edits[0].value)["revision"]["rev_id"]
    topics = Topics.model_validate({"source": {"partitions": WORKERS}})
    bench = Bench(
        guardian, stack, directory, name, traffic=TRAFFIC, rules=rules(first), settings=SETTINGS, topics=topics
    )
    try:
        bench.publish(wait=True)
        any_event = next(record for record in generated.records if _title(record.value) == CROWD[0])
        # What is said is not derived from the memory limit, so the defaults are left out.
        settings = bench.config.model_dump(mode="json", by_alias=True, exclude_unset=True)
        bench.config_file.write_bytes(orjson.dumps(settings))
        odd = _Odd(bench)
        odd.send(MALFORMED, None, b"{" * MALFORMED_BYTES)
        for name, wiki_id in ((FOREIGN, FOREIGN_WIKI), (BORROWED, "enwiki")):
            odd.send(name, name.encode(), _other(any_event.value, wiki_id=wiki_id, domain=FOREIGN_DOMAIN))
        run = bench.start("--memory-limit", MEMORY_LIMIT, "--slots", str(WORKERS + 1))
        _wait(lambda: _committed_beside_the_page_that_hangs(bench) or _ended(run) or _is_held(bench, run))
        late_comes_later, drained = _committed_beside_the_page_that_hangs(bench), False
        if not _is_held(bench, run):
            odd.send(LATE, edits[-1].key, _other(edits[-1].value), beside=edits[-1].value)
            _wait(lambda: _all_committed(bench) or _ended(run) or _is_held(bench, run))
        held = _is_held(bench, run)
        if not held:
            bench.remove_rule("hanging")
            drained = _wait(lambda: _is_drained(bench) or _ended(run)) and not _ended(run)
        odd.close()
        exit_code = run.terminate() if drained else run.process.exit_code
        bench.end()
        bench.deferred_ever()
        source = read_topic(bench.bootstrap, bench.config.source.topic)
        names = {(arrival.partition, arrival.offset): _title(arrival.value) for arrival in source}
        return Day(
            lines=run.lines,
            exit_code=exit_code,
            last_words=_last_words(run),
            held=held,
            drained=drained,
            late_comes_later=late_comes_later,
            names=names | odd.names,
            outputs=bench.outputs(),
            errors=bench.errors(),
            deferred_ever=frozenset(position[1:] for position in bench._deferrals.entries.ever),
            requests=bench._mock("GET", "/journal"),
            bench=bench,
        )
    finally:
        bench.close()


def key_of(title: str) -> bytes:
    """The key of a generated page's events."""
    records = generate(TrafficSpec.model_validate(TRAFFIC)).records
    return next(record.key for record in records if _title(record.value) == title)


class _Odd:
    """Publishes events that no generator makes."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._producer = KafkaProducer(bootstrap_servers=bench.bootstrap, max_request_size=4 * MALFORMED_BYTES)
        self.names: dict[Position, str] = {}

    def send(self, name: str, key: bytes | None, value: bytes, *, beside: bytes | None = None) -> None:
        """`beside`: into the partition of the event with this value."""
        topic, partition = self._bench.config.source.topic, 0
        if beside is not None:
            present = read_topic(self._bench.bootstrap, topic)
            partition = next(arrival.partition for arrival in present if arrival.value == beside)
        sent = self._producer.send(topic, key=key, value=value, partition=partition).get(30)
        self.names[sent.partition, sent.offset] = name

    def close(self) -> None:
        self._producer.close()


def _all_committed(bench: Bench) -> bool:
    return sum(bench.committed().values()) >= bench.source_end()


def _last_words(run: Run) -> str:
    failed = run.logged("failed")
    return str(failed[-1]["error"]) if failed else run.process.last_words(5)


def _is_drained(bench: Bench) -> bool:
    return _all_committed(bench) and bench.deferred() == 0


def _committed_beside_the_page_that_hangs(bench: Bench) -> bool:
    return _all_committed(bench) and bench.deferred() > 0


def _is_held(bench: Bench, run: Run) -> bool:
    """Whether the page has hung for a time that no allowance covers, and no batch has been written."""
    waited = [request["waited_s"] for request in bench.in_flight("hanging")]
    return not run.logged("batch_written") and max(waited, default=0.0) > _HELD_S


def _ended(run: Run) -> bool:
    return run.process.exit_code is not None


def _wait(condition: Callable[[], bool]) -> bool:
    """Whether it came true in time: what that means is for the tests to say."""
    try:
        return wait_until(condition, what="the job to get on", deadline=_DEADLINE)
    except WaitTimeoutError:
        return False


def _title(value: bytes) -> str:
    try:
        title: str = orjson.loads(value)["page"]["page_title"]
    except orjson.JSONDecodeError:
        return MALFORMED
    return title.replace("_", " ")


def _other(value: bytes, *, wiki_id: str = "enwiki", domain: str | None = None) -> bytes:
    """Another event like this one."""
    event = orjson.loads(value)
    event["wiki_id"] = wiki_id
    event["meta"] |= {"id": str(uuid.uuid4())} | ({"domain": domain} if domain else {})
    return orjson.dumps(event)
