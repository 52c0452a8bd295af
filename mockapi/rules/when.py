"""The half of a rule that says which requests it is for."""

import ipaddress
from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from located_config.duration import Duration, PositiveDuration
from located_config.share import PositiveShare, Share
from mockapi.values.short_form import spelled_out
from mockapi.values.strict import Strict

Method = Literal["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]


class Window(Strict):
    """A time since the first request to the wiki, or since the rule came into force if that was later: `from` (default:
    then) on, `for` this time (default: for ever).

    Which requests come in within it depends on the clients' speed; so what a window decides is no function of the seed.
    """

    from_: Duration = Field(default=timedelta(0), alias="from")
    for_: PositiveDuration | None = Field(default=None, alias="for")

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if not self.from_ and self.for_ is None:
            raise PydanticCustomError("window", "window without bounds", {"hint": "give from, for or both"})
        return self

    def holds(self, at_s: float) -> bool:
        """Whether `at_s`, in seconds since then, lies within."""
        begin = self.from_.total_seconds()
        return begin <= at_s and (self.for_ is None or at_s < begin + self.for_.total_seconds())


class Numbers(Strict):
    """Which of the numbers from 1 on: from `at_least` (default: 1) to `at_most` (default: no end), and of those the
    first and then each `every`-th. A bare number is that one alone.
    """

    exactly: int | None = Field(default=None, ge=1, strict=True)
    at_least: int | None = Field(default=None, ge=1, strict=True)
    at_most: int | None = Field(default=None, ge=1, strict=True)
    every: int | None = Field(default=None, ge=2, strict=True)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if all(bound is None for _, bound in self):
            raise PydanticCustomError("numbers", "no number", {"hint": "a number, at_least, at_most or every"})
        if self.exactly is not None and not (self.at_least is self.at_most is self.every is None):
            raise PydanticCustomError("numbers", "exactly with another bound", {"hint": "give one of them"})
        if self.at_most is not None and self.at_most < (self.at_least or 1):
            raise PydanticCustomError("numbers", "at_most is below at_least", {"hint": "swap them?"})
        return self

    def hold(self, number: int) -> bool:
        """Whether `number` is one of them."""
        if self.exactly is not None:
            return number == self.exactly
        first = self.at_least or 1
        return (
            first <= number
            and (self.at_most is None or number <= self.at_most)
            and (self.every is None or (number - first) % self.every == 0)
        )


class Probability(Strict):
    """`to`, for each request and attempt on its own; or rising (or falling) evenly `from` that share to `to` within
    `over`, counted from when a window would begin, or from where the rule's window does.
    """

    from_: Share | None = Field(default=None, alias="from")
    to: Share
    over: PositiveDuration | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.from_ is None) != (self.over is None):
            raise PydanticCustomError("probability", "from and over go together", {"hint": "give both or neither"})
        if not self.to and not self.from_:
            raise PydanticCustomError("probability", "never true", {"hint": "above 0%, such as 10%"})
        return self

    def at(self, elapsed_s: float) -> float:
        """The probability, in 0 to 1, this number of seconds after the beginning."""
        if self.from_ is None or self.over is None:
            return self.to
        way = min(1.0, max(0.0, elapsed_s / self.over.total_seconds()))
        return self.from_ + (self.to - self.from_) * way


Header = str | bool
"""A shell glob over the value; true or false for whether it is there at all."""

_HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]


def _network(text: str) -> str:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        raise PydanticCustomError(
            "network", "not an address", {"hint": "an address such as 127.0.0.1, or a network such as 10.0.0.0/8"}
        ) from None
    return text


def _one_or_more(value: object) -> object:
    return value if value is None or isinstance(value, list | tuple) else (value,)


Revisions = Annotated[
    tuple[Annotated[int, Field(ge=1, strict=True)], ...],
    Field(min_length=1),
]


class When(Strict):
    """What a request must be; what is not given does not matter. `path` is a shell glob over the decoded path,
    where `*` also crosses slashes; in `page` underscores are spaces; `revision` is one or a list.

    `share` is that share of all pages, drawn from seed and rule name: the same pages for every request and every
    revision, and those of a smaller share are among those of a larger one; `share_of_revisions` likewise. `probability`
    is drawn for each attempt. `attempt` counts the requests for the same key, `nth` those that fit all the rest.
    """

    method: Method | None = None
    path: str | None = Field(default=None, pattern=r"^[/*]")
    wiki: str | None = None
    page: str | None = None
    revision: Annotated[
        Revisions | None,
        BeforeValidator(_one_or_more, json_schema_input_type=int | list[int] | None),
    ] = None
    header: dict[_HeaderName, Header] | None = Field(default=None, min_length=1)
    client: Annotated[str, AfterValidator(_network)] | None = None
    attempt: Annotated[Numbers | None, spelled_out("exactly", int | Numbers | None)] = None
    nth: Annotated[Numbers | None, spelled_out("exactly", int | Numbers | None)] = None
    probability: Annotated[Probability | None, spelled_out("to", Share | Probability | None)] = None
    share: PositiveShare | None = None
    share_of_revisions: PositiveShare | None = None
    window: Window | None = None
