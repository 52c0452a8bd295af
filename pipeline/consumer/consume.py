"""Records in, events out, each once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import orjson

from pipeline.consumer.delivery import Delivery
from pipeline.consumer.remembered import Remembered
from pipeline.records.claim_check import Claim

Resolve = Callable[[Claim, str], bytes]


@dataclass
class Counts:
    """`differing` repeats had the id of an earlier record and other bytes, which a job never does."""

    records: int = 0
    repeats: int = 0
    differing: int = 0
    claims: int = 0


def once(
    deliveries: Iterable[Delivery], remembered: Remembered, resolve: Resolve, counts: Counts
) -> Iterator[tuple[Delivery, bytes]]:
    """Each delivery that is new, with the whole value of its event. Raises what `resolve` raises."""
    for delivery in deliveries:
        counts.records += 1
        seen = remembered.see(delivery.id, delivery.fingerprint)
        if seen != "new":
            counts.repeats += 1
            counts.differing += seen == "differs"
            continue
        if delivery.claim is None:
            yield delivery, delivery.value
        else:
            counts.claims += 1
            yield delivery, resolve(delivery.claim, delivery.place)


def line(delivery: Delivery, value: bytes) -> bytes:
    """`{"id", "source": {topic, partition, offset}, "claim_check": key or null, "event": …}`, without a line's end."""
    source = delivery.source
    return orjson.dumps(
        {
            "id": delivery.id,
            "source": {"topic": source.topic, "partition": source.partition, "offset": source.offset},
            "claim_check": delivery.claim.key if delivery.claim else None,
            "event": orjson.Fragment(value),
        }
    )
