"""Publishes the changes of the mock's feed, each once, in order.

    position of the topics ──> feed after it ──> record ──> answer ──> next record
                               feed at its end ──> canaries of the time before it was read

What is promised: the topics have the record of each change once, in the feed's order, whatever ends this process, the
mock or the broker. After an error, as after a start, the bus asks the topics how far it has come. A record may be there
twice in one case: a broker takes a request that this process sent before its end only after the next process has read
the topic's end. Such a record has the same `meta.id`. When a topic has a canary, the topics have all changes before it.

What is lost: changes that the mock no longer keeps, or that were made to a mock which has ended. Both are logged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from devkit.event_bus.bus_record import BusRecord
from devkit.event_bus.mock_feed import FeedEntry, FeedPage
from devkit.event_bus.streams import BusStream
from devkit.event_bus.topic_position import Headers, headers_of
from located_config.count import counted

WAIT_S: Final = 5.0
CANARY_EVERY: Final = timedelta(seconds=2)
"""In production it is an hour. It is shorter than `source.idle_after`, so that no topic is idle while the bus runs."""


class Feed(Protocol):
    """See `devkit.event_bus.mock_feed.MockFeed`."""

    def read(self, after: int, wait_s: float = 0) -> FeedPage:
        """Entries after `after`; waits up to `wait_s` seconds for one."""


class BusTopics(Protocol):
    """The topics of the bus. Every method raises StackError."""

    def last_published(self, topics: tuple[str, ...], feed: str) -> int:
        """The newest change of the feed that the topics have, 0 for none."""

    def publish(self, record: BusRecord, headers: Headers) -> tuple[int, int]:
        """Returns partition and offset when all replicas have the record."""


@dataclass
class Published:
    """The last change of `feed` that the topics have; a feed of the empty name is none yet."""

    feed: str = ""
    last: int = 0


def _now() -> datetime:
    return datetime.now(UTC)


class Bus:
    """Follows one feed into the topics of the stream; `log` gets lines."""

    def __init__(
        self,
        feed: Feed,
        topics: BusTopics,
        stream: BusStream,
        log: Callable[[str], None],
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._feed, self._topics, self._stream, self._log, self._clock = feed, topics, stream, log, clock
        self._canaries_due = clock()
        self.published = Published()

    def locate(self) -> None:
        """Asks the topics how far they have come: at the start, and after each error. Raises StackError."""
        feed = self._feed.read(after=0).feed
        self.published = Published(feed, self._topics.last_published(self._stream.topics, feed))
        self._log(f"follows feed {feed} from change {self.published.last + 1} on")

    def step(self, wait_s: float = WAIT_S) -> int:
        """Publishes what came after the last step; waits up to `wait_s` seconds for it. Returns the number of changes.
        Raises StackError; then `locate` comes next.
        """
        after = self.published.last
        page = self._feed.read(after, wait_s)
        if page.feed != self.published.feed:
            self._log(f"the mock was started again: feed {page.feed} follows {self.published.feed}")
            self.locate()
            return self.step(wait_s)
        if page.first > after + 1:
            self._log(f"lost {counted(page.first - after - 1, 'change')} that the mock no longer keeps")
        for entry in page.entries:
            self._publish(entry)
        return len(page.entries)

    def turn(self) -> None:
        """Publishes canaries where they are due, and what comes before the next ones are. Raises as `step` does."""
        now = self._clock()
        if now >= self._canaries_due:
            while self.step(wait_s=0):
                pass
            for canary in self._stream.canaries(now):
                self._topics.publish(canary, headers_of(self.published.feed, self.published.last))
            self._canaries_due = now + CANARY_EVERY
        self.step(min(WAIT_S, max(0.0, (self._canaries_due - self._clock()).total_seconds())))

    def _publish(self, entry: FeedEntry) -> None:
        record = self._stream.record_of(self.published.feed, entry)
        if record is not None:
            partition, offset = self._topics.publish(record, headers_of(self.published.feed, entry.n))
            change = entry.change
            self._log(
                f"change {entry.n}: {change.kind} of {change.page.title} on {change.wiki}, revision "
                f"{change.revision.rev_id}, is {record.topic}/{partition}/{offset}"
            )
        self.published.last = entry.n
