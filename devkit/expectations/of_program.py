"""Expectations that can name one of several programs of an arm: `restarts: {program: reader, at_most: 0}`.

Without a name it is the first one. What is not observable of the program that is named cannot be judged.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from devkit.expectations.bounds import Bytes, Count, or_exactly
from located_config.size import Size


class OfProgram(BaseModel):
    """`program` is the name of one in the scenario's `programs`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    program: str | None = Field(
        default=None, description="Name of a program in the scenario's `programs`. Default: the main one."
    )


class ProgramCount(Count, OfProgram):
    """Whole numbers of a program."""


class ProgramBytes(Bytes, OfProgram):
    """Sizes in bytes of a program."""


ProgramBound = Annotated[ProgramCount, or_exactly(ProgramCount, int, int)]
ProgramSizeBound = Annotated[ProgramBytes, or_exactly(ProgramBytes, Size, int, str)]
