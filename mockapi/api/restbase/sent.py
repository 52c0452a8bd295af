"""What every answer of RESTBase has around it."""

from mockapi.api.gateway import SET_BY_GATEWAY
from mockapi.server.reply import Body, Headers, Reply


def sent(status: int, own: Headers, body: Body, request_id: str) -> Reply:
    """An answer whose own headers are `own`; they win over those that are always set."""
    names = {name for name, _ in own}
    length = body.wire_bytes
    headers = (
        *own,
        *(one for one in SET_BY_GATEWAY if one[0] not in names),
        *(() if length is None else ((b"content-length", str(length).encode()),)),
        (b"server", b"restbase1042"),
        (b"x-request-id", request_id.encode("latin-1")),
    )
    return Reply(status, headers, body)
