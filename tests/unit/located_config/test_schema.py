from datetime import timedelta

from pydantic import BaseModel

from located_config.duration import DURATION_PATTERN, PositiveDuration
from located_config.schema import AsWritten


class _Model(BaseModel):
    wait: PositiveDuration = timedelta(seconds=90)
    most: PositiveDuration | None = timedelta(hours=1)


def test_a_default_stands_as_people_write_it() -> None:
    properties = _Model.model_json_schema(schema_generator=AsWritten)["properties"]
    assert properties["wait"] == {"type": "string", "pattern": DURATION_PATTERN, "default": "90s", "title": "Wait"}
    assert properties["most"]["default"] == "1h"
