"""When an arm ends: by its conditions, else by its deadline. A condition may have others in it, to any depth."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, model_validator

from devkit.expectations.bounds import Number
from devkit.expectations.metric import MetricName, MetricPattern
from devkit.expectations.program_argument import ProgramArgument
from located_config.duration import PositiveDuration
from located_config.place import Location


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class MetricReached(Number, MetricPattern):
    """The series that match, summed, are within the bounds at one look."""

    name: MetricName = Field(
        description="Name of the metric as a query asks for it, a counter's with its `_total`.",
        examples=["enrichment_lag_events"],
    )
    labels: dict[str, str] = Field(
        default={}, description="Labels with the value that each must have.", examples=[{"partition": "0"}]
    )
    at_least: float | None = Field(default=None, description="Lower bound, inclusive.", examples=[500])
    at_most: float | None = Field(default=None, description="Upper bound, inclusive.", examples=[0])


class LogReached(ProgramArgument):
    """The program wrote the event on its standard output this number of times."""

    program: str | None = Field(
        default=None, description="Name of one of several programs. Default: the main one.", examples=["reader"]
    )
    event: str = Field(min_length=1, description="Name of the event, its field `event`.", examples=["waiting"])
    at_least: PositiveInt = Field(
        default=1,
        description="Number of times from the arm's start on, also before a restart or a step of the arm.",
        examples=[2],
    )


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


MetricsReached = Annotated[
    tuple[MetricReached, ...],
    BeforeValidator(_as_list, json_schema_input_type=MetricReached | tuple[MetricReached, ...]),
]
LogsReached = Annotated[
    tuple[LogReached, ...], BeforeValidator(_as_list, json_schema_input_type=LogReached | tuple[LogReached, ...])
]


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

    gave_up: Literal[True] | None = Field(
        default=None, description="The supervisor has given up on the main program, by the `attempts` of its policy."
    )
    elapsed: PositiveDuration | None = Field(
        default=None,
        description="Time since the arm's start, without its warm-up. The start of the programs counts: Spark's takes "
        "some ten seconds, more on a busy machine.",
        examples=["30s"],
    )
    running_for: PositiveDuration | None = Field(
        default=None,
        description="Time since the query of the main program first ran, and was warm; of a command since its process "
        "began. Restarts do not begin it anew.",
        examples=["10s"],
    )
    log: LogsReached = Field(
        default=(),
        description="The program wrote an event on its standard output, `at_least` this number of times; or a list.",
        examples=[{"event": "waiting", "at_least": 2}],
    )
    metric: MetricsReached = Field(
        default=(),
        description="A metric of a program is within bounds, summed over the series that match; or a list.",
        examples=[{"name": "enrichment_lag_events", "at_least": 500}],
    )

    any: Annotated[tuple["Condition", ...], Field(min_length=1)] | None = Field(
        default=None,
        description="Conditions, of which one is enough.",
        examples=[[{"restarts": 1}, {"gave_up": True}]],
    )
    all: Annotated[tuple["Condition", ...], Field(min_length=1)] | None = Field(
        default=None,
        description="Conditions, all of which have to be reached.",
        examples=[[{"elapsed": "20s"}, {"any": [{"drained": True}, {"replays": 1}]}]],
    )

    @model_validator(mode="after")
    def _check_values(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"no condition; write one of {', '.join(type(self).model_fields)}")
        for name in type(self).model_fields:
            if name in self.model_fields_set and getattr(self, name) is None:
                raise ValueError(f"{name} says nothing; write its value")
        return self

    def inside(self, place: Location = ()) -> Iterator[tuple[Location, "Condition"]]:
        """The condition and all conditions inside it, each with its place."""
        yield place, self
        for key in ("any", "all"):
            for number, condition in enumerate(getattr(self, key) or ()):
                yield from condition.inside((*place, key, number))

    @property
    def surely_after(self) -> timedelta | None:
        """The time since the arm's start after which it is reached in any case; None if that is unknown."""
        if not self.model_fields_set <= {"elapsed", "any", "all"}:
            return None
        needed = [condition.surely_after for condition in self.all or ()]
        if self.elapsed is not None:
            needed.append(self.elapsed)
        if self.any is not None:
            needed.append(
                min((time for condition in self.any if (time := condition.surely_after) is not None), default=None)
            )
        known = [time for time in needed if time is not None]
        return max(known) if len(known) == len(needed) else None

    @property
    def by_drained_alone(self) -> bool:
        """Whether it is reached as soon as the arm has drained."""
        if not self.model_fields_set <= {"drained", "any", "all"}:
            return False
        is_any = self.any is None or any(condition.by_drained_alone for condition in self.any)
        return is_any and all(condition.by_drained_alone for condition in self.all or ())


class Until(_Model):
    """When an arm ends: any of the conditions, or all, or the deadline, counted from the arm's start."""

    any: Annotated[tuple[Condition, ...], Field(min_length=1)] | None = Field(
        default=None,
        description="Conditions, of which one is enough. All keys of a condition have to be reached. Write either this "
        "or `all`.",
        examples=[[{"drained": True}, {"restarts": 2}]],
    )
    all: Annotated[tuple[Condition, ...], Field(min_length=1)] | None = Field(
        default=None,
        description="Conditions, all of which have to be reached.",
        examples=[[{"restarts": 2}, {"elapsed": "30s"}]],
    )
    deadline: PositiveDuration = Field(description="Time from the arm's start after which it ends in any case.")

    @model_validator(mode="after")
    def _check_one_key(self) -> Self:
        if self.any is not None and self.all is not None:
            raise ValueError("any and all are both given; write one of them as a condition of the other")
        if self.any is None and self.all is None:
            raise ValueError("no condition; write `any`, a list of conditions of which one is enough")
        return self

    @property
    def condition(self) -> Condition:
        """The whole of `until` as one condition; its places are those below `until`."""
        return Condition(any=self.any) if self.any is not None else Condition(all=self.all)
