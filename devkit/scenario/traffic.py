"""A scenario's traffic: generated once, published afresh for each arm, and known to the mock."""

import threading
import time

from devkit.observe.audit.audit import SourceEvent
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from devkit.traffic.publish import Publisher, connect_producer
from devkit.traffic.records import Traffic
from mockapi.catalog import CatalogPage, CatalogRevision


class ScenarioTraffic:
    """The same records for both arms."""

    def __init__(self, spec: TrafficSpec) -> None:
        self._traffic: Traffic = generate(spec)

    @property
    def count(self) -> int:
        return len(self._traffic.records)

    def catalog(self) -> list[CatalogPage]:
        """The pages as the mock knows them."""
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
            for page in self._traffic.pages
        ]

    def publisher(self, bootstrap: str, topic: str, stop: threading.Event) -> Publisher:
        return Publisher(self._traffic, topic, lambda: connect_producer(bootstrap), time.monotonic, stop)

    def source_events(self, publisher: Publisher) -> list[SourceEvent]:
        """What was published, with bytes and expected fates; the manifest is in the order of the records."""
        entries = publisher.manifest().entries
        records = self._traffic.records[: len(entries)]
        return [SourceEvent(entry, record.key, record.value) for entry, record in zip(entries, records, strict=True)]
