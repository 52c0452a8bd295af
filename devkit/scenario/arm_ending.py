"""When an arm ends: by one of its conditions, else by its deadline."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator

from devkit.scenario.until_keys import LogsReached, MetricsReached
from located_config.duration import PositiveDuration


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


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
        default=None, description="Time since the arm's start, without its warm-up.", examples=["30s"]
    )
    log: LogsReached = Field(
        default=(),
        description="The program wrote an event on its standard output, `at_least` this number of times; or a list.",
        examples=[{"event": "waiting", "at_least": 2}],
    )
    metric: MetricsReached = Field(
        default=(),
        description="A metric of the main program is within bounds, summed over the series that match; or a list.",
        examples=[{"name": "enrichment_lag_events", "at_least": 500}],
    )

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"no condition; write one of {', '.join(type(self).model_fields)}")
        for name in type(self).model_fields:
            if name in self.model_fields_set and getattr(self, name) is None:
                raise ValueError(f"{name} says nothing; write its value")
        return self


class Until(_Model):
    """When an arm ends: any of the conditions, or the deadline, counted from the arm's start."""

    any: Annotated[tuple[Condition, ...], Field(min_length=1)] = Field(
        description="Conditions, of which one is enough. All keys of a condition have to be reached.",
        examples=[[{"drained": True}, {"restarts": 2}]],
    )
    deadline: PositiveDuration = Field(description="Time from the arm's start after which it ends in any case.")
