"""The half of a rule that says which requests it is for."""

import ipaddress
from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from located_config.duration import Duration, PositiveDuration
from located_config.share import PositiveShare, Share
from mockapi.values.json_pointer import check_pointer
from mockapi.values.strict import Strict, spelled_out

Method = Literal["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]


class Window(Strict):
    """A time since the first request that the mock got, for whichever wiki, or since the rule came into force if that
    was later: `from` (default: then) on, `for` this time (default: for ever).

    Which requests come in within it depends on the clients' speed; so what a window decides is no function of the seed.
    """

    from_: Duration = Field(default=timedelta(0), alias="from", description="Begins after this time.")
    for_: PositiveDuration | None = Field(
        default=None, alias="for", description="Lasts for this time. Default: for ever."
    )

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

    exactly: int | None = Field(
        default=None, ge=1, strict=True, description="This number alone; `attempt: 1` is the same.", examples=[1]
    )
    at_least: int | None = Field(default=None, ge=1, strict=True, description="The first number.", examples=[3])
    at_most: int | None = Field(
        default=None, ge=1, strict=True, description="The last number. Default: there is none.", examples=[2]
    )
    every: int | None = Field(
        default=None,
        ge=2,
        strict=True,
        description="Of those numbers the first, and from there one in this number, for example `2` for every other.",
        examples=[2],
    )

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

    from_: Share | None = Field(
        default=None, alias="from", description="Probability at the beginning, where it changes with time."
    )
    to: Share = Field(description="Probability, or what it changes to.")
    over: PositiveDuration | None = Field(
        default=None, description="Time over which it changes evenly from `from` to `to`."
    )

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


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Parameter = Annotated[str | bool, BeforeValidator(_as_text, json_schema_input_type=str | bool | int)]
"""As `Header`; a whole number is its digits."""

_ParameterName = Annotated[str, Field(min_length=1)]


class Present(Strict):
    """Whether a JSON body has a value at the place, whatever the value is."""

    present: bool = Field(
        strict=True,
        description="`true`: there is a value, also `null`. `false`: there is none.",
        examples=[False],
    )


JsonValue = Annotated[str | bool | int | float | Present | None, Field(union_mode="smart")]
"""A shell glob over a text; a number, true, false or null that the value is; or only whether there is one."""


def _json_pointer(text: str) -> str:
    try:
        check_pointer(text)
    except ValueError as error:
        steps = text.strip("/.").replace(".", "/")
        raise PydanticCustomError(
            "json_pointer",
            "not a JSON pointer ({reason})",
            {"reason": str(error), "hint": f"write each step after a slash: /{steps or 'source/title'}"},
        ) from None
    return text


_JsonPointer = Annotated[str, AfterValidator(_json_pointer)]

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


Revisions = Annotated[tuple[Annotated[int, Field(ge=1, strict=True)], ...], Field(min_length=1)]

Entities = Annotated[tuple[Annotated[str, Field(pattern=r"^[QPL][1-9][0-9]*$")], ...], Field(min_length=1)]


class When(Strict):
    """What a request must be: all that is given must hold, and what is not given does not matter."""

    @property
    def chooses_by_client(self) -> bool:
        """Whether it selects requests by what clients do, so that another client may never make such a request."""
        by_client = (self.attempt, self.nth, self.header, self.query, self.form, self.json_, self.cookie, self.client)
        return any(condition is not None for condition in by_client)

    @property
    def selects_reads(self) -> bool:
        """Whether no request that it selects writes. HTML that is to be stashed counts as written."""
        actions = [parameters.get("action") for parameters in (self.query, self.form) if parameters]
        return "query" in actions or (self.method in {"GET", "HEAD"} and "stash" not in (self.query or {}))

    method: Method | None = Field(default=None, description="Its HTTP method is this one.", examples=["GET"])
    path: str | None = Field(
        default=None,
        pattern=r"^[/*]",
        description="Its decoded path fits this shell glob, in which `*` crosses slashes.",
        examples=["/w/rest.php/*"],
    )
    wiki: str | None = Field(
        default=None,
        description="It is for this wiki, by the database name of the host in its Host header.",
        examples=["enwiki"],
    )
    page: str | None = Field(default=None, description="It is about the page of this title.", examples=["Huge"])
    revision: Annotated[
        Revisions | None, BeforeValidator(_one_or_more, json_schema_input_type=int | list[int] | None)
    ] = Field(default=None, description="It is about this revision, or one of a list.", examples=[28674])
    entity: Annotated[Entities | None, BeforeValidator(_one_or_more, json_schema_input_type=str | list[str] | None)] = (
        Field(default=None, description="It is for the data of this entity, or one of a list.", examples=["Q42"])
    )
    header: dict[_HeaderName, Header] | None = Field(
        default=None,
        min_length=1,
        description="It has these headers: a shell glob over the value, or `true` and `false` for present and absent.",
        examples=[{"User-Agent": "bot/*"}],
    )
    query: dict[_ParameterName, Parameter] | None = Field(
        default=None,
        min_length=1,
        description="Its query string has these parameters, decoded: a shell glob over the value, or `true` and "
        "`false` for present and absent. Of a repeated one the last value counts.",
        examples=[{"action": "query", "maxlag": True}],
    )
    form: dict[_ParameterName, Parameter] | None = Field(
        default=None,
        min_length=1,
        description="Its body is a form (urlencoded or multipart) with these parameters, as for `query`. A body that "
        "is no form has none.",
        examples=[{"action": "edit", "title": "Huge"}],
    )
    json_: dict[_JsonPointer, JsonValue] | None = Field(
        default=None,
        alias="json",
        min_length=1,
        description="Its body is JSON and has these values, each at a JSON pointer (RFC 6901): a shell glob over a "
        "text, a number, `true`, `false` or `null` that it is, or `{present: false}` for none.",
        examples=[{"/latest/id": 28674, "/comment": "bot:*"}],
    )
    cookie: dict[_ParameterName, Parameter] | None = Field(
        default=None,
        min_length=1,
        description="It has these cookies, decoded, as for `query`. Of a repeated one the first value counts.",
        examples=[{"enwiki_session": True}],
    )
    client: Annotated[str, AfterValidator(_network)] | None = Field(
        default=None, description="It comes from this address or network.", examples=["10.0.0.0/8"]
    )
    attempt: Annotated[Numbers | None, spelled_out("exactly", int | Numbers | None)] = Field(
        default=None,
        description="It is this attempt for the same key. Attempts are counted by `X-Request-Id`; without one, by"
        " client and what is requested. Each wiki counts by itself.",
        examples=[{"at_most": 2}],
    )
    nth: Annotated[Numbers | None, spelled_out("exactly", int | Numbers | None)] = Field(
        default=None,
        description="It is this one of the requests to its wiki that fit the rest. Depends on the order of requests.",
        examples=[{"every": 10}],
    )
    probability: Annotated[Probability | None, spelled_out("to", Share | Probability | None)] = Field(
        default=None,
        description="It is drawn with this probability, each attempt by itself. One that changes depends on time.",
        examples=["10%"],
    )
    share: PositiveShare | None = Field(
        default=None,
        description="It is about one of this share of all pages, drawn by seed and rule: the same pages for every"
        " revision and request.",
    )
    share_of_revisions: PositiveShare | None = Field(
        default=None, description="It is about one of this share of all revisions, drawn by seed and rule."
    )
    window: Window | None = Field(
        default=None,
        description="It comes in this time, counted from the first request that the mock gets, for whichever wiki, or "
        "from when the rule became effective if that was later. Depends on time.",
        examples=[{"from": "3s", "for": "6s"}],
    )
