"""What is said where the bare connection cannot be reached: under another server than the mock's own."""

from typing import Final

from mockapi.server.delivery import Delivery
from mockapi.server.message import HttpMessage, as_it_is
from mockapi.server.reply import Reply

_WORDS: Final = (
    b"a fault of this rule needs the bare connection; run the mock by `python -m mockapi`, not under ASGI alone\n"
)

UNABLE: Final = as_it_is(
    Reply.of(501, ((b"content-type", b"text/plain"), (b"content-length", str(len(_WORDS)).encode())), _WORDS),
    head_only=False,
)


def needs_wire(message: HttpMessage, delivery: Delivery) -> bool:
    """Whether ASGI cannot send `message` in the way of `delivery`."""
    ends_silently = delivery.keep_alive is not None and not delivery.keep_alive.announced
    return not message.well_formed or ends_silently or delivery.hang is not None
