"""The model of one expectation in a scenario file, made from the registry: one name, and the argument behind it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from ruamel.yaml import YAML

from devkit.expectations.base import ExpectationKind, Finding, check_argument, hidden_records, observation_of_program
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.program_argument import named_program
from devkit.expectations.registry import EXPECTATIONS
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmName
from devkit.observe.observable import why_not_observable


class Expectation(BaseModel):
    """One key, that of an expectation in `devkit.expectations.registry`; behind it what it is to hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="after")
    def _check_one_key(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("exactly one expectation in each item; write several items")
        if self.argument is None:
            raise ValueError(f"{self.kind} says nothing; write what it must be")
        return self

    @property
    def kind(self) -> str:
        """Its name."""
        (name,) = self.model_fields_set
        return name

    @property
    def argument(self) -> Any:
        """What is to hold, as the expectation's own argument type."""
        return getattr(self, self.kind)

    @property
    def program(self) -> str | None:
        """The program that it names; None is the first one."""
        return named_program(self.argument)

    def check(self, arm: CheckedArm) -> Iterator[Flaw]:
        """Why it decides nothing, whatever happens in a run of the arm."""
        yield from check_argument(EXPECTATIONS[self.kind], self.argument, arm)

    def bounds_progress(self, arm: ArmName) -> bool:
        """Whether an arm that did too little breaks it."""
        return EXPECTATIONS[self.kind].bounds_progress(self.argument, arm)

    @property
    def bounds_loss(self) -> bool:
        """Whether it says how many events may be lost."""
        return EXPECTATIONS[self.kind].bounds_loss(self.argument)

    def depends_on_time(self, observation: ArmObservation) -> Window | None:
        """The time whose shortage would make the finding say nothing; None where time has no part in it."""
        observed = observation_of_program(self.argument, observation)
        return EXPECTATIONS[self.kind].depends_on_time(self.argument, observed)

    def judge(self, observation: ArmObservation) -> Finding:
        """Hold the expectation against what was observed; undecided where something that it needs was not."""
        expectation = EXPECTATIONS[self.kind]
        program = observation.program(self.program) if self.program else None
        observed = observation_of_program(self.argument, observation)
        finding = expectation.judge(self.argument, observed)
        if self.program:
            finding = replace(finding, expected=f"{finding.expected} (program {self.program})")
        if program and not program.started:
            never = f"n/a: program {program.name} was never started, as what it needs did not run"
            return replace(finding, measured=never, holds=None)
        missing = expectation.needs & observed.not_observable
        if missing:
            name = program.name if program else None
            return replace(finding, measured=why_not_observable(missing, name), holds=None)
        hidden = hidden_records(expectation.needs, observed)
        return replace(finding, measured=f"n/a: {hidden}", holds=None) if hidden else finding


class _AsRegistered:
    """Reads `Expectation` only when a value is checked or a schema written, so every model knows an expectation that is
    registered later.
    """

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(Expectation.model_validate)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(Expectation.__pydantic_core_schema__)


StatedExpectation = Annotated[Expectation, _AsRegistered()]
"""`Expectation` as a part of another model."""


def register(expectation: ExpectationKind) -> None:
    """Add an expectation of another package: from now on scenarios can state it. Raises ValueError for a name that is
    taken.
    """
    EXPECTATIONS.add(expectation.name, expectation)


def _add_fields(*kinds: ExpectationKind) -> None:
    for kind in kinds:
        Expectation.__pydantic_fields__[kind.name] = FieldInfo.from_annotated_attribute(
            kind.argument | None,
            Field(default=None, description=kind.summary, examples=[YAML(typ="safe").load(kind.example)]),
        )
    Expectation.model_rebuild(force=True)


EXPECTATIONS.follow(_add_fields)
