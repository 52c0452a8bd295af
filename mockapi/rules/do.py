"""The half of a rule that says what happens: a key for each fault of the registry."""

from collections.abc import Iterator
from typing import Annotated, Any, Self, TypeVar, cast

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from located_config.schema import as_sentence
from mockapi.faults.clashes import check_clashes
from mockapi.faults.fault import Fault, Terms
from mockapi.faults.registry import FAULTS
from mockapi.rules.proof import Met
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
    """Looks at `Do` when a value is checked or a schema written, not when a model is made that has one; so a fault
    that is registered later is a key of every model.
    """

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(Do.model_validate)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(Do.__pydantic_core_schema__)


Faults = Annotated[Do, _AsRegistered()]
"""`Do` as a part of another model."""


def _take(*faults: Fault[Any]) -> None:
    for fault in faults:
        Do.__pydantic_fields__[fault.name] = FieldInfo.from_annotated_attribute(
            fault.takes | None, Field(default=None, description=as_sentence(fault.summary))
        )
    Do.model_rebuild(force=True)


FAULTS.follow(_take)
