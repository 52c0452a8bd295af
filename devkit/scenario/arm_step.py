"""A step of an arm: the main program is started or stopped, something is awaited, or an operator's command is run."""

import shlex
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from devkit.expectations.refused import RefusalPattern
from devkit.faults.condition import RequestSeen, When
from devkit.scenario.end_condition import Condition
from devkit.scenario.programs import Overlay
from located_config.duration import PositiveDuration, format_duration
from located_config.flow import flow
from located_config.quantity import refused

_COMMAND = timedelta(seconds=120)


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Start(_Model):
    """Which start it is; of it, the supervisor's restarts after it have the configuration alone."""

    position: Literal["new", "checkpoint"] = Field(
        default="checkpoint",
        description="`new` makes the checkpoint, and begins at the arm's `start`. `checkpoint` continues, as a restart "
        "does.",
    )
    arguments: tuple[str, ...] = Field(
        default=(),
        description="More arguments of this one start, with places such as `{uncommitted_since}` to fill in.",
        examples=[["--new", "timestamp={uncommitted_since}", "--adopt-ledger"]],
    )
    configuration: Overlay = Field(
        default={},
        description="Configuration on top of the arm's, as the operator changed it for this start. It stays for the "
        "supervisor's restarts; the next `start` has the arm's own again, with what it says itself on top. Keys of "
        "topics cannot change.",
        examples=[{"batch": {"max_offsets": 50}}],
    )

    def __str__(self) -> str:
        words = self.arguments if self.arguments and self.position == "checkpoint" else (self.position, *self.arguments)
        return f"start {shlex.join(words)}" + (f" with {flow(self.configuration)}" if self.configuration else "")


class Awaited(Condition):
    """What the arm waits for. All that is given must have been reached, before the arm's deadline."""

    refused: (
        Annotated[
            RefusalPattern,
            BeforeValidator(
                lambda value: {"message": value} if isinstance(value, str) else value,
                json_schema_input_type=RefusalPattern | str,
            ),
        ]
        | None
    ) = Field(
        default=None,
        description="The main program refused its start, with this text as part of what it reported. Any other refusal "
        "ends the arm.",
        examples=["holds no position to continue from"],
    )
    running: Literal[True] | None = Field(default=None, description="The query of the main program runs.")

    def __str__(self) -> str:
        conditions = (_format_condition(name, getattr(self, name)) for name in sorted(self.model_fields_set))
        return f"expect {', '.join(conditions)}"


def _format_condition(name: str, value: Any) -> str:
    if isinstance(value, RefusalPattern):
        return f"{name}: …{value.message}…"
    if value is True:
        return name.replace("_", " ")
    if name in ("any", "all"):
        return f"{name}: {flow([item.model_dump(mode='json', exclude_unset=True) for item in value])}"
    item = value[0] if isinstance(value, tuple) and len(value) == 1 else value
    if isinstance(item, BaseModel):
        item = ", ".join(f"{key} {part}" for key, part in item.model_dump(mode="json", exclude_unset=True).items())
    return f"{name}: {item}"


class OperatorCommand(_Model):
    """A command line that is run once, with the environment of the main program; it has to end."""

    argv: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        description="Its words, with places such as `{config}` and `{checkpoint}` to fill in. It runs in the directory "
        "in which the kit was started.",
        examples=[["{python}", "-m", "pipeline", "checkpoint", "show", "--config", "{config}"]],
    )
    exit_code: int = Field(default=0, description="Exit code that it must end with.", examples=[2])
    within: PositiveDuration = Field(default=_COMMAND, description="Time after which it is killed, and has failed.")

    def __str__(self) -> str:
        code = f", exit code {self.exit_code}" if self.exit_code else ""
        within = "" if self.within == _COMMAND else f", within {format_duration(self.within)}"
        return f"command {shlex.join(self.argv)}{code}{within}"


def _expand_start(value: object) -> object:
    return {"position": value} if isinstance(value, str) else value


def _expand_command(value: object) -> object:
    return {"argv": value} if isinstance(value, list | tuple) else value


def _refuse_request(condition: Any) -> Any:
    if isinstance(condition, RequestSeen):
        raise refused("a step does not wait at a request", "let a fault of the timeline do")
    return condition


class ArmStep(_Model):
    """One of: start, stop, expect, when, command."""

    start: (
        Annotated[Start, BeforeValidator(_expand_start, json_schema_input_type=Start | Literal["new", "checkpoint"])]
        | None
    ) = Field(
        default=None,
        description="Start the main program: `new`, `checkpoint`, or with `arguments` or a `configuration` of its own.",
        examples=["new"],
    )
    stop: Literal[True] | None = Field(
        default=None, description="Stop the main program by SIGTERM, and wait until it has ended."
    )
    expect: Awaited | None = Field(
        default=None,
        description="Wait for an outcome. An arm in which it does not come does not hold.",
        examples=[{"refused": "holds no position to continue from"}],
    )
    when: Annotated[When, AfterValidator(_refuse_request)] | None = Field(
        default=None,
        description="Wait for a condition, as a fault of the timeline does.",
        examples=["committed >= 50%"],
    )
    command: (
        Annotated[
            OperatorCommand,
            BeforeValidator(_expand_command, json_schema_input_type=OperatorCommand | tuple[str, ...]),
        ]
        | None
    ) = Field(
        default=None,
        description="Run an operator's command: a list of words, or a mapping with `argv` and what else there is. An "
        "arm in which it ends otherwise than expected does not hold.",
        examples=[["{python}", "-m", "pipeline", "checkpoint", "show", "--config", "{config}"]],
    )

    @model_validator(mode="after")
    def _check_one_key(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError(f"each step is one of {', '.join(ArmStep.model_fields)}")
        if getattr(self, self.kind) is None:
            raise ValueError(f"{self.kind} says nothing; write its value")
        return self

    @property
    def kind(self) -> str:
        """Its key."""
        (name,) = self.model_fields_set
        return name

    def __str__(self) -> str:
        if self.kind in ("stop", "when"):
            return "stop" if self.stop else f"when {self.when}"
        return str(getattr(self, self.kind))


Steps = tuple[ArmStep, ...]
