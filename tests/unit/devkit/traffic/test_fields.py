"""Generated events have the fields of real ones; docs/traffic.md lists those that they never have."""

from pathlib import Path

import orjson

from pipeline import schemas
from tests.unit.devkit.traffic.event_fields import generated_fields, never_generated, stated_fields


def test_every_field_of_the_schema_occurs_with_its_type_or_is_documented() -> None:
    schema = orjson.loads((Path(schemas.__file__).parent / "page_change.json").read_bytes())
    stated, generated = stated_fields(schema), generated_fields()
    assert stated.keys() - generated.keys() == never_generated()
    assert {pointer: types for pointer, types in generated.items() if types != {stated.get(pointer)}} == {}
