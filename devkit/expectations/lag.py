"""How many events wait: of all source partitions, of one partition or page, or for a program that reads the output.

The lag of partitions is by committed offsets, as on a dashboard. The lag of a page counts its events that are published
and not emitted, by the times of the records.
"""

from collections.abc import Iterator
from typing import Self

from pydantic import Field, NonNegativeInt, model_validator

from devkit.expectations.base import hidden_records
from devkit.expectations.bounds import Number
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.program_argument import ProgramArgument
from devkit.expectations.series_measure import SeriesArgument, SeriesMeasure
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.observable import Observable, why_not_observable
from devkit.observe.time_series import TimeSeries, waiting
from located_config.near import near_miss


class LagBound(Number, SeriesArgument, ProgramArgument):
    """Bounds on a number of the course of a lag, in events. `topic` is needed where there are several. Of a `program`
    that applies the main one's output it is the number of records that it has not applied.
    """

    partition: NonNegativeInt | None = Field(
        default=None, description="Number of a source partition, from 0. Default: the lag of all together."
    )
    topic: str | None = Field(default=None, description="Source topic of the partition, where there are several.")
    page: str | None = Field(default=None, min_length=1, description="Page of `traffic.pages`: the lag of its events.")

    @model_validator(mode="after")
    def _check_subject(self) -> Self:
        if self.page is not None and self.partition is not None:
            raise ValueError("one of page and partition, not both")
        if self.topic is not None and self.partition is None:
            raise ValueError("a topic's lag is that of its partitions; write partition as well")
        if self.program is not None and (self.page is not None or self.partition is not None):
            raise ValueError("the lag of a program is that of all that it reads; leave out page and partition")
        return self

    def __str__(self) -> str:
        place = f" of partition {self.topic}/{self.partition}" if self.topic else f" of partition {self.partition}"
        subject = f" of page {self.page}" if self.page else "" if self.partition is None else place
        return f"{self.number} {super().__str__()}{subject}"


def _absent(argument: LagBound, observation: ArmObservation) -> str:
    if argument.program is not None:
        is_known = any(argument.program in sample.waiting for sample in observation.samples)
        return "" if is_known else f"n/a: no look showed how far {argument.program} had come"
    needed: frozenset[Observable] = frozenset({"sources"} if argument.page else {"offsets"})
    if missing := needed & observation.not_observable:
        return why_not_observable(missing)
    hidden = hidden_records(needed, observation)
    return f"n/a: {hidden}" if hidden else ""


def _series(argument: LagBound, observation: ArmObservation) -> TimeSeries:
    if argument.program is not None:
        name = argument.program
        return tuple(
            (sample.at_s, float(sample.waiting[name])) for sample in observation.samples if name in sample.waiting
        )
    if argument.page is not None:
        return _page_series(argument.page, observation)
    if argument.partition is None:
        return tuple((sample.at_s, float(sample.lag)) for sample in observation.samples)
    return tuple(
        (sample.at_s, float(lag))
        for sample in observation.samples
        for place, lag in sample.lags.items()
        if place == f"{argument.topic}/{argument.partition}"
        or (argument.topic is None and place.rpartition("/")[2] == f"{argument.partition}")
    )


def _page_series(title: str, observation: ArmObservation) -> TimeSeries:
    page = observation.pages.get(title.replace("_", " "))
    began_s = observation.began_ms / 1000
    spans = [
        (event.published_ms / 1000 - began_s, event.published_ms / 1000 - began_s + event.seconds, event.is_emitted)
        for event in observation.latencies.events
        if page is not None and event.page == page
    ]
    if not spans:
        return ()
    times_s = (sample.at_s for sample in observation.samples)
    return waiting(((begin, end if is_emitted else None) for begin, end, is_emitted in spans), times_s)


def _flaws(argument: LagBound, arm: CheckedArm) -> Iterator[Flaw]:
    if argument.program is not None and not arm.program_of(argument).program.needs_triple_store:
        yield Flaw(f"program {argument.program} does not apply what the main one writes; leave it out", ("program",))
    pages = [title.replace("_", " ") for title in arm.traffic.titles]
    if argument.page is not None and argument.page.replace("_", " ") not in pages:
        remedy = arm.traffic.remedy_for_page(argument.page)
        yield Flaw(f"there is no page {argument.page!r} in traffic.pages; {remedy}", ("page",))
    if argument.partition is None or arm.main.configured is None:
        return
    count, sources = arm.source_partitions, arm.main.configured.topics.sources
    if count * len(sources) == 1:
        only = "there is one source partition only: leave it out, or raise kafka.topics.source.partitions"
        yield Flaw(only, ("partition",))
    elif argument.partition >= count:
        yield Flaw(f"there are {count} source partitions, the last is {count - 1}", ("partition",))
    if argument.topic is None and len(sources) > 1:
        yield Flaw(f"write the topic as well, one of {', '.join(sources)}", ("partition",))
    elif argument.topic is not None and argument.topic not in sources:
        near = near_miss(argument.topic, sources)
        yield Flaw(f"the main program does not read {argument.topic!r}; {near}", ("topic",))


def _bounds_total_lag(argument: LagBound) -> bool:
    is_of_all = argument.page is None and argument.partition is None and argument.during is None
    return is_of_all and argument.of != "lowest" and argument.at_most is not None


LAG = SeriesMeasure(
    name="lag",
    summary=(
        "Waiting events: uncommitted source offsets of all partitions or of one `partition` (with its `topic` if "
        "there are several), or the events of a `page` that are published and not yet emitted, or the records that a "
        "`program` of the kind `apply` has not applied. Its `last`, "
        "`highest`, `lowest` or `mean`, or its `slope` a minute."
    ),
    example="{page: Hot, of: highest, at_least: 100}",
    argument=LagBound,
    series=_series,
    format_value="{:,.0f}".format,
    absent=_absent,
    flaws=_flaws,
    is_progress=_bounds_total_lag,
)
