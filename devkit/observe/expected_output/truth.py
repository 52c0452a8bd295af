"""The truth of a job: the outcome and the output that each of its events must have.

    source event ─┬─ expected ─▶ how it has to end: as its generator states, unless the job filters otherwise
                  └─ output ───▶ what its output record must be, from the event and the wiki's own answers

A job without a truth is not audited: nothing then says what its output must be.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from devkit.observe.audit.arrivals import Position
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.store_difference import EntityTruth
from devkit.traffic.records import DumpedEntities, Expected
from pipeline.config.pipeline_config import PipelineConfig


@dataclass(frozen=True)
class WikiAnswers:
    """What the wiki answers when no fault meets a request. Both raise StackError where it has no such answer.

    `dump` is the one that a triple store was loaded with before the programs start, None where there is none.
    """

    html: Callable[[str, int], str]
    """Wiki and revision id to the HTML of that revision."""
    body: Callable[[str, str], bytes]
    """Wiki and path, a query with it, to the body of the answer."""
    dump: DumpedEntities | None = None


class ExpectedOutput(Protocol):
    """One event's output as it must be."""

    def difference(self, value: bytes, *, body_removed: bool) -> str | None:
        """What is wrong with an output's value; None when it is as it must be.

        `body_removed` is for the record of a claim check, which has everything but what was fetched.
        """


class JobTruth(Protocol):
    """Of one job with the configuration of an arm."""

    def expected(self, topic: str, value: bytes, stated: Expected) -> Expected:
        """How an event of that topic has to end. `stated` is what its generator says, for `html-enrichment`: usually
        that is the answer.
        """

    def key(self, event: SourceEvent) -> bytes | None:
        """Of the record of an event that has to end as output."""

    def output(self, event: SourceEvent) -> ExpectedOutput:
        """Of an event that has to end as output; what is fetched for it is in `event.entry.expected`."""


@runtime_checkable
class SourcesOfOutput(Protocol):
    """A truth has this as well where an output may be made of several events: each of them has left with it."""

    def sources(self, value: bytes, /) -> Sequence[Position] | None:
        """The events that an output with this value is made of; None: the one that its headers name."""


@runtime_checkable
class SplitOutputs(Protocol):
    """A truth has this as well where an output may take several records. `ExpectedOutput.difference` then gets the
    values of all of them, a line each.
    """

    def part(self, value: bytes, /) -> tuple[int, int] | None:
        """The number of a record among those of its output, from 0, and how many these are; None where its value does
        not say it.
        """


@runtime_checkable
class FatesTogether(Protocol):
    """A truth has this as well where how an event ends depends on others. The program keeps such events in a state, and
    they may leave it after their commit.
    """

    def fates(self, events: Sequence[SourceEvent], /) -> Sequence[SourceEvent]:
        """All events, each with the outcome that it must have beside the others."""

    def key(self, event: SourceEvent, /) -> bytes:
        """Of each record of an event, in whichever topic it ends."""


@runtime_checkable
class NumberedOutputs(Protocol):
    """A truth has this as well where outputs are in the order of numbers of their own, and not in that of their events
    in the source.
    """

    def number(self, value: bytes, /) -> tuple[str, int] | None:
        """What an output is numbered with, and its number there; None where its value does not say it."""


@runtime_checkable
class StoredOutputs(Protocol):
    """A truth has this as well where another program writes the outputs into a triple store."""

    def stored(self, events: Sequence[SourceEvent], /) -> Iterable[EntityTruth]:
        """Of each entity that the events name, or the dump has, once all of the events have been applied."""


@runtime_checkable
class LoadedOutputs(Protocol):
    """A truth has this as well where its program goes on from a dump."""

    def loaded(self) -> Iterable[EntityTruth]:
        """Of each entity of the dump, as a triple store is loaded with it; none without a dump."""


MakeTruth = Callable[[PipelineConfig, WikiAnswers], JobTruth]
"""With the configuration of an arm."""
ArmTruth = Callable[[WikiAnswers], JobTruth]
"""The same of a program that has its configuration."""
