"""The rules: which requests (`when`) meet which faults (`do`).

    Rule = name + When(what the request must be: all that is given must match) + Do(faults)

All rules that match a request apply, in their order; for the same fault the last one decides.
"""

from collections import Counter
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from mockapi.faults import refuse
from mockapi.rules.do import Do
from mockapi.rules.duration import PositiveDuration
from mockapi.rules.strict import Strict
from mockapi.rules.when import When


class Rule(Strict):
    """A named pair of `when` and `do`; the journal and the draws refer to it by its name.

    `ttl` counts from when the rule came into force: then it is over, so that a forgotten fault ends. `times` is how
    often it fires at most. With `enabled: false` it is kept and does nothing.
    """

    name: str = Field(min_length=1)
    when: When = When()
    do: Do
    ttl: PositiveDuration | None = None
    times: int | None = Field(default=None, ge=1, strict=True)
    enabled: bool = True

    @model_validator(mode="after")
    def _refuses_all_and_ends(self) -> Self:
        refuse.check(self)
        return self


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
