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
    """Where the story is told, a sentence of it, and the chain of causes."""

    reference: str = Field(description="Public reference of the incident, such as a ticket.", examples=["T421216"])
    quote: str = Field(
        default="",
        description="A sentence of it that says what was seen.",
        examples=["The message is 23048294 bytes when serialized"],
    )
    story: str = Field(
        default="",
        description="The chain of causes and what each arm does about it, in Markdown, for the page of the incident.",
        examples=["The limit compares `Content-Length`, and the answer is compressed."],
    )


class Mock(_Model):
    """The faults of the mock API. Each must be seen to fire, else there is no verdict."""

    rules: Rules = Field(
        default=(),
        description="Faults of the mock API, in the order in which they apply. Each must fire, else the run is "
        "inconclusive.",
    )

    @property
    def fault_over(self) -> timedelta | None:
        """When the last of the faults that end has ended, from the first request on; None when none of them ends."""
        windows = [rule.when.window for rule in self.rules if rule.when.window is not None]
        return max((window.from_ + window.for_ for window in windows if window.for_ is not None), default=None)


class TopicSettings(_Model):
    """A topic as the broker makes it; `max.message.bytes` is the topic's own limit on a record batch."""

    partitions: PositiveInt = Field(default=1, description="Number of partitions.")
    max_message_bytes: Annotated[Size, Field(gt=0)] | None = Field(
        default=None,
        alias="max.message.bytes",
        description="The topic's limit on a record batch. Default: the broker's.",
    )

    def kafka_settings(self) -> dict[str, str]:
        return {} if self.max_message_bytes is None else {"max.message.bytes": str(self.max_message_bytes)}


class Topics(_Model):
    """The three topics by their part in the pipeline."""

    source: TopicSettings = Field(default=TopicSettings(), description="Topic that the traffic is published to.")
    output: TopicSettings = Field(default=TopicSettings(), description="Topic that enriched events go to.")
    error: TopicSettings = Field(default=TopicSettings(), description="Topic that error events go to.")


class Kafka(_Model):
    """What of Kafka a scenario sets; with three `brokers` each topic has a replica on each, at least two in sync."""

    brokers: Literal[1, 3] = Field(
        default=1,
        description="Number of brokers. With 3, on the embedded stack only, each topic has a replica on each "
        "broker, and one broker may be missing.",
    )
    topics: Topics = Field(default=Topics(), description="The topics by their part in the pipeline.")


class Condition(_Model):
    """What ends an arm: all that is given must have been reached."""

    drained: Literal[True] | None = Field(
        default=None,
        description="All traffic is published, the committed offset has reached its end, and no event is deferred.",
    )
    restarts: PositiveInt | None = Field(
        default=None, description="The supervisor has restarted the main program this number of times.", examples=[2]
    )
    replays: PositiveInt | None = Field(
        default=None, description="Some batch has been planned again this number of times.", examples=[1]
    )

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

    any: Annotated[tuple[Condition, ...], Field(min_length=1)] = Field(
        description="Conditions, of which one is enough. All keys of a condition have to be reached.",
        examples=[[{"drained": True}, {"restarts": 2}]],
    )
    deadline: PositiveDuration = Field(description="Time from the arm's start after which it ends in any case.")


class ArmSettings(_Model):
    """What an arm has of its own: keys of the configuration, and by name what single `programs` have in it."""

    model_config = ConfigDict(extra="allow")

    programs: dict[ProgramName, ProgramSettings] = Field(
        default={}, description="What single programs have in this arm, by name."
    )

    @property
    def overlay(self) -> dict[str, Any]:
        """What is on top of the shared configuration."""
        return dict(self.model_extra or {})


ArmOverlay = Annotated[
    ArmSettings, BeforeValidator(empty_mapping, json_schema_input_type=ArmSettings | dict[str, Any] | None)
]


class Arms(_Model):
    """What each arm has of its own."""

    incident: ArmOverlay = Field(
        description="What only the incident arm has: configuration, and under `programs` that of single ones.",
        examples=[{"record_limit": {"policy": "none"}}],
    )
    fixed: ArmOverlay = Field(
        description="What only the fixed arm has: configuration, and under `programs` that of single ones.",
        examples=[{"record_limit": {"policy": "serialized"}}],
    )

    def of(self, arm: ArmName) -> ArmSettings:
        return self.incident if arm == "incident" else self.fixed


