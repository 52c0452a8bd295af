"""The rules: which requests (`when`) meet which faults (`do`).

    Rule = name + When(what the request must be: all that is given must match) + Do(faults)

All rules that match a request apply, in their order; for the same fault the last one decides.
"""

import unicodedata
from collections import Counter
from typing import Annotated, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from located_config.duration import PositiveDuration
from mockapi.faults.fault import Terms
from mockapi.rules.do import Faults
from mockapi.rules.when import When
from mockapi.values.strict import Strict


def _in_a_path(name: str) -> str:
    if name in {".", ".."} or any(unicodedata.category(character) == "Cc" for character in name):
        hint = "no control characters, and neither . nor ..: a rule is asked for at /__mock/rules/NAME"
        raise PydanticCustomError("rule_name", "not a name for a rule", {"hint": hint})
    return name


class Rule(Strict):
    """A named pair of `when` and `do`; the journal and the draws refer to it by its name."""

    name: Annotated[str, Field(min_length=1), AfterValidator(_in_a_path)] = Field(
        description="Name of the rule in the journal, the draws, the metrics and the verdict; each needs its own.",
        examples=["slow pages"],
    )
    when: When = Field(
        default=When(),
        description="Which requests the rule matches: all that is given must hold. Default: every request.",
    )
    do: Faults = Field(
        description="Faults of the mock that a matched request meets, by name.",
        examples=[{"latency": "5s"}],
    )
    ttl: PositiveDuration | None = Field(
        default=None, description="The rule ends after this time from when it became effective. Default: it never does."
    )
    times: int | None = Field(
        default=None,
        ge=1,
        strict=True,
        description="The rule ends after it has fired this number of times. Default: it never does.",
        examples=[3],
    )
    enabled: bool = Field(default=True, description="`false` keeps the rule, and it does nothing.")

    @model_validator(mode="after")
    def _on_terms(self) -> Self:
        self.do.check_terms(Terms(chooses=self.when != When() or self.times is not None, ttl=self.ttl))
        return self


R = TypeVar("R", bound=Rule)


def unique_names(rules: tuple[R, ...]) -> tuple[R, ...]:
    """The rules. Raises PydanticCustomError where two have one name."""
    repeated = [name for name, count in Counter(rule.name for rule in rules).items() if count > 1]
    if repeated:
        raise PydanticCustomError(
            "duplicate_rule",
            "rule name {name} is there twice",
            {"name": repr(repeated[0]), "hint": "the journal counts by name, so give each rule its own"},
        )
    return rules


Rules = Annotated[tuple[Rule, ...], AfterValidator(unique_names)]
"""All rules of the mock, in the order in which they apply."""
