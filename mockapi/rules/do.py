"""The half of a rule that says what happens."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from mockapi.faults.body import Body
from mockapi.faults.capacity import Capacity
from mockapi.faults.charset import Charset
from mockapi.faults.clashes import check_clashes
from mockapi.faults.content_encoding import ContentEncoding
from mockapi.faults.content_length import ContentLength
from mockapi.faults.cut import Cut
from mockapi.faults.degradation import Degradation
from mockapi.faults.dribble import Dribble
from mockapi.faults.garbage import Garbage
from mockapi.faults.hidden import Hidden
from mockapi.faults.invalid_utf8 import InvalidUtf8
from mockapi.faults.keep_alive import KeepAliveEnd
from mockapi.faults.malformed_chunk import MalformedChunk
from mockapi.faults.rate_limit import RateLimit
from mockapi.faults.refuse import Refuse
from mockapi.faults.replica_lag import ReplicaLag
from mockapi.faults.status import Status
from mockapi.faults.truncate import Truncate
from mockapi.values.drawn_time import FiniteTime, Time
from mockapi.values.duration import Duration, PositiveDuration
from mockapi.values.short_form import spelled_out
from mockapi.values.size import Size
from mockapi.values.strict import Strict


class Do(Strict):
    """The faults of a rule, at least one; each key is that of a fault in `mockapi.faults.registry`.

    They are applied in this order, in which a request meets them.
    """

    rate_limit: RateLimit | None = None
    latency: Time | None = None
    degradation: Degradation | None = None
    latency_before_body: Time | None = None
    latency_through_body: Time | None = None
    parse: FiniteTime | None = None
    capacity: Annotated[Capacity | None, spelled_out("parses", int | Capacity | None)] = None
    gateway_timeout: PositiveDuration | None = None
    status: Annotated[Status | None, spelled_out("code", int | Status | None)] = None
    missing: Literal[True] | None = None
    hidden: Hidden | None = None
    replica_lag: ReplicaLag | None = None
    database_lag: FiniteTime | None = None
    parser_cache: Literal[True] | None = None
    body: Body | None = None
    content_length: Annotated[ContentLength | None, spelled_out("says", str | ContentLength | None)] = None
    content_encoding: Annotated[ContentEncoding | None, spelled_out("says", str | ContentEncoding | None)] = None
    charset: Annotated[Charset | None, spelled_out("says", str | Charset | None)] = None
    invalid_utf8: Annotated[InvalidUtf8 | None, spelled_out("bytes", int | InvalidUtf8 | None)] = None
    truncate: Annotated[Truncate | None, spelled_out("after", int | float | str | Truncate | None)] = None
    dribble: Dribble | None = None
    bandwidth: Size | None = Field(default=None, ge=1)
    refuse: Annotated[Refuse | None, spelled_out("for", Duration | Refuse | None)] = None
    hang: Literal[True] | None = None
    reset: Annotated[Cut | None, spelled_out("at", str | Cut | None)] = None
    close: Annotated[Cut | None, spelled_out("at", str | Cut | None)] = None
    malformed_chunk: Annotated[MalformedChunk | None, spelled_out("how", str | MalformedChunk | None)] = None
    garbage: Annotated[Garbage | None, spelled_out("at", str | Garbage | None)] = None
    keep_alive: Annotated[KeepAliveEnd | None, spelled_out("requests", int | KeepAliveEnd | None)] = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if all(fault is None for _, fault in self):
            raise PydanticCustomError("no_fault", "no fault", {"hint": f"at least one of {', '.join(Do.model_fields)}"})
        return self

    @model_validator(mode="after")
    def _compatible(self) -> Self:
        check_clashes({name: fault for name, fault in self if fault is not None})
        return self
