"""The rules: which requests (`when`) meet which faults (`do`).

    Rule = name + When(method, path, wiki, page, revision: all that are given must match) + Do(latency, status, body)

All rules that match a request apply, in their order; for the same fault the last one decides. Short forms are spelled
out before they are checked: `latency: 40ms` is `{fixed: 40ms}`, `status: 504` is `{code: 504}`.
"""

from collections import Counter
from datetime import timedelta
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from mockapi.pages.block import MAX_SIZE_BYTES, MIN_CHANGED_BYTES, MIN_SIZE_BYTES, most_changed_bytes
from mockapi.rules.duration import Duration
from mockapi.rules.size import Size

DEFAULT_CHANGED_BYTES: Final = 64 * 1024

Method = Literal["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]


class Strict(BaseModel):
    """Frozen; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class When(Strict):
    """What a request must be; what is not given does not matter. `path` is a shell glob over the decoded path,
    where `*` also crosses slashes; in `page` underscores are spaces.
    """

    method: Method | None = None
    path: str | None = Field(default=None, pattern=r"^[/*]")
    wiki: str | None = None
    page: str | None = None
    revision: int | None = Field(default=None, ge=1)


class Latency(Strict):
    """A wait before the answer's first byte: `fixed`, or log-normal by `p50` and `p99`, never above `cap`."""

    fixed: Duration | None = None
    p50: Duration | None = None
    p99: Duration | None = None
    cap: Duration | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.fixed is None) == (self.p50 is None) or (self.p50 is None) != (self.p99 is None):
            raise PydanticCustomError(
                "latency_form", "not a latency", {"hint": "either a duration, or both p50 and p99 with an optional cap"}
            )
        if self.fixed is not None and self.cap is not None:
            raise PydanticCustomError("latency_form", "cap without p50 and p99", {"hint": "a fixed wait needs no cap"})
        if self.p50 is not None and self.p99 is not None and not timedelta(0) < self.p50 <= self.p99:
            raise PydanticCustomError("latency_order", "p50 must be above 0 and at most p99", {"hint": "swap them?"})
        if self.p50 is not None and self.cap is not None and self.cap < self.p50:
            raise PydanticCustomError("latency_order", "cap is below p50", {"hint": "cap bounds the slow end"})
        return self


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
    """The faults of a rule, at least one."""

    latency: Annotated[Latency | None, _spelled_out("fixed", Duration | Latency | None)] = None
    status: Annotated[Status | None, _spelled_out("code", int | Status | None)] = None
    body: Body | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.latency is None and self.status is None and self.body is None:
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
