"""A scenario's traffic: generated once, published afresh for each arm, and known to the mock."""

import threading
import time
from collections.abc import Iterable

from devkit.observe.audit.source_event import SourceEvent
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from devkit.traffic.publish import Publisher, connect_producer
from devkit.traffic.records import GeneratedPage, Traffic
from devkit.traffic.warm_up import publish_warm_up, warm_up_traffic
from mockapi.catalog import CatalogPage, CatalogRevision


class ScenarioTraffic:
    """The same records for both arms."""

    def __init__(self, spec: TrafficSpec) -> None:
        self._spec = spec
        self._traffic: Traffic = generate(spec)

    @property
    def count(self) -> int:
        return len(self._traffic.records)

    def catalog(self) -> list[CatalogPage]:
        """The pages as the mock knows them."""
        return _catalog(self._traffic.pages)

    def warm_up(self, partitions: int) -> "WarmUpTraffic":
        """An edit for each partition of the source, of pages of its own."""
        return WarmUpTraffic(warm_up_traffic(self._spec, self._traffic, partitions))

    def publisher(self, bootstrap: str, topic: str, stop: threading.Event) -> Publisher:
        return Publisher(self._traffic, topic, lambda: connect_producer(bootstrap), time.monotonic, stop)

    def source_events(self, publisher: Publisher) -> list[SourceEvent]:
        """What was published, with bytes and expected fates; the manifest is in the order of the records."""
        entries = publisher.manifest().entries
        records = self._traffic.records[: len(entries)]
        return [SourceEvent(entry, record.key, record.value) for entry, record in zip(entries, records, strict=True)]


class WarmUpTraffic:
    """What a program is warmed up with."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic

    def catalog(self) -> list[CatalogPage]:
        """The pages as the mock knows them."""
        return _catalog(self._traffic.pages)

    def publish(self, bootstrap: str, topic: str) -> dict[int, int]:
        """Where they landed: the offset in each partition. Raises StackError."""
        return publish_warm_up(self._traffic, topic, lambda: connect_producer(bootstrap))


def _catalog(pages: Iterable[GeneratedPage]) -> list[CatalogPage]:
    return [
        CatalogPage(
            wiki=page.wiki,
            domain=page.domain,
            page_id=page.page_id,
            namespace_id=page.namespace_id,
            title=page.title,
            revisions=tuple(
                CatalogRevision(rev_id=revision.rev_id, parent_id=revision.parent_id, timestamp=revision.timestamp)
                for revision in page.revisions
            ),
        )
        for page in pages
    ]
