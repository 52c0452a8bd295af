"""What there is one of in an answer; faults of one rule that claim the same contradict each other."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Slot:
    """`reason` says why it cannot be claimed twice."""

    reason: str


ANSWER: Final = Slot("a request has one answer")
ENDING: Final = Slot("an answer ends in one way")
PACE: Final = Slot("a body has one pace")
LENGTH: Final = Slot("a chunked body has no Content-Length")
