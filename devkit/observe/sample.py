"""One look at an arm from outside. It is a line of the timeline as well, written and read back as this model."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, computed_field


def _rounding(digits: int) -> AfterValidator:
    return AfterValidator(lambda value: value if value is None else round(value, digits))


Rounded = Annotated[float, _rounding(3)]
Seconds = Annotated[float | None, _rounding(4)]


class ProgramUse(BaseModel):
    """What the `processes` of a program use, as a sample's fields of the same names."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    processes: int = 0
    cpu_cores: Rounded = 0.0
    memory_bytes: int = 0


class Sample(BaseModel):
    """Offsets are summed over the partitions; `at_s` counts from the arm's start.

    `process` is the number of the pipeline process whose query runs, None while none does. What the upstream counted
    (`requests` to `faults`) is since the arm's start, but `in_flight`, `busy` and `queued` are of now, and
    `answer_…_s` are of the requests that ended since the look before, None when none did. `upstream_clock_s` counts
    from the first request of the arm, `faults` the requests that each met, `deferred` entries that stand in the
    deferral topic. `cpu_cores` are CPU seconds a second of the pipeline's processes since the look before,
    `memory_bytes` their resident memory. `programs` has the same by name of each program that runs, where the arm
    has several.

    A field that is named as one of what the upstream counts or of what processes use is taken from there by its name
    (`Sampler`); so one more takes a line there, one here and one in the report.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    event: Literal["sample"] = "sample"
    at_s: Rounded
    committed: int
    source_end: int
    outputs: int
    errors: int
    requests: int
    in_flight: int
    process: int | None = None
    upstream_clock_s: Seconds = None
    by_status: dict[str, int] = {}
    fetches: int = 0
    max_attempt: int = 0
    busy: int = 0
    queued: int = 0
    parses: int = 0
    abandoned: int = 0
    parse_s: Rounded = 0.0
    answer_p50_s: Seconds = None
    answer_p95_s: Seconds = None
    answer_p99_s: Seconds = None
    faults: dict[str, int] = {}
    deferred: int = 0
    cpu_cores: Rounded = 0.0
    memory_bytes: int = 0
    programs: dict[str, ProgramUse] = {}

    @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated properties
    @property
    def lag(self) -> int:
        """Source offsets that are not committed."""
        return self.source_end - self.committed


NOTHING_SEEN = Sample(at_s=0, committed=0, source_end=0, outputs=0, errors=0, requests=0, in_flight=0)
"""Before the first look."""
