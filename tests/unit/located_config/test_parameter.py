from datetime import timedelta
from typing import Literal

from pydantic import BaseModel, Field

from located_config.duration import Duration
from located_config.parameter import Parameter, parameters_of
from located_config.schema import AsWritten


class Wait(BaseModel):
    time: Duration = Field(description="Time that passes.")
    jitter: Duration = timedelta(seconds=2)
    by: Literal["client"] | None = None


def test_each_says_what_it_may_be_whether_it_has_to_and_what_it_means() -> None:
    schema = Wait.model_json_schema(schema_generator=AsWritten)
    assert list(parameters_of(schema, {})) == [
        Parameter("time", "duration", required=True, default="", description="Time that passes."),
        Parameter("jitter", "duration", required=False, default="2s", description=""),
        Parameter("by", '"client"', required=False, default="", description=""),
    ]
