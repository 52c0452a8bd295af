"""A producer that notes what it is sent, and how much of it is acknowledged by then."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kafka.errors import KafkaTimeoutError

from pipeline.records.record import Record


@dataclass
class Sent:
    topic: str
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]
    acked: bool = False
    fails: bool = False

    def add_errback(self, errback: Callable[[Exception], None]) -> None:
        """Nothing that fails is waited for by more than one."""

    def get(self, timeout: float | None = None) -> None:
        if self.fails:
            raise KafkaTimeoutError
        self.acked = True


@dataclass
class NotingProducer:
    """`refuses` is a topic whose records are never acknowledged. `before` has what was unacknowledged at each send."""

    refuses: str = ""
    sent: list[Sent] = field(default_factory=list)
    before: list[int] = field(default_factory=list)

    def send(self, topic: str, *, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes]]) -> Any:
        self.before.append(sum(not one.acked for one in self.sent))
        self.sent.append(Sent(topic, key, value, headers, fails=topic == self.refuses))
        return self.sent[-1]

    def flush(self) -> None:
        """What is sent is on its way at once."""

    @property
    def records(self) -> list[Record]:
        """What it was sent, but for tombstones."""
        return [Record(one.topic, one.key, one.value, tuple(one.headers)) for one in self.sent if one.value is not None]
