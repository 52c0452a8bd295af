"""What is written when the driver's JVM runs out of memory."""

from typing import Annotated

from pydantic import AfterValidator, Field, PositiveInt

from pipeline.config.section import Section, require_something


class HeapDumps(Section):
    """The heap of the driver's JVM as a file, on its first OutOfMemoryError."""

    directory: Annotated[str, AfterValidator(require_something)] | None = Field(
        default=None,
        description="Directory on the driver's machine for the dumps; it is made. A dump is as large as the heap, and "
        "holds what the job read. Default: none is written.",
        examples=["/var/log/enrichment"],
    )
    keep: PositiveInt = Field(
        default=1,
        description="Number of dumps in the directory from which on no more are written, so that a job that is "
        "restarted again and again does not fill the disk.",
    )
