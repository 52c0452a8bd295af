"""How many events wait: of all source partitions, of one of them, or of one page.

That of partitions is by committed offsets, as a dashboard has it. That of a page counts its events that are published
and not emitted, by the records' own times.
"""

from dataclasses import dataclass
from typing import Any, Self

from pydantic import Field, NonNegativeInt, model_validator

from devkit.expectations.base import NOTHING, Finding, gone
from devkit.expectations.bounds import Number
from devkit.expectations.of_samples import OfSamples, judged, value_of
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.course import Course, waiting
from devkit.observe.observable import Observable, why_not_observable


class LagBound(Number, OfSamples):
    """Bounds on a number of the course of a lag, in events. `topic` is needed where there are several."""

    partition: NonNegativeInt | None = None
    topic: str | None = None
    page: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if self.page is not None and self.partition is not None:
            raise ValueError("one of page and partition, not both")
        if self.topic is not None and self.partition is None:
            raise ValueError("a topic's lag is that of its partitions; write partition as well")
        return self

    def __str__(self) -> str:
        place = f" of partition {self.topic}/{self.partition}" if self.topic else f" of partition {self.partition}"
        what = f" of page {self.page}" if self.page else "" if self.partition is None else place
        return f"{self.number} {super().__str__()}{what}"


@dataclass(frozen=True)
class _Lag:
    name: str = "lag"
    summary: str = (
        "Events that wait: source offsets that are not committed, of all partitions or of one `partition` (with its "
        "`topic` where there are several), or the events of a `page` of the traffic that are published and not "
        "emitted. Its `last`, `highest`, `lowest` or `mean`, or its `slope` a minute."
    )
    example: str = "{page: Hot, of: highest, at_least: 100}"
    argument: Any = LagBound
    needs: frozenset[Observable] = NOTHING

    def judge(self, argument: LagBound, observation: ArmObservation) -> Finding:
        needed: frozenset[Observable] = frozenset({"sources"} if argument.page else {"offsets"})
        if missing := needed & observation.not_observable:
            return Finding(self.name, str(argument), why_not_observable(missing), holds=None)
        if hidden := gone(needed, observation):
            return Finding(self.name, str(argument), f"n/a: {hidden}", holds=None)
        return judged(self.name, argument, _found(argument, observation), "{:,.0f}".format)

    def figure(self, argument: LagBound, observation: ArmObservation) -> float | None:
        """In events; None where there was nothing to measure."""
        return _found(argument, observation)[0]

    def depends_on_time(self, argument: LagBound, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        return "arm"


def _found(argument: LagBound, observation: ArmObservation) -> tuple[float | None, str]:
    return value_of(argument, _course(argument, observation), observation)


def _course(argument: LagBound, observation: ArmObservation) -> Course:
    if argument.page is not None:
        return _of_page(argument.page, observation)
    if argument.partition is None:
        return tuple((sample.at_s, float(sample.lag)) for sample in observation.samples)
    return tuple(
        (sample.at_s, float(lag))
        for sample in observation.samples
        for place, lag in sample.lags.items()
        if place == f"{argument.topic}/{argument.partition}"
        or (argument.topic is None and place.rpartition("/")[2] == f"{argument.partition}")
    )


def _of_page(title: str, observation: ArmObservation) -> Course:
    page = observation.pages.get(title.replace("_", " "))
    began_s = observation.began_ms / 1000
    spans = [
        (event.published_ms / 1000 - began_s, event.published_ms / 1000 - began_s + event.seconds, event.is_emitted)
        for event in observation.latencies.events
        if page is not None and event.page == page
    ]
    if not spans:
        return ()
    looks = (sample.at_s for sample in observation.samples)
    return waiting(((begin, end if is_emitted else None) for begin, end, is_emitted in spans), looks)


LAG = _Lag()
