"""Records of both topics as the consumer reads them."""

import uuid

import orjson

from pipeline.consumer.delivery import Delivery, read, read_error
from pipeline.records.event_id import event_id_headers
from pipeline.records.record import Headers, Position


def an_output(
    number: int,
    *,
    headers: Headers = (),
    note: str = "",
    offset: int | None = None,
    has_id: bool = True,
    output_id: str | None = None,
) -> Delivery:
    """Of the event with this number, which stands at the same `offset` of the source unless it says otherwise."""
    value = orjson.dumps({"meta": {"id": output_id or str(number)}, "note": note})
    return read(f"out/0/{number}", value, _source(number, offset, has_id=has_id) + headers)


def an_error(number: int, *, note: str = "", offset: int | None = None, has_id: bool = True) -> Delivery:
    """Likewise."""
    value = orjson.dumps({"meta": {"id": f"error of {number}"}, "emitter_id": "a-job", "message": note})
    found = read_error(f"error/0/{number}", value, _source(number, offset, has_id=has_id), job="a-job")
    assert found
    return found


def _source(number: int, offset: int | None, *, has_id: bool) -> Headers:
    position = Position("source", 0, number if offset is None else offset)
    return position.headers() + event_id_headers(str(uuid.UUID(int=number)) if has_id else None)
