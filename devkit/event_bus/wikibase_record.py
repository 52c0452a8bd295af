"""Changes of the mock's feed as the events that MediaWiki publishes of a Wikibase, and canaries beside them.

    create, edit, move       eqiad.mediawiki.revision-create, also for a redirect
    delete                   eqiad.mediawiki.page-delete; eqiad.mediawiki.page-suppress where it suppresses
    undelete                 eqiad.mediawiki.page-undelete
    visibility               none of these

The topics of both data centres have canaries. A record has the time of its event, its `meta.dt`.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, get_args
from uuid import NAMESPACE_URL, uuid5

from devkit.event_bus.bus_record import BusRecord
from devkit.event_bus.mock_feed import FeedEntry
from devkit.event_bus.page_change_event import change_of_entry
from devkit.traffic.canary import CANARY_PAGE_ID, CANARY_WIKI
from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.life import format_sha1
from devkit.traffic.moments import RECEIVED_AFTER
from devkit.traffic.page_change import Change, kafka_key
from devkit.traffic.wikibase_event import event_of_stream, wikibase_canary
from devkit.traffic.wikibase_topics import DataCentre, WikibaseStream, topic_name, topics_of

_ACTIVE: Final[DataCentre] = "eqiad"
_STREAMS: Final = tuple(topics_of(get_args(DataCentre)))
WIKIBASE_TOPICS: Final = tuple(topic for topic, _ in _STREAMS)
"""All topics, those of the data centre that has the changes first."""
CHANGE_TOPICS: Final = tuple(topic for topic, _ in topics_of([_ACTIVE]))
"""Those that have changes."""


def wikibase_record(feed: str, entry: FeedEntry) -> BusRecord | None:
    """The record for a change; None for one that has none."""
    change = change_of_entry(feed, entry)
    stream = _stream_of(change)
    if stream is None:
        return None
    key, value = kafka_key(change.page.wiki, change.page.page_id), json_bytes(event_of_stream(stream, change))
    return BusRecord(topic_name(_ACTIVE, stream), key, value, _time_ms(entry.change.at))


def wikibase_canaries(when: datetime) -> Iterator[BusRecord]:
    """One for each topic, all of that time."""
    for topic, stream in _STREAMS:
        event_id = uuid5(NAMESPACE_URL, f"{topic}/{when.isoformat()}/canary")
        event = wikibase_canary(stream, when - RECEIVED_AFTER, event_id, format_sha1(event_id.int))
        yield BusRecord(topic, kafka_key(CANARY_WIKI, CANARY_PAGE_ID), json_bytes(event), _time_ms(when))


def _stream_of(change: Change) -> WikibaseStream | None:
    if change.kind == "delete":
        return "page-suppress" if change.is_suppressed else "page-delete"
    if change.kind == "visibility_change":
        return None
    return "page-undelete" if change.kind == "undelete" else "revision-create"


def _time_ms(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
