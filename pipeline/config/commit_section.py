"""How long a commit may take."""

from datetime import timedelta
from typing import Literal

from pydantic import Field

from located_config.duration import PositiveDuration
from pipeline.config.section import Section


class Commit(Section):
    """What happens when Spark's writes to the checkpoint, the offsets of a micro-batch and its commit, take long."""

    policy: Literal["bounded", "wait"] = Field(
        default="bounded",
        description="`bounded` logs slow writes, and ends the process when they take longer than `timeout`. `wait` is "
        "unsafe: nothing is logged, and they may take as long as the client of the store has patience.",
    )
    slow_after: PositiveDuration = Field(
        default=timedelta(seconds=5),
        description="Time after which writes to the checkpoint that have not ended are logged (`commit_slow`).",
    )
    timeout: PositiveDuration | None = Field(
        default=None,
        description="Time that the writes between two micro-batches may take; then the process ends with exit code 1, "
        "so that its supervisor sees a failure. Default: `stall_timeout`.",
    )
