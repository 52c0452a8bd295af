"""Which ledger a start may take: the one that the job's checkpoint names, unless an operator says otherwise.

    start                      no topic     topic of another id     it holds deferred events
    --new                      made         —                       refused
    a restart                  refused      refused                 kept
    … and --adopt-ledger       refused      taken                   kept
    … and --discard-ledger     made         taken                   given up, without an error event

A topic that was deleted, or another one under the name, would be an empty ledger: events that are committed and were
deferred would be lost. One of another job, or of an earlier source topic, would make new events at the offsets that it
holds count as deferred, and they would be dropped.
"""

from dataclasses import dataclass
from typing import Literal

from pipeline.errors import RefusedError

LedgerWish = Literal["adopt", "discard"]

_CHOICES = (
    "--adopt-ledger takes the one that is there, with what it holds; --discard-ledger begins with an empty one, and "
    "what was deferred is lost"
)


@dataclass(frozen=True, slots=True)
class LedgerMark:
    """A ledger as a checkpoint remembers it: its topic, Kafka's id of that, None where the brokers report none, and the
    epoch under which it was taken, of which the ledger holds the marker from then on.
    """

    topic: str
    id: str | None
    epoch: int


@dataclass(frozen=True, slots=True)
class LedgerStart:
    """What a start may do: create a `missing` topic, and handle the `entries` that it finds.

    `known` is the ledger of the checkpoint, None where it names none or another one is wanted.
    """

    known: LedgerMark | None = None
    missing: Literal["make", "refuse"] = "make"
    entries: Literal["keep", "refuse", "discard"] = "keep"

    def absent(self, topic: str, bootstrap: str) -> RefusedError:
        """Why the job does not begin without the topic."""
        return RefusedError(
            f"ledger topic {topic} at {bootstrap} is not there, and with it what the job has deferred",
            hint="was it deleted, or is deferral.topic another than before? Name the one of this checkpoint; "
            "--discard-ledger begins with an empty one, and what was deferred is lost",
        )

    def require_id(self, topic: str, topic_id: str | None) -> None:
        """Raises RefusedError for another topic than that of the checkpoint."""
        known = self.known
        if known is None or (topic == known.topic and topic_id == known.id):
            return
        if topic == known.topic and None in (topic_id, known.id):
            return
        described = f"{topic} (id {topic_id})"
        raise RefusedError(
            f"ledger topic {described} is not the one of this checkpoint, {known.topic} (id {known.id})",
            hint=f"was it made again, or deferral.topic renamed? {_CHOICES}",
        )

    def require_epoch(self, topic: str, highest: int) -> None:
        """Raises RefusedError for a topic that has lost what the job wrote when it took it."""
        if self.known is not None and highest < self.known.epoch:
            raise RefusedError(
                f"ledger topic {topic} knows no epoch after {highest}, and the job began its epoch {self.known.epoch} "
                "there: it has lost records",
                hint=f"were its records deleted? {_CHOICES}",
            )

    def require_empty(self, topic: str, deferred: int) -> None:
        """Raises RefusedError when a new job finds another's deferred events."""
        if deferred and self.entries == "refuse":
            raise RefusedError(
                f"ledger topic {topic} holds {deferred} deferred events, of another job or of an earlier checkpoint",
                hint="name another deferral.topic; or --adopt-ledger processes them, when they are of this source; or "
                "--discard-ledger gives them up",
            )


def ledger_start(*, new: bool, known: LedgerMark | None, wish: LedgerWish | None) -> LedgerStart:
    """The rules for a start, from its kind, the checkpoint's mark and the operator's wish."""
    if wish == "discard":
        return LedgerStart(missing="make", entries="discard")
    if wish == "adopt":
        return LedgerStart(missing="refuse")
    if new:
        return LedgerStart(missing="make", entries="refuse")
    return LedgerStart(known, missing="refuse")
