"""The expectations that a scenario can state."""

import json

from pydantic import TypeAdapter

from devkit.expectations.base import ExpectationKind
from devkit.expectations.registry import EXPECTATIONS
from devkit.observe.observable import BECAUSE
from docs.generate.markdown import code, in_a_cell, page, table, value_form
from located_config.schema import AsWritten
from located_config.words import Schema, forms, in_words

_INTRODUCTION = """\
Under `expect` of a [scenario](scenario.md) each arm or role has a list of these, one key in each item. A bound is a
value alone, which must be met exactly, or `at_least`, `at_most` or both, inclusive. If [a program](../own-pipeline.md)
does not report the figure of an expectation, the expectation is not observable: it is neither met nor broken, and the
run is inconclusive."""


def expectations() -> str:
    """Every expectation, in the order of the registry."""
    rows = [
        (code(f"{one.name}: {one.example}"), in_a_cell(one.summary), _argument(one), _needs(one))
        for one in EXPECTATIONS.values()
    ]
    shown = table(("needs", "not observable if"), [(code(name), reason) for name, reason in BECAUSE.items()])
    return page(
        "Expectations",
        _INTRODUCTION,
        table(("example", "what it measures or requires", "value", "needs"), rows),
        "## Required observations {#observable}",
        shown,
    )


def _argument(one: ExpectationKind) -> str:
    schema: Schema = TypeAdapter(one.argument).json_schema(by_alias=True, schema_generator=AsWritten)
    definitions = schema.get("$defs", {})
    bounds = {"at_least", "at_most"}
    choices = list(forms(schema, definitions))
    models = [choice for choice in choices if "properties" in choice]
    if not models:
        return value_form(in_words(schema, definitions))
    properties = models[0]["properties"]
    words = [in_words(choice, definitions) for choice in choices if "const" in choice or "enum" in choice]
    words += [f"bound: {in_words(properties['at_least'], definitions)}"] if bounds <= properties.keys() else []
    words += [_key(name, properties[name], definitions) for name in properties if name not in bounds]
    return value_form(", ".join(words))


def _key(name: str, schema: Schema, definitions: Schema) -> str:
    default = schema.get("default")
    return f"{code(name)}: {in_words(schema, definitions)}" + (
        f" (default: {code(default if isinstance(default, str) else json.dumps(default))})" if default else ""
    )


def _needs(one: ExpectationKind) -> str:
    return ", ".join(code(name) for name in sorted(one.needs))
