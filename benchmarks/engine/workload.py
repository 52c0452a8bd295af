"""The work that all contestants do: page change events, and the pages that they speak of.

Every event is an edit, made as the kit makes its traffic. There are fewer pages than events, so that the mock serves
from its caches and is not what is measured; a page comes again only when all others have had their turn. Pages are
the mock's articles, those near PAGE_BYTES: latest and parent differ as an edit makes them differ.
"""

import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Literal

import orjson

from devkit.traffic.generate import generate
from devkit.traffic.mix import Mix
from devkit.traffic.model import TrafficSpec
from devkit.traffic.page_change import kafka_key
from mockapi.draws import digest, log_normal, uniform
from mockapi.rules.model import Rule
from mockapi.wiki.catalog import REVISIONS_PER_PAGE, CatalogPage, CatalogRevision
from mockapi.wiki.pages.outline import MEDIAN_BYTES, P99_BYTES

SEED = 1
PAGES = 1_200
PAGE_BYTES = 50_000
PARTITIONS = 4
LATENCY = "40ms"
WIKI, DOMAIN = "enwiki", "en.wikipedia.org"
_NEAR_BYTES = 2_000
_FIRST_REVISION_AT = datetime(2026, 1, 1, tzinfo=UTC)
_REVISIONS = 3  # of a page that the kit's traffic edits once
_ZIPF = 0.7
# Of the time between two edits of a page, as parts of the time in which all pages are seen first.
_GAP_LOG_MEDIAN, _GAP_LOG_SIGMA = -4.0, 2.0

Coding = Literal["gzip", "identity"]


@dataclass(frozen=True)
class SourceEvent:
    """One record of the source topic; `page` is the index of its page, by which the partition is chosen too."""

    index: int
    page: int
    event_id: str
    key: bytes
    value: bytes

    @property
    def partition(self) -> int:
        return self.page % PARTITIONS


class Workload:
    """Equal numbers give equal bytes. `events` are those of one run."""

    def __init__(self, events: int, *, pages: int = PAGES, coding: Coding = "gzip", latency: str = LATENCY) -> None:
        self.count, self.coding, self.latency = events, coding, latency
        self._page_ids = _pages_of_size(pages)
        self._edits = _edits(self._page_ids)

    @property
    def revisions(self) -> tuple[tuple[int, int], ...]:
        """Latest and parent of each page."""
        return tuple(_edited(page_id) for page_id in self._page_ids)

    def event(self, index: int) -> SourceEvent:
        """The event that comes as `index`; there is one for every number."""
        page = index % len(self._page_ids)
        event_id = str(uuid.UUID(int=Random(index).getrandbits(128), version=4))
        edit = self._edits[page]
        return SourceEvent(index, page, event_id, edit.key, edit.value.replace(edit.event_id, event_id.encode()))

    def events(self) -> Iterator[SourceEvent]:
        return (self.event(index) for index in range(self.count))

    def catalog(self) -> list[CatalogPage]:
        return [_page(page_id, _REVISIONS) for page_id in self._page_ids]

    def rules(self, *, slow: frozenset[int] = frozenset(), slow_latency: str = "40s") -> list[Rule]:
        """How the mock answers; of the pages `slow` the latest revision takes its time."""
        do: dict[str, Any] = {"latency": self.latency}
        if self.coding == "identity":
            do["body"] = {"encoding": "identity"}
        rules: list[dict[str, Any]] = [{"name": "all", "do": do}]
        if slow:
            latest = [self.revisions[page][0] for page in sorted(slow)]
            rules.append({"name": "slow", "when": {"revision": latest}, "do": {"latency": slow_latency}})
        return [Rule.model_validate(rule) for rule in rules]

    def slow_pages(self, share: float) -> frozenset[int]:
        """So many of the pages, spread over the partitions."""
        pages = len(self._page_ids)
        return frozenset(Random(SEED).sample(range(pages), round(pages * share)))