class TriedFirst(_Model):
    """What the operator tries before an arm's own start, on top of the arm's configuration.

    The pipeline is started with it once; the arm begins when that was refused, or has begun and was ended again.
    """

    incident: Overlay | None = Field(
        default=None,
        description="Configuration that is tried first in the incident arm, on top of the arm's own.",
        examples=[{"metrics": {"on_collision": "refuse"}}],
    )
    fixed: Overlay | None = Field(
        default=None,
        description="Configuration that is tried first in the fixed arm, on top of the arm's own.",
        examples=[{"metrics": {"on_collision": "refuse"}}],
    )

    def of(self, arm: ArmName) -> dict[str, Any] | None:
        return self.incident if arm == "incident" else self.fixed


class Expectations(_Model):
    """What must hold in each arm for the verdict "reproduced and fixed"."""

    incident: Annotated[tuple[StatedExpectation, ...], Field(min_length=1)] = Field(
        description="What must hold in the incident arm.", examples=[[{"restarts": {"at_least": 2}}]]
    )
    fixed: Annotated[tuple[StatedExpectation, ...], Field(min_length=1)] = Field(
        description="What must hold in the fixed arm.", examples=[[{"drained": True}, {"audit": "clean"}]]
    )

    def of(self, arm: ArmName) -> tuple[Expectation, ...]:
        return self.incident if arm == "incident" else self.fixed


def _not_taken(name: str) -> str:
    if name in ("latest", "stack"):
        raise ValueError(f"{name!r} is the name of something else in the directory of runs; choose another")
    return name


class Scenario(_Model):
    """One incident, as a file describes it."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,60}$"), AfterValidator(_not_taken)] = Field(
        description="Name of the scenario, and of its directory of runs: lower case letters, digits and hyphens.",
        examples=["huge-page"],
    )
    title: str = Field(
        description="One sentence on what happens.", examples=["One record is larger than the sink will take"]
    )
    incident: Incident = Field(description="Where the story of the incident is told.")
    extend: tuple[str, ...] = Field(
        default=(),
        description="Python of your own that adds to what a scenario can say: files, relative to the scenario's, or "
        "modules. It is loaded before the rest is read.",
        examples=[["./maintenance.py"]],
    )
    time_scale: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=1,
        description="A label for the report: how many times faster than in production it happens here.",
        examples=[60],
    )
    preserves: str = Field(
        default="",
        description="A label for the report: the ratio that makes this run the same incident.",
        examples=["record size / max.request.size"],
    )
    traffic: TrafficSpec = Field(description="The source events: how many, of which kinds, and for which pages.")
    mock: Mock = Field(default=Mock(), description="The mock API that the programs fetch from.")
    timeline: Timeline = Field(
        default=(),
        description="Faults on the parts of the stack, the network, the programs or the machine, each in the arms"
        " that it names.",
        examples=[[{"name": "broker still", "do": {"pause": {"part": "kafka"}}, "at": "10s", "for": "5s"}]],
    )
    kafka: Kafka = Field(default=Kafka(), description="The broker and its topics.")
    programs: Programs = Field(
        default={},
        description="Programs under test by name, the main one first: figures are of it, and so are"
        " expectations that name no program. Default: the pipeline alone.",
        examples=[{"html": {"run": "pipeline"}, "reader": {"run": "consumer", "needs": ["html"]}}],
    )
    pipeline: Overlay = Field(
        default={},
        description="Configuration of the pipeline that all arms share.",
        examples=[{"batch": {"max_offsets": 50}}],
    )
    container: Container | None = Field(
        default=None,
        description="Limits of each program, all its processes together. A program that exceeds one is killed "
        "with exit code 137.",
    )
    traffic_begins: Literal["at once", "when running"] = Field(
        default="at once",
        description="`at once` publishes while the main program starts. `when running` waits until its first "
        "query runs and it is warm.",
    )
    restart_delay: Duration = Field(
        default=timedelta(seconds=1), description="Time that the supervisor waits before it starts a program again."
    )
    margin: Annotated[float, Field(ge=1, allow_inf_nan=False)] = Field(
        default=MARGIN,
        description="How many times more time than an idle machine needs the scenario leaves. On a machine that "
        "is slower than that, what depends on time is not judged.",
    )
    until: Until = Field(description="When an arm ends.")
    arms: Arms = Field(description="What the arms differ in: the difference is the incident.")
    tried_first: TriedFirst = Field(
        default=TriedFirst(),
        description="What the operator tries in an arm before its own start. The main program is started with it "
        "once; the expectation `refused` is about that start.",
    )
    expect: Expectations = Field(description="What must hold in each arm for the verdict *reproduced and fixed*.")

    def overlay(self, arm: ArmName) -> dict[str, Any]:
        return self.arms.of(arm).overlay
