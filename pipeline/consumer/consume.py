"""Records in, events out, each once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import orjson

from pipeline.consumer.claims import Suppressed
from pipeline.consumer.delivery import Delivery
from pipeline.consumer.seen_events import SeenEvents
from pipeline.records.claim_check import Claim

Resolve = Callable[[Claim, str], bytes | Suppressed]


@dataclass
class Counts:
    """Of `records`, some are repeats, in either topic: of these, `differing` have other bytes than the first. `errors`
    are error events that stand for their event. The next two contradict the record that stands. `of_other_jobs` are
    error events that were passed over, and in no other count. `suppressed` are claim checks that a later event removed.
    """

    records: int = 0
    repeats: int = 0
    differing: int = 0
    claims: int = 0
    errors: int = 0
    errors_after_output: int = 0
    outputs_after_error: int = 0
    of_other_jobs: int = 0
    suppressed: int = 0

    def __str__(self) -> str:
        return (
            f"{self.records} records, {self.claims} claim checks resolved, {self.repeats} repeats removed "
            f"({self.differing} with other bytes), {self.errors} error events, conflicts removed: "
            f"{self.errors_after_output} error after output, {self.outputs_after_error} output after error"
            + (f"; {self.suppressed} claim checks suppressed" if self.suppressed else "")
            + (f"; {self.of_other_jobs} error events of other jobs passed over" if self.of_other_jobs else "")
        )


def once(
    deliveries: Iterable[Delivery], seen: SeenEvents, resolve: Resolve, counts: Counts
) -> Iterator[tuple[Delivery, bytes | Suppressed]]:
    """Each output that is the first record of its event, with its whole value, or with why it is gone. Raises what
    `resolve` raises.
    """
    for delivery in deliveries:
        counts.records += 1
        verdict = seen.see(delivery)
        if verdict == "contradicts":
            counts.errors_after_output += delivery.kind == "error"
            counts.outputs_after_error += delivery.kind == "output"
        elif verdict != "new":
            counts.repeats += 1
            counts.differing += verdict == "differs"
        elif delivery.kind == "error":
            counts.errors += 1
        elif delivery.claim is None:
            yield delivery, delivery.value
        else:
            payload = resolve(delivery.claim, delivery.place)
            counts.suppressed += isinstance(payload, Suppressed)
            counts.claims += not isinstance(payload, Suppressed)
            yield delivery, payload


def line(delivery: Delivery, value: bytes | Suppressed) -> bytes:
    """`{"id", "source": {topic, partition, offset}, "claim_check": key or null, "suppressed": scope or null,
    "suppresses": scope or null, "event": …}`, without a line's end. A suppressed event has no content.
    """
    source = delivery.source
    return orjson.dumps(
        {
            "id": delivery.id,
            "source": {"topic": source.topic, "partition": source.partition, "offset": source.offset},
            "claim_check": delivery.claim.key if delivery.claim else None,
            "suppressed": value.suppressed if isinstance(value, Suppressed) else None,
            "suppresses": delivery.suppresses.scope if delivery.suppresses else None,
            "event": orjson.Fragment(delivery.value if isinstance(value, Suppressed) else value),
        }
    )
