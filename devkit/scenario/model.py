"""The model of a scenario file. Its values are those of the run, not of production.

All arms share `pipeline`; each of `arms` has its own configuration on top. The difference between the arms is what the
incident was about. `time_scale` is a label for the report, and `preserves` names the ratio that makes this run the same
incident.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    model_validator,
)

from devkit.container.limits import Container
from devkit.expectations import Expectation
from devkit.expectations.gave_up import GaveUp
from devkit.expectations.never_ran import NeverRan
from devkit.expectations.program_argument import WhetherItDid
from devkit.faults.timeline_item import Timeline, TimelineItem
from devkit.headroom.shortage import MARGIN
from devkit.observe.arm_role import ArmName, ArmRole, arms_named
from devkit.programs.supervisor_policy import SupervisorPolicy
from devkit.scenario.arms import Arms, Expectations, TriedFirst, require_arms, require_expectations, wrong_at
from devkit.scenario.cause import NamedCause
from devkit.scenario.end_condition import Until
from devkit.scenario.programs import Overlay, Programs
from devkit.scenario.rule_window import ScenarioRule
from devkit.scenario.stack_settings import Kafka, Mock
from devkit.traffic.model import DIRECTORY, TrafficSpec
from located_config.place import Location
from located_config.quantity import refused


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


_NAME = r"^[a-z0-9][a-z0-9-]{0,60}$"


def _check_name(name: str) -> str:
    if not re.match(_NAME, name):
        suggested = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:61] or "my-incident"
        raise refused("must be 1 to 61 lower case letters, digits and hyphens", f"write for example {suggested}")
    if name in ("latest", "stack"):
        raise ValueError(f"{name!r} is the name of something else in the directory of runs; choose another")
    return name


ScenarioName = Annotated[str, AfterValidator(_check_name)]


class Scenario(_Model):
    """One incident, as a file describes it."""

    name: ScenarioName = Field(
        json_schema_extra={"pattern": _NAME},
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
    traffic_begins: Literal["before the start", "at once", "when running"] = Field(
        default="at once",
        description="`at once` publishes while the main program starts. `when running` waits until its first "
        "query runs and it is warm. `before the start` publishes everything before any program starts.",
    )
    supervisor: SupervisorPolicy = Field(
        default=SupervisorPolicy(),
        description="When the supervisor starts a program again, and when it gives up.",
        examples=[{"delay": "2s", "attempts": 3}],
    )
    margin: Annotated[float, Field(ge=1, allow_inf_nan=False)] = Field(
        default=MARGIN,
        description="How many times more time than an idle machine needs the scenario leaves. On a machine that "
        "is slower than that, what depends on time is not judged.",
    )
    until: Until = Field(description="When an arm ends.")
    cause: tuple[NamedCause, ...] = Field(
        default=(),
        description="What makes the incident. All of it must be seen to be present and to act in the run, else the run "
        "is inconclusive. Default: every fault.",
        examples=[[{"fault": "huge page"}, {"differs": "record_limit.policy"}]],
    )
    arms: Arms = Field(
        description="The arms by name, and what each has of its own: configuration, and under `programs` that of "
        "single ones. What they differ in is the incident.",
        examples=[{"incident": {"record_limit": {"policy": "none"}}, "fixed": None}],
    )
    tried_first: TriedFirst = Field(
        default={},
        examples=[{"fixed": {"metrics": {"on_collision": "refuse"}}}],
        description="What the operator tries in an arm before its own start. The main program is started with it "
        "once; the expectation `refused` is about that start. Configuration on top of the arm's, by arm or by role.",
    )
    expect: Expectations = Field(
        description="What must hold in each arm for the verdict *reproduced and fixed*, by arm or by role.",
        examples=[{"incident": [{"restarts": {"at_least": 2}}], "fixed": [{"drained": True}, {"audit": "clean"}]}],
    )

    _directory: Path | None = PrivateAttr(default=None)

    @property
    def directory(self) -> Path | None:
        """That of its file; None of a scenario that was read from none."""
        return self._directory

    def in_directory_of(self, other: "Scenario") -> Self:
        """This one, with the directory of the scenario that it was made from."""
        self._directory = other.directory
        return self

    @model_validator(mode="after")
    def _keep_directory(self, info: ValidationInfo) -> Self:
        self._directory = (info.context or {}).get(DIRECTORY)
        return self

    @model_validator(mode="after")
    def _check_arms(self) -> Self:
        require_expectations(self.expect, self.roles)
        require_arms(("tried_first",), self.tried_first, self.roles)
        for number, item in enumerate(self.timeline):
            require_arms(("timeline", number, "arms"), item.arms, self.roles)
        for place, page in self.traffic.pages_at():
            if isinstance(page.error, Mapping):
                require_arms((*place, "error"), page.error, self.roles)
        for place, patches in self.traffic.patches_at():
            for number, patch in enumerate(patches):
                if isinstance(patch.error, Mapping):
                    require_arms((*place, number, "error"), patch.error, self.roles)
        for number, cause in enumerate(self.cause):
            absent_at = ("cause", number, "absent_in")
            require_arms(absent_at, cause.absent_in, self.roles)
            if wrong := [arm for arm in arms_named(cause.absent_in, self.roles) if self.roles[arm] != "fixed"]:
                raise wrong_at(absent_at, f"{wrong[0]} is no fixed arm, so the absence is no fix", "name fixed arms")
        for arm, settings in self.arms.items():
            for number, item in enumerate(settings.timeline):
                if "arms" in item.model_fields_set:
                    place = ("arms", arm, "timeline", number, "arms")
                    raise wrong_at(place, "what stands in an arm acts in this one alone", "leave it out")
        return self

    def with_seed(self, seed: int) -> Self:
        """The same with another seed of traffic and faults."""
        return self.model_copy(update={"traffic": self.traffic.model_copy(update={"seed": seed})})

    @property
    def roles(self) -> dict[ArmName, ArmRole]:
        """The arms in the order in which they are played."""
        return {name: settings.role for name, settings in self.arms.items() if settings.role is not None}

    def expected_of(self, arm: ArmName) -> tuple[Expectation, ...]:
        """In the order of the file, at least one."""
        return self.expect[self.key_of(self.expect, arm)]

    def tried_first_in(self, arm: ArmName) -> dict[str, Any] | None:
        """None if nothing is tried; empty for a start with the arm's own configuration."""
        return self.tried_first.get(self.key_of(self.tried_first, arm))

    def may_refuse(self, arm: ArmName) -> bool:
        """Whether the arm's own start may be refused, by an expectation or a step."""
        is_awaited = any(step.expect and step.expect.refused for step in self.arms[arm].steps)
        is_expected = (
            any(expectation.kind == "refused" for expectation in self.expected_of(arm))
            and self.tried_first_in(arm) is None
        )
        return is_awaited or is_expected or self._expects(arm, next(iter(self.programs), ""), NeverRan)

    def may_never_run(self, arm: ArmName, program: str) -> bool:
        """Whether the program is expected never to run in this arm, or its supervisor to give up."""
        return self._expects(arm, program, NeverRan, GaveUp)

    def _expects(self, arm: ArmName, program: str, *kinds: type[WhetherItDid]) -> bool:
        main = next(iter(self.programs), "")
        return any(
            (expectation.program or main) == program
            for expectation in self.expected_of(arm)
            if isinstance(expectation.argument, kinds) and expectation.argument.it_did
        )

    def timeline_of(self, arm: ArmName) -> tuple[TimelineItem, ...]:
        """The faults of this arm: the shared ones, then its own, which replace shared ones of the same name."""
        shared = {item.name: item for item in self.timeline if arm in arms_named(item.arms, self.roles)}
        return tuple((shared | {item.name: item for item in self.arms[arm].timeline}).values())

    def faults_of(self, arm: ArmName) -> tuple[str, ...]:
        """The names of all faults of an arm: rules of the mock first, then those of the timeline."""
        rules = self.for_arm(arm).mock.rules
        return (*(rule.name for rule in rules), *(item.name for item in self.timeline_of(arm)))

    def absent_in(self, fault: str) -> frozenset[ArmName]:
        """The fixed arms in which the fault's absence is the fix, as `cause` says."""
        named = [cause.absent_in for cause in self.cause if cause.fault == fault]
        return frozenset(arm for words in named for arm in arms_named(words, self.roles))

    @property
    def named_parts(self) -> frozenset[str]:
        """The parts that programs find by a name, in all arms: those that a fault of any arm needs so."""
        return frozenset(part for _, item, _ in self.timeline_at() for part in item.named)

    def timeline_at(self) -> Iterator[tuple[Location, TimelineItem, frozenset[ArmName]]]:
        """All faults of the timeline, also those of single arms, with their places and arms."""
        for number, item in enumerate(self.timeline):
            having = {arm for arm in arms_named(item.arms, self.roles) if item in self.timeline_of(arm)}
            yield ("timeline", number), item, frozenset(having)
        for arm, settings in self.arms.items():
            for number, item in enumerate(settings.timeline):
                yield ("arms", arm, "timeline", number), item, frozenset({arm})

    def key_of(self, entries: Mapping[str, object], arm: ArmName) -> str:
        """The arm's key in a section that is written by arm or by role."""
        return arm if arm in entries else self.roles[arm]

    def errors_of_pages(self, arm: ArmName) -> dict[str, str]:
        """By title, the error types in which events of named pages must end in this arm, if that differs by arm."""
        return {
            str(place[-1]).replace("_", " "): page.error[key]
            for place, page in self.traffic.pages_at()
            if isinstance(page.error, Mapping) and (key := self.key_of(page.error, arm)) in page.error
        }

    def for_arm(self, arm: ArmName) -> Self:
        """The scenario with this arm's own mock rules, container and topics."""
        own = self.arms[arm]
        changes: dict[str, Any] = {"mock": self.mock.changed_by(own.mock), "container": own.container or self.container}
        if own.kafka is not None:
            topics = self.kafka.topics.changed_by(own.kafka.topics)
            changes["kafka"] = self.kafka.model_copy(update={"topics": topics})
        return self.model_copy(update=changes)

    def rules_at(self) -> Iterator[tuple[Location, ScenarioRule]]:
        """All rules of the mock, also those of single arms, with their places."""
        for number, rule in enumerate(self.mock.rules):
            yield ("mock", "rules", number), rule
        for arm, settings in self.arms.items():
            for number, rule in enumerate(settings.mock.rules if settings.mock else ()):
                yield ("arms", arm, "mock", "rules", number), rule

    def supervisor_of(self, arm: ArmName) -> SupervisorPolicy:
        """The shared policy with the arm's own keys on top."""
        return self.supervisor.changed_by(self.arms[arm].supervisor)

    def overlay(self, arm: ArmName) -> dict[str, Any]:
        """Configuration of the arm as such; that of single programs is in `arms[arm].programs`."""
        return self.arms[arm].overlay
