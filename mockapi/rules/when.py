"""The half of a rule that says which requests it is for."""

from datetime import timedelta
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from mockapi.rules.duration import Duration, PositiveDuration
from mockapi.rules.share import Share
from mockapi.rules.strict import Strict

Method = Literal["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]


class Window(Strict):
    """A time since the first request to the wiki: `from` (default: that request) on, `for` so long (default: for ever).

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
        """Whether `at_s`, in seconds since the first request, lies within."""
        begin = self.from_.total_seconds()
        return begin <= at_s and (self.for_ is None or at_s < begin + self.for_.total_seconds())


class When(Strict):
    """What a request must be; what is not given does not matter. `path` is a shell glob over the decoded path,
    where `*` also crosses slashes; in `page` underscores are spaces.

    `share` is that share of all pages, drawn from seed and rule name: the same pages for every request and every
    revision, and those of a smaller share are among those of a larger one.
    """

    method: Method | None = None
    path: str | None = Field(default=None, pattern=r"^[/*]")
    wiki: str | None = None
    page: str | None = None
    revision: int | None = Field(default=None, ge=1)
    share: Share | None = None
    window: Window | None = None
