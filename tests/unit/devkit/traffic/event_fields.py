"""The fields of events and their JSON types, by pointer; the name of a content slot is `*`, an item of a list `[]`."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec

Fields = dict[str, set[str]]

_DOCS: Final = Path(__file__).parents[4] / "docs" / "traffic.md"
_TYPES: Final = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}
_EVERY_KIND: Final = {
    "seed": 11,
    "rate": "20/s",
    "for": "30s",
    "population": 40,
    "mix": {"create": 0.15, "move": 0.12, "delete": 0.1, "undelete": 0.08, "visibility_change": 0.15, "redirect": 0.1},
}


def fields_of(values: Iterable[Any], pointer: str = "") -> Fields:
    """All fields below the values, which are at `pointer`."""
    fields: Fields = {}
    for value in values:
        _collect(value, pointer, fields)
    return fields


def generated_fields() -> Fields:
    """Of traffic with changes of every kind, without what is broken on purpose."""
    records = generate(TrafficSpec.model_validate(_EVERY_KIND)).records
    return fields_of(orjson.loads(record.value) for record in records if record.expected.fate == "output")


def never_generated() -> set[str]:
    """The fields that docs/traffic.md says no generated event has."""
    section = _DOCS.read_text().split("## The fields of events")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return {f"/{name.replace('.', '/')}" for row in rows for name in re.findall(r"`(.*?)`", row)}


def stated_fields(schema: Mapping[str, Any]) -> dict[str, str]:
    """The type of each field of a JSON schema."""
    fields: dict[str, str] = {}

    def walk(node: Mapping[str, Any], pointer: str) -> None:
        if "$ref" in node:
            walk(schema["definitions"][node["$ref"].rpartition("/")[2]], pointer)
            return
        for part in node.get("allOf", ()):
            walk(part, pointer)
        if "type" in node:
            fields[pointer] = node["type"]
        for name, member in node.get("properties", {}).items():
            walk(member, f"{pointer}/{name}")
        if isinstance(other := node.get("additionalProperties"), dict):
            walk(other, f"{pointer}/*")
        if "items" in node:
            walk(node["items"], f"{pointer}/[]")

    walk(schema, "")
    return fields


def _collect(value: Any, pointer: str, fields: Fields) -> None:
    fields.setdefault(pointer, set()).add(_TYPES[type(value)])
    if isinstance(value, dict):
        for name, member in value.items():
            _collect(member, f"{pointer}/{'*' if pointer.endswith('/content_slots') else name}", fields)
    elif isinstance(value, list):
        for item in value:
            _collect(item, f"{pointer}/[]", fields)
