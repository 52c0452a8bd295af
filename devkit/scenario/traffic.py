"""A scenario's traffic: generated once, published for each arm, and known to the mock."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.latency import Page
from devkit.traffic.all_streams import generate_all
from devkit.traffic.entity_life import CONTENT_MODELS
from devkit.traffic.model import TrafficSpec
from devkit.traffic.publish import ExpectedFate, Publisher, connect_producer, stated
from devkit.traffic.received import as_generated, received_now
from devkit.traffic.records import DumpedEntities, Expected, GeneratedPage, Traffic
from devkit.traffic.warm_up_traffic import publish_warm_up, warm_up_traffic
from mockapi.wiki.catalog import CatalogPage, CatalogRevision


def with_errors_of(
    errors: Mapping[str, str], fate: ExpectedFate, of_events: Mapping[str, str] = MappingProxyType({})
) -> ExpectedFate:
    """`fate`, except for events that must end as an error in this arm: `errors` has its type by the page's title, and
    `of_events` by `meta.id`, which goes first.
    """

    def expected(topic: str, value: bytes, stated: Expected) -> Expected:
        found = fate(topic, value, stated)
        event_id = found.event_id or stated.event_id
        error = of_events.get(event_id) if event_id else None
        if error is None and found.page:
            error = errors.get(found.page.title.replace("_", " "))
        if error is None:
            return found
        return Expected(fate="error", reason=error, event_id=event_id, repeat=found.repeat)

    return expected


class ScenarioTraffic:
    """The same records for all arms; only the time of receipt differs if it is that of publishing."""

    def __init__(self, spec: TrafficSpec) -> None:
        self._spec = spec
        self._traffic: Traffic = generate_all(spec)

    @property
    def count(self) -> int:
        """Number of records published in an arm, without the warm-up."""
        return len(self._traffic.records)

    @property
    def has_event_time(self) -> bool:
        """Whether records carry the time of their events instead of that of publishing."""
        return self._spec.own_event_time is not None

    @property
    def further_topics(self) -> tuple[str, ...]:
        """The topics of its records besides the first source topic."""
        return tuple(dict.fromkeys(record.topic for record in self._traffic.records if record.topic))

    def errors_of_events(self, key_of: Callable[[Mapping[str, str]], str]) -> dict[str, str]:
        """By `meta.id`, the error types in which patched events must end in the arm of which `key_of` gives the key."""
        return {
            str(record.expected.event_id): record.errors[key]
            for record in self._traffic.records
            if record.errors and (key := key_of(record.errors)) in record.errors
        }

    @property
    def dump(self) -> DumpedEntities | None:
        """The dump that was made meanwhile; None without one."""
        return self._traffic.dump

    def catalog(self) -> list[CatalogPage]:
        """The pages as the mock knows them."""
        return _catalog(self._traffic.pages)

    def named_pages(self) -> dict[str, Page]:
        """The named pages by title, with spaces."""
        named = {title.replace("_", " ") for title in self._spec.titles}
        titles = ((page.title.replace("_", " "), page) for page in self._traffic.pages)
        return {title: (page.wiki, page.page_id) for title, page in titles if title in named}

    def warm_up(self, partitions: int) -> "WarmUpTraffic":
        """An edit for each partition of the source, of pages of its own."""
        return WarmUpTraffic(warm_up_traffic(self._spec, self._traffic, partitions))

    def publisher(self, bootstrap: str, topic: str, stop: threading.Event, fate: ExpectedFate = stated) -> Publisher:
        """Not started. `stop` ends it before its next record; `fate` gives the expected outcome of an event."""
        stamp = received_now if self._spec.event_times == "when published" else as_generated
        return Publisher(self._traffic, topic, lambda: connect_producer(bootstrap), time.monotonic, stop, stamp, fate)

    def source_events(self, publisher: Publisher) -> list[SourceEvent]:
        """The published events, with the sent bytes and expected fates."""
        sent = zip(publisher.manifest().entries, publisher.sent(), publisher.sent_ms(), strict=True)
        return [
            SourceEvent(entry, record.key, record.value, sent_ms if self.has_event_time else None)
            for entry, record, sent_ms in sent
        ]


class WarmUpTraffic:
    """The traffic of a warm-up."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic

    def catalog(self) -> list[CatalogPage]:
        """The pages as the mock knows them."""
        return _catalog(self._traffic.pages)

    def publish(self, bootstrap: str, topic: str) -> dict[int, int]:
        """Publish the records; returns the offset in each partition. Raises StackError."""
        return publish_warm_up(self._traffic, topic, lambda: connect_producer(bootstrap))


def _catalog(pages: Iterable[GeneratedPage]) -> list[CatalogPage]:
    return [
        CatalogPage(
            wiki=page.wiki,
            domain=page.domain,
            page_id=page.page_id,
            namespace_id=page.namespace_id,
            title=page.title,
            # Of other pages an event may say a content model that the job filters: what they have is wikitext.
            content_model=page.content_model if page.content_model in CONTENT_MODELS else "wikitext",
            revisions=tuple(
                CatalogRevision(
                    rev_id=revision.rev_id,
                    parent_id=revision.parent_id,
                    timestamp=revision.timestamp,
                    text=revision.text,
                )
                for revision in page.revisions
            ),
        )
        for page in pages
    ]
