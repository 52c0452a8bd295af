"""A producer that notes what it is sent, and how much of it is acknowledged by then."""

from dataclasses import dataclass, field
from typing import Any

from kafka.errors import KafkaTimeoutError


@dataclass
class Sent:
    topic: str
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]
    acked: bool = False
    fails: bool = False

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
