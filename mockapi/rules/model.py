"""The rules: which requests (`when`) meet which faults (`do`).

    Rule = name + When(what the request must be: all that is given must match) + Do(faults)

All rules that match a request apply, in their order; for the same fault the last one decides.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Self, TypeVar, cast

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from located_config.duration import PositiveDuration
from located_config.schema import as_sentence
from mockapi.faults.clashes import check_clashes
from mockapi.faults.error import FAULT as ERROR
from mockapi.faults.error import OF_WRITES
from mockapi.faults.fault import Fault, Terms
from mockapi.faults.registry import FAULTS
from mockapi.rules.proof import Met
from mockapi.rules.when import When
from mockapi.values.strict import Strict

P = TypeVar("P")


class Do(Strict):
    """The faults of a rule, at least one; each key is that of a fault in `mockapi.faults.registry`.

    They are applied in this order, in which a request meets them.
    """

    def of(self, fault: Fault[P]) -> P | None:
        """The parameters of `fault`; None where the rule does not have it."""
        return cast(P | None, getattr(self, fault.name))

    def has(self, fault: Fault[Any]) -> bool:
        """Whether the rule gives `fault`, also with a parameter that is false."""
        return getattr(self, fault.name) is not None

    def given(self) -> Iterator[tuple[Fault[Any], Any]]:
        """The faults of the rule with their parameters, in the order in which they are applied."""
        return ((FAULTS[name], parameters) for name, parameters in self if parameters is not None)

    def inactions(self, met: Met) -> tuple[str, ...] | None:
        """Why the journal does not show that the faults acted; None if all of them act on each request they meet."""
        asked = [(fault.inaction, parameters) for fault, parameters in self.given() if fault.inaction is not None]
        if not asked:
            return None
        return tuple(inaction for why, parameters in asked if (inaction := why(parameters, met)))

    def not_observable(self) -> dict[str, str]:
        """The faults of which no journal can show that they acted, each with the reason."""
        return {fault.name: fault.not_observable for fault, _ in self.given() if fault.not_observable}

    def check_terms(self, terms: Terms) -> None:
        """Raises PydanticCustomError where what a rule says besides does not go with one of its faults."""
        for fault, parameters in self.given():
            if fault.suits is not None:
                fault.suits(parameters, terms)

    @model_validator(mode="after")
    def _something(self) -> Self:
        if all(fault is None for _, fault in self):
            raise PydanticCustomError("no_fault", "no fault", {"hint": f"at least one of {', '.join(Do.model_fields)}"})
        return self

    @model_validator(mode="after")
    def _compatible(self) -> Self:
        given = {fault.name: parameters for fault, parameters in self.given()}
        check_clashes([FAULTS[name] for name in given], given)
        return self


class _AsRegistered:
    """Resolves `Do` at validation and not when a model is made; so a fault that is registered later is a key too."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(Do.model_validate)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(Do.__pydantic_core_schema__)


Faults = Annotated[Do, _AsRegistered()]
"""`Do` as a part of another model."""


def _add_faults(*faults: Fault[Any]) -> None:
    for fault in faults:
        Do.__pydantic_fields__[fault.name] = FieldInfo.from_annotated_attribute(
            fault.takes | None, Field(default=None, description=as_sentence(fault.summary))
        )
    Do.model_rebuild(force=True)


FAULTS.follow(_add_faults)


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
        description="Faults of the mock that a matched request meets, by name.", examples=[{"latency": "5s"}]
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

    @property
    def error_of_writes(self) -> str | None:
        """The code of its `error`, if MediaWiki has it for requests that write."""
        code = self.do.of(ERROR)
        return code if code in OF_WRITES else None

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
