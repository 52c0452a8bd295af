"""The limits of an arm's programs: `container: {memory: 2GiB, disk: 1GiB}`."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from located_config.size import Size

_Limit = Annotated[Size, Field(gt=0)]


class Container(BaseModel):
    """Limits in bytes of each program of an arm: `memory` of all its processes, `disk` of its scratch directory."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory: _Limit | None = Field(
        default=None,
        description="Most memory that all processes of a program may hold together. The kit samples it every 200 "
        "ms, and makes no cgroup; on `--stack compose` the engine enforces it. The pipeline needs 600"
        " to 700 MiB before any content.",
    )
    disk: _Limit | None = Field(
        default=None,
        description="Most bytes that the temporary files of a program may take; sampled like memory, on every stack. "
        "A program that is over it is killed and its files are removed, as an evicted pod's are.",
    )

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.memory is None and self.disk is None:
            raise ValueError("write memory, disk or both, such as {memory: 2GiB}")
        return self
