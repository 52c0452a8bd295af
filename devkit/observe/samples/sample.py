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
    memory_kinds: dict[str, int] = {}


class Sample(BaseModel):
    """What was observed of an arm at one look.

    A field that is named as one of what the upstream counts or of what processes use is taken from there by its name
    (`Sampler`); so one more takes a line there, one here and one in the report.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    event: Literal["sample"] = "sample"
    at_s: Rounded
    """Seconds from the arm's start."""
    committed: int
    """Source offsets that are committed, summed over the partitions."""
    source_end: int
    """Ends of the source, summed over the partitions."""
    outputs: int
    """Ends of the output topic, summed over the partitions."""
    errors: int
    """Ends of the error topic, summed over the partitions."""
    read_again: int = 0
    """Number of source offsets that batches begun again have read again since the arm's start: of the records in the
    output and error topics no more are repeats, but for deferred events.
    """
    requests: int
    """Number of requests to the upstream since the arm's start."""
    in_flight: int
    """Number of requests that the upstream has under way now."""
    process: int | None = None
    """Number of the process whose query runs; null while none does."""
    upstream_clock_s: Seconds = None
    """Seconds since the arm's first request to the upstream."""
    by_status: dict[str, int] = {}
    """Number of answers of the upstream since the arm's start, by HTTP status."""
    fetches: int = 0
    """Number of fetches since the arm's start; all attempts of one count as one."""
    max_attempt: int = 0
    """Highest number of requests for one fetch since the arm's start."""
    connections_opened: int = 0
    """Number of connections since the arm's start that carried a request to the upstream."""
    connections_refused: int = 0
    """Number of those that the upstream reset, as it had no place for them."""
    busy: int = 0
    """Number of parsers at work now."""
    queued: int = 0
    """Number of parses that wait for a parser now."""
    parses: int = 0
    """Number of parses since the arm's start."""
    abandoned: int = 0
    """Number of parses since the arm's start whose client disconnected."""
    parse_s: Rounded = 0.0
    """Seconds of parsing since the arm's start, summed."""
    answer_p50_s: Seconds = None
    """Median duration of the requests that ended since the last look, in seconds."""
    answer_p95_s: Seconds = None
    """95th percentile of the same."""
    answer_p99_s: Seconds = None
    """99th percentile of the same."""
    faults: dict[str, int] = {}
    """Number of requests that have ended since the arm's start and that each rule matched, by its name."""
    faults_in_flight: dict[str, int] = {}
    """Number of requests that have not ended and that each rule matched, by its name; without zeros."""
    deferred: int = 0
    """Number of entries in the deferral topic now."""
    cpu_cores: Rounded = 0.0
    """CPU seconds a second of the programs' processes since the last look."""
    memory_bytes: int = 0
    """Resident memory of those processes now, in bytes."""
    memory_kinds: dict[str, int] = {}
    """The same by kind of process: `driver`, `JVM`, `Python daemon`, `Python worker`, `other`."""
    partitions: int = 0
    """Number of source partitions that have events."""
    partitions_read: int = 0
    """Number of those of which some events are committed."""
    source_ends: dict[str, int] = {}
    """Ends of the source since the arm's start by `topic/partition`, where there are several partitions."""
    lags: dict[str, int] = {}
    """Source offsets that are not committed by `topic/partition`, where there are several partitions."""
    event_time_skew_s: Seconds = None
    """Seconds of event time by which the newest committed event is newer than the oldest one that is not committed;
    null where events have no times of their own, and where none or all are committed.
    """
    event_times: dict[str, Rounded] = {}
    """Event time of the newest committed event of each source topic, or of each partition of a single one, in seconds
    since the epoch; empty where events have no times of their own.
    """
    waiting: dict[str, int] = {}
    """Records of the main program that one which reads them has not taken, by its name; without a program that does
    not show it now.
    """
    programs: dict[str, ProgramUse] = {}
    """Processes, cores and memory of each program, by its name, where the arm has several."""

    @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated properties
    @property
    def lag(self) -> int:
        """Source offsets that are not committed."""
        # A partition whose commits are ahead of its end takes nothing off the lag of others.
        return sum(self.lags.values()) if self.lags else max(0, self.source_end - self.committed)


NOTHING_SEEN = Sample(at_s=0, committed=0, source_end=0, outputs=0, errors=0, requests=0, in_flight=0)
"""Before the first look."""
