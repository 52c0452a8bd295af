"""A moment at which a pipeline process is to die: the n-th call of a function, before it or after it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

CRASH_VARIABLE = "CRASH_POINT"
CONSTANTS_VARIABLE = "PIPELINE_CONSTANTS"


class CrashPoint(BaseModel):
    """`target` is `module:function` or `module:Class.method`, where it is looked up when it is called.

    Only calls from the function `within` count, and with `nonempty` those whose last argument is not empty.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: str
    moment: Literal["before", "after"]
    within: str | None = None
    nonempty: bool = False
    call: int = 1