class Histories(Workload):
    """Each event's parent is the latest revision of its page's previous event. `first_seen` is the share of events
    whose page had none before; popularity (Zipf) and times between edits of a page (log-normal) have long tails.
    """

    def __init__(self, events: int, *, first_seen: float, coding: Coding = "gzip") -> None:
        super().__init__(events, pages=max(1, round(events * first_seen)), coding=coding)
        self._order = _order_of_edits(events, len(self._page_ids))
        self._lengths = Counter(page for page, _ in self._order)

    @property
    def revisions(self) -> tuple[tuple[int, int], ...]:
        """Latest and parent of each event."""
        return tuple(_edited(self._page_ids[page], step) for page, step in self._order)

    def event(self, index: int) -> SourceEvent:
        page, step = self._order[index]
        event_id = str(uuid.UUID(int=Random(index).getrandbits(128), version=4))
        edit = self._edits[page]
        later = orjson.loads(edit.value.replace(edit.event_id, event_id.encode()))
        return SourceEvent(index, page, event_id, edit.key, orjson.dumps(_moved(later, self._page_ids[page], step)))

    def catalog(self) -> list[CatalogPage]:
        return [_page(page_id, _REVISIONS - 1 + self._lengths[page]) for page, page_id in enumerate(self._page_ids)]


def _order_of_edits(events: int, pages: int) -> list[tuple[int, int]]:
    """Page and number of its edit, from 0, of each event."""
    rng = Random(SEED)
    weights = [(rank + 1) ** -_ZIPF for rank in range(pages)]
    rng.shuffle(weights)
    edited = [*range(pages), *rng.choices(range(pages), weights, k=events - pages)]
    at: list[tuple[float, int, int]] = []
    for page, edits in Counter(edited).items():
        moment = rng.random()
        for step in range(edits):
            at.append((moment, page, step))
            moment += rng.lognormvariate(_GAP_LOG_MEDIAN, _GAP_LOG_SIGMA)
    return [(page, step) for _, page, step in sorted(at)]


def _edited(page_id: int, step: int = 0) -> tuple[int, int]:
    latest = page_id * REVISIONS_PER_PAGE + _REVISIONS + step
    return latest, latest - 1


@dataclass(frozen=True)
class _Edit:
    key: bytes
    value: bytes
    event_id: bytes


def _pages_of_size(count: int) -> tuple[int, ...]:
    """Ids of pages whose article is about PAGE_BYTES long."""
    found: list[int] = []
    page_id = 0
    while len(found) < count:
        page_id += 1
        key = digest(SEED, "article", WIKI, page_id)
        drawn = log_normal(uniform(key.hex(), "size"), MEDIAN_BYTES, P99_BYTES)
        if abs(drawn - PAGE_BYTES - _NEAR_BYTES // 2) < _NEAR_BYTES:
            found.append(page_id)
    return tuple(found)


def _page(page_id: int, revisions: int) -> CatalogPage:
    first = page_id * REVISIONS_PER_PAGE + 1
    return CatalogPage(
        wiki=WIKI,
        domain=DOMAIN,
        page_id=page_id,
        namespace_id=0,
        title=f"Article {page_id}",
        revisions=tuple(
            CatalogRevision(
                rev_id=first + n, parent_id=first + n - 1 if n else 0, timestamp=_FIRST_REVISION_AT + timedelta(hours=n)
            )
            for n in range(revisions)
        ),
    )


def _edits(page_ids: tuple[int, ...]) -> list[_Edit]:
    """An edit of each page, from the kit's traffic: its events, with the ids of our pages."""
    nothing_else = Mix.model_validate(dict.fromkeys(Mix.model_fields, 0))
    titles = {f"Article {page_id}": {} for page_id in page_ids}
    spec = TrafficSpec.model_validate(
        {"seed": SEED, "rate": "1/s", "for": "1ms", "population": 1, "mix": nothing_else, "pages": titles}
    )
    by_title = {
        event["page"]["page_title"]: event
        for event in (orjson.loads(record.value) for record in generate(spec).records)
    }
    edits = []
    for page_id in page_ids:
        event = _moved(by_title[f"Article_{page_id}"], page_id)
        edits.append(_Edit(kafka_key(WIKI, page_id), orjson.dumps(event), event["meta"]["id"].encode()))
    return edits


def _moved(event: dict[str, Any], page_id: int, step: int = 0) -> dict[str, Any]:
    event["page"]["page_id"] = page_id
    for revision in (event["revision"], event["prior_state"]["revision"]):
        for name in ("rev_id", "rev_parent_id"):
            revision[name] = page_id * REVISIONS_PER_PAGE + revision[name] % REVISIONS_PER_PAGE + step
        slot = revision["content_slots"]["main"]
        slot["origin_rev_id"] = page_id * REVISIONS_PER_PAGE + slot["origin_rev_id"] % REVISIONS_PER_PAGE + step
    return event
