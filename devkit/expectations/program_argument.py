"""Expectations that can name one of several programs of an arm: `restarts: {program: reader, at_most: 0}`.

Without a name it is the main one. The finding is undecided if the named program is not observable.
"""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from devkit.expectations.bounds import Bytes, Count, or_exactly
from located_config.size import Size


class ProgramArgument(BaseModel):
    """`program` is the name of one in the scenario's `programs`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    program: str | None = Field(
        default=None, description="Name of a program in the scenario's `programs`. Default: the main one."
    )


def named_program(argument: object) -> str | None:
    """The program that the argument of an expectation names; None is the main one."""
    return argument.program if isinstance(argument, ProgramArgument) else None


class WhetherItDid(ProgramArgument):
    """Something that a program did or did not do; `true` alone is short for `it_did: true`."""

    it_did: bool = True

    def __str__(self) -> str:
        return "true" if self.it_did else "false"


def or_whether(model: type[WhetherItDid]) -> BeforeValidator:
    """Reads `true` or `false` alone as the model's `it_did`."""

    def spelt_out(value: object) -> object:
        return {"it_did": value} if isinstance(value, bool) else value

    return BeforeValidator(spelt_out, json_schema_input_type=model | bool)


class ProgramCount(Count, ProgramArgument):
    """Whole numbers of a program."""


class ProgramOccurrences(ProgramCount):
    """Whole numbers of a program; by default at least one."""

    @model_validator(mode="before")
    @classmethod
    def _default_bound(cls, value: object) -> object:
        is_bare = isinstance(value, dict) and value.keys().isdisjoint(("at_least", "at_most"))
        return {**value, "at_least": 1} if isinstance(value, dict) and is_bare else value


class ProgramBytes(Bytes, ProgramArgument):
    """Sizes in bytes of a program."""


ProgramBound = Annotated[ProgramCount, or_exactly(ProgramCount, int, int)]
ProgramSizeBound = Annotated[ProgramBytes, or_exactly(ProgramBytes, Size, int, str)]
