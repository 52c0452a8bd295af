"""What a scenario file says. All values are the run's own: what happens here, not what happened in production.

`pipeline` is the configuration both arms share, each of `arms` what it has of its own on top; so the difference
between the arms is what the incident was about. `time_scale` is a label for the report, and `preserves` names the
ratio that makes this run the same incident.
"""

from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    StringConstraints,
    model_validator,
)

from devkit.container.limits import Container
from devkit.expectations import Expectation, StatedExpectation
from devkit.faults.item import Timeline
from devkit.headroom.shortage import MARGIN
from devkit.observe.arm_end import ConditionName
from devkit.scenario.arm_name import ArmName
from devkit.scenario.programs import Overlay, ProgramName, Programs, ProgramSettings, empty_mapping
from devkit.traffic.model import TrafficSpec
from located_config.duration import Duration, PositiveDuration
from located_config.size import Size
from mockapi.rules.model import Rules


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Incident(_Model):
    """Where the story is told: a public reference, and a sentence of it."""

    reference: str
    quote: str = ""


class Mock(_Model):
    """The faults of the mock API. Each must be seen to fire, else there is no verdict."""

    rules: Rules = ()

    @property
    def fault_over(self) -> timedelta | None:
        """When the last of the faults that end has ended, from the first request on; None when none of them ends."""
        windows = [rule.when.window for rule in self.rules if rule.when.window is not None]
        return max((window.from_ + window.for_ for window in windows if window.for_ is not None), default=None)


class TopicSettings(_Model):
    """A topic as the broker makes it; `max.message.bytes` is the topic's own limit on a record batch."""

    partitions: PositiveInt = 1
    max_message_bytes: Annotated[Size, Field(gt=0)] | None = Field(default=None, alias="max.message.bytes")

    def kafka_settings(self) -> dict[str, str]:
        return {} if self.max_message_bytes is None else {"max.message.bytes": str(self.max_message_bytes)}


class Topics(_Model):
    """The three topics by their part in the pipeline."""

    source: TopicSettings = TopicSettings()
    output: TopicSettings = TopicSettings()
    error: TopicSettings = TopicSettings()


class Kafka(_Model):
    """What of Kafka a scenario sets; with three `brokers` each topic has a replica on each, at least two in sync."""

    brokers: Literal[1, 3] = 1
    topics: Topics = Topics()


class Condition(_Model):
    """What ends an arm: all that is given must have been reached.

    `drained`: all traffic is published, the committed offset has reached its end, and no event is still deferred.
    `restarts`: the supervisor has restarted the pipeline so often. `replays`: some batch has been planned again so
    often after its first time.
    """

    drained: Literal[True] | None = None
    restarts: PositiveInt | None = None
    replays: PositiveInt | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("no condition; write one of drained, restarts, replays")
        for name in Condition.model_fields:
            if name in self.model_fields_set and getattr(self, name) is None:
                raise ValueError(f"{name} says nothing; write its value")
        return self

    @property
    def wanted(self) -> dict[ConditionName, int]:
        """What has to be reached, by name; true counts as 1."""
        given: dict[ConditionName, int | None] = {
            "drained": self.drained,
            "restarts": self.restarts,
            "replays": self.replays,
        }
        return {name: count for name, count in given.items() if count is not None}


class Until(_Model):
    """When an arm ends: any of the conditions, or the deadline, counted from the arm's start."""

    any: Annotated[tuple[Condition, ...], Field(min_length=1)]
    deadline: PositiveDuration


class ArmSettings(_Model):
    """What an arm has of its own: keys of the configuration, and by name what single `programs` have in it."""

    model_config = ConfigDict(extra="allow")

    programs: dict[ProgramName, ProgramSettings] = {}

    @property
    def overlay(self) -> dict[str, Any]:
        """What is on top of the shared configuration."""
        return dict(self.model_extra or {})


ArmOverlay = Annotated[
    ArmSettings, BeforeValidator(empty_mapping, json_schema_input_type=ArmSettings | dict[str, Any] | None)
]


class Arms(_Model):
    """What each arm has of its own."""

    incident: ArmOverlay
    fixed: ArmOverlay

    def of(self, arm: ArmName) -> ArmSettings:
        return self.incident if arm == "incident" else self.fixed


class TriedFirst(_Model):
    """What the operator tries before an arm's own start, on top of the arm's configuration.

    The pipeline is started with it once; the arm begins when that was refused, or has begun and was ended again.
    """

    incident: Overlay | None = None
    fixed: Overlay | None = None

    def of(self, arm: ArmName) -> dict[str, Any] | None:
        return self.incident if arm == "incident" else self.fixed


class Expectations(_Model):
    """What must hold in each arm for the verdict "reproduced and fixed"."""

    incident: Annotated[tuple[StatedExpectation, ...], Field(min_length=1)]
    fixed: Annotated[tuple[StatedExpectation, ...], Field(min_length=1)]

    def of(self, arm: ArmName) -> tuple[Expectation, ...]:
        return self.incident if arm == "incident" else self.fixed


def _not_taken(name: str) -> str:
    if name in ("latest", "stack"):
        raise ValueError(f"{name!r} is the name of something else in the directory of runs; choose another")
    return name


class Scenario(_Model):
    """One incident, as a file describes it.

    `extend` names Python of the user's own, a file relative to the scenario's or a module, that adds to what a scenario
    can say; it is loaded before the rest is read.

    `programs` are under test; the first is the one that expectations and figures speak of, and without any it is the
    pipeline. `timeline` has the faults on parts of the stack, each in the arms that it names.

    `container` is what each program of an arm may use, all its processes together; over it they are killed.

    `traffic_begins`: at once, so that a backlog waits for the pipeline's first query, or when that query runs, so that
    the incident happens to live traffic (and latencies do not count the start), after a warm-up where one can be.
    `margin`: batches, timeouts and bounds leave that many times what an idle reference machine needs; on one that is
    slower than that, what depends on time is not judged.
    """

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,60}$"), AfterValidator(_not_taken)]
    title: str
    incident: Incident
    extend: tuple[str, ...] = ()
    time_scale: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1
    preserves: str = ""
    traffic: TrafficSpec
    mock: Mock = Mock()
    timeline: Timeline = ()
    kafka: Kafka = Kafka()
    programs: Programs = {}
    pipeline: Overlay = {}
    container: Container | None = None
    traffic_begins: Literal["at once", "when running"] = "at once"
    restart_delay: Duration = timedelta(seconds=1)
    margin: Annotated[float, Field(ge=1, allow_inf_nan=False)] = MARGIN
    until: Until
    arms: Arms
    tried_first: TriedFirst = TriedFirst()
    expect: Expectations

    def overlay(self, arm: ArmName) -> dict[str, Any]:
        return self.arms.of(arm).overlay
