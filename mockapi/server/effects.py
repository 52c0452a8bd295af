"""Which faults of body and connection changed an answer, by what was sent of it.

A fault can match a request and change nothing: a charset that the answer has anyway, a body that is shorter than the
place of its cut. Then it has not acted, whatever its rule says.
"""

from datetime import timedelta

from mockapi.server.delivery import Delivery, Effect
from mockapi.server.message import HttpMessage
from mockapi.server.pace import pace_of
from mockapi.server.reply import Reply
from mockapi.server.send import Sent


def effects(delivery: Delivery, reply: Reply, message: HttpMessage, sent: Sent, *, number: int) -> tuple[Effect, ...]:
    """What `delivery` changed of `reply`, whose `message` was the `number`-th answer of its connection."""
    found = []
    if delivery.ending is not None and not sent.completed:
        found.append(Effect.ENDING)
    if delivery.keep_alive is not None and number >= delivery.keep_alive.answers:
        found.append(Effect.KEEP_ALIVE)
    if sent.reply is None:
        return tuple(found)
    for effect, asked, header in (
        (Effect.CHARSET, delivery.charset, b"content-type"),
        (Effect.CODING, delivery.coding, b"content-encoding"),
        (Effect.LENGTH, delivery.length, b"content-length"),
    ):
        if asked is not None and message.reply.header(header) != reply.header(header):
            found.append(effect)
    if not message.bodiless:
        found += _of_body(delivery, reply)
    return tuple(found)


def _of_body(delivery: Delivery, reply: Reply) -> list[Effect]:
    found = []
    if delivery.broken is not None and reply.body.decoded_bytes:
        found.append(Effect.TEXT)
    if delivery.before_body != timedelta(0):
        found.append(Effect.WAIT)
    if _is_slowed(delivery, reply.body.decoded_bytes if reply.body.wire_bytes is None else reply.body.wire_bytes):
        found.append(Effect.PACE)
    return found


def _is_slowed(delivery: Delivery, total: int) -> bool:
    if delivery.through_body is None:
        return total > 0
    pace = pace_of(delivery, total)
    return pace is not None and total > (pace.step_bytes if pace.at_once else 0)
