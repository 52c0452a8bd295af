"""Records of both topics as the consumer reads them."""

import orjson

from pipeline.consumer.delivery import Delivery, read, read_error
from pipeline.records.record import Headers, Position


def an_output(number: int, *, headers: Headers = (), note: str = "", offset: int | None = None) -> Delivery:
    """Of the event with this id, which stands at the same `offset` of the source unless it was sent there again."""
    source = Position("source", 0, number if offset is None else offset)
    value = orjson.dumps({"meta": {"id": str(number)}, "note": note})
    return read(f"out/0/{number}", value, source.headers() + headers)


def an_error(number: int, *, note: str = "") -> Delivery:
    """Of the event at this offset of the source."""
    value = orjson.dumps({"meta": {"id": f"error of {number}"}, "emitter_id": "a-job", "message": note})
    found = read_error(f"error/0/{number}", value, Position("source", 0, number).headers(), job="a-job")
    assert found
    return found
