"""Publishes the changes of the mock's feed, each once, in order.

    position of each topic ──> feed after the lowest ──> record ──> answer ──> next record

What is promised: a topic has the record of each change once, in the feed's order, whatever ends this process, the mock
or the broker. After an error, as after a start, the bus asks the topic how far it has come. A record may be there twice
in one case: a broker takes a request that this process sent before its end only after the next process has read the
topic's end. Such a record has the same `meta.id`.

What is lost: changes that the mock no longer keeps, or that were made to a mock which has ended. Both are logged.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from devkit.event_bus.mock_feed import FeedEntry, FeedPage
from devkit.event_bus.streams import BusStream
from devkit.event_bus.topic_position import Headers, headers_of
from located_config.count import counted

WAIT_S = 5.0


class Feed(Protocol):
    """See `devkit.event_bus.mock_feed.MockFeed`."""

    def read(self, after: int, wait_s: float = 0) -> FeedPage:
        """Entries after `after`; waits up to `wait_s` seconds for one."""


class BusTopics(Protocol):
    """The topics of the bus. Every method raises StackError."""

    def last_published(self, topic: str, feed: str) -> int:
        """The newest change of the feed that the topic has, 0 for none."""

    def values(self, topic: str) -> Iterable[bytes]:
        """The values of all its records, partition by partition."""

    def publish(self, topic: str, key: bytes, value: bytes, headers: Headers) -> tuple[int, int]:
        """Returns partition and offset when all replicas have the record."""


@dataclass
class Published:
    """How far each topic has come in `feed`; a feed of the empty name is none yet."""

    feed: str = ""
    last: dict[str, int] = field(default_factory=dict)

    def lowest(self) -> int:
        """The change up to which all topics are complete."""
        return min(self.last.values(), default=0)


class Bus:
    """Follows one feed into the topics of the streams; `log` gets lines."""

    def __init__(
        self, feed: Feed, topics: BusTopics, streams: tuple[BusStream, ...], log: Callable[[str], None]
    ) -> None:
        self._feed, self._topics, self._streams, self._log = feed, topics, streams, log
        self.published = Published()

    def locate(self) -> None:
        """Asks the topics how far they have come: at the start, and after each error. Raises StackError."""
        feed = self._feed.read(after=0).feed
        topics = [stream.topic for stream in self._streams]
        self.published = Published(feed, {topic: self._topics.last_published(topic, feed) for topic in topics})
        for stream in self._streams:
            if stream.resume is not None:
                stream.resume(self._topics.values(stream.topic))
        self._log(f"follows feed {feed} from change {self.published.lowest() + 1} on")

    def step(self, wait_s: float = WAIT_S) -> int:
        """Publishes what came after the last step; waits up to `wait_s` seconds for it. Returns the number of changes.
        Raises StackError; then `locate` comes next.
        """
        after = self.published.lowest()
        page = self._feed.read(after, wait_s)
        if page.feed != self.published.feed:
            self._log(f"the mock was started again: feed {page.feed} follows {self.published.feed}")
            self.locate()
            return 0
        if page.first > after + 1:
            self._log(f"lost {counted(page.first - after - 1, 'change')} that the mock no longer keeps")
        for entry in page.entries:
            for stream in self._streams:
                self._publish(stream, entry)
        return len(page.entries)

    def _publish(self, stream: BusStream, entry: FeedEntry) -> None:
        last: Mapping[str, int] = self.published.last
        if entry.n <= last[stream.topic]:
            return
        record = stream.record_of(self.published.feed, entry)
        if record is not None:
            key, value = record
            headers = headers_of(self.published.feed, entry.n)
            partition, offset = self._topics.publish(stream.topic, key, value, headers)
            change = entry.change
            self._log(
                f"change {entry.n}: {change.kind} of {change.page.title} on {change.wiki}, revision "
                f"{change.revision.rev_id}, is {stream.topic}/{partition}/{offset}"
            )
        self.published.last[stream.topic] = entry.n
