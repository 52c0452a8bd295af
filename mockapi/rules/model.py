"""The rules: which requests (`when`) meet which faults (`do`).

    Rule = name + When(method, path, wiki, page, revision, share, window: all that are given must match)
                + Do(latency, status, body, parse, capacity, gateway_timeout)

All rules that match a request apply, in their order; for the same fault the last one decides. Short forms are spelled
out before they are checked: `latency: 40ms` is `{fixed: 40ms}`, `status: 504` is `{code: 504}`, `capacity: 4` is
`{parses: 4}`.
"""

from collections import Counter
from datetime import timedelta
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from mockapi.pages.block import MAX_SIZE_BYTES, MIN_CHANGED_BYTES, MIN_SIZE_BYTES, most_changed_bytes
from mockapi.rules.drawn_time import DrawnTime
from mockapi.rules.duration import Duration, PositiveDuration
from mockapi.rules.size import Size
from mockapi.rules.strict import Strict
from mockapi.rules.when import When

DEFAULT_CHANGED_BYTES: Final = 64 * 1024


class Capacity(Strict):
    """How many renders may be under way at once among all requests that meet the rule; the others queue.

    The queue is as long as it has to be, or holds at most `queue`; who finds it full gets `overflow` at once.
    """

    parses: int = Field(ge=1, strict=True)
    queue: int | None = Field(default=None, ge=0, strict=True)
    overflow: Literal[503, 429] = 503


class Status(Strict):
    """An answer that is not the page. Without `body` the words are those of the part that gives such an answer in
    production: a proxy for 502, 503 and 504, the gateway for 429, MediaWiki for the rest.
    """

    code: int = Field(ge=400, le=599)
    body: str | None = None
    retry_after: Duration | None = None

    @model_validator(mode="after")
    def _whole_seconds(self) -> Self:
        if self.retry_after is not None and self.retry_after % timedelta(seconds=1):
            raise PydanticCustomError(
                "retry_after", "retry_after is not in whole seconds", {"hint": "the header has no fractions: 1s, 2m"}
            )
        return self


class Body(Strict):
    """Another body for a revision that exists.

    `size`: the whole document has exactly so many bytes. Revision and parent then differ in `changed_bytes` in the
    middle (default: 64 KiB, less in a document too small for that). `encoding: identity` ignores the client's
    Accept-Encoding; `gzip`, which is also what happens without a rule, compresses for a client that accepts it.
    """

    size: Size | None = Field(default=None, ge=MIN_SIZE_BYTES, le=MAX_SIZE_BYTES)
    changed: Literal["one block"] = "one block"
    changed_bytes: Size | None = Field(default=None, ge=MIN_CHANGED_BYTES)
    encoding: Literal["gzip", "identity"] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.size is None and self.encoding is None:
            raise PydanticCustomError("body_form", "body without effect", {"hint": "give size, encoding or both"})
        if self.changed_bytes is None:
            return self
        if self.size is None:
            raise PydanticCustomError("body_form", "changed_bytes without size", {"hint": "give size, such as 20MiB"})
        if self.changed_bytes > most_changed_bytes(self.size):
            raise PydanticCustomError(
                "changed_bytes",
                "changed_bytes {changed} does not fit into a document of {size} bytes",
                {
                    "changed": int(self.changed_bytes),
                    "size": int(self.size),
                    "hint": f"at most {most_changed_bytes(self.size)} bytes",
                },
            )
        return self

    @property
    def block_bytes(self) -> int:
        """How much a revision and its parent differ in, in bytes of either; meaningful only with `size`."""
        most = most_changed_bytes(self.size) if self.size is not None else 0
        return min(self.changed_bytes or DEFAULT_CHANGED_BYTES, most)


def _spelled_out(key: str, forms: object) -> BeforeValidator:
    """Turns the short form of a fault into the long one under `key`; a mapping, a model and None stay as they are.

    `forms` is the type of all that may be written, for the JSON schema.
    """
    return BeforeValidator(
        lambda value: value if value is None or isinstance(value, dict | Strict) else {key: value},
        json_schema_input_type=forms,
    )


class Do(Strict):
    """The faults of a rule, at least one.

    `latency` holds back the answer; `parse` is the time for which a render holds the wiki's parser, which `capacity`
    bounds. `gateway_timeout` is when a proxy in front, counting from the request, answers 504 in place of the wiki.
    """

    latency: Annotated[DrawnTime | None, _spelled_out("fixed", Duration | DrawnTime | None)] = None
    status: Annotated[Status | None, _spelled_out("code", int | Status | None)] = None
    body: Body | None = None
    parse: Annotated[DrawnTime | None, _spelled_out("fixed", Duration | DrawnTime | None)] = None
    capacity: Annotated[Capacity | None, _spelled_out("parses", int | Capacity | None)] = None
    gateway_timeout: PositiveDuration | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if all(fault is None for _, fault in self):
            raise PydanticCustomError("no_fault", "no fault", {"hint": f"at least one of {', '.join(Do.model_fields)}"})
        return self


class Rule(Strict):
    """A named pair of `when` and `do`; the journal and the draws refer to it by its name."""

    name: str = Field(min_length=1)
    when: When = When()
    do: Do


def _unique_names(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    repeated = [name for name, count in Counter(rule.name for rule in rules).items() if count > 1]
    if repeated:
        raise PydanticCustomError(
            "duplicate_rule",
            "rule name {name} is there twice",
            {"name": repr(repeated[0]), "hint": "the journal counts by name, so give each rule its own"},
        )
    return rules


Rules = Annotated[tuple[Rule, ...], AfterValidator(_unique_names)]
"""All rules of the mock, in the order in which they apply."""
