"""The expectations that a scenario can state."""

from pydantic import TypeAdapter

from devkit.expectations.base import ExpectationKind
from devkit.expectations.registry import EXPECTATIONS
from devkit.observe.sight import BECAUSE
from located_config.schema import AsWritten
from located_config.words import Schema, forms, in_words
from reference.markdown import code, in_a_cell, page, table, value_form

_INTRODUCTION = """\
`expect.incident` and `expect.fixed` of a [scenario](scenario.md) are lists of these, one key in each item. A bound is a
value alone, which must be met exactly, or `at_least`, `at_most` or both, inclusive. An expectation on something that
[a program](../own-pipeline.md) does not show is not observable: it is neither met nor broken, and the run is
inconclusive."""


def expectations() -> str:
    """Every expectation, in the order of the registry."""
    rows = [
        (code(f"{one.name}: {one.example}"), in_a_cell(one.summary), _argument(one), _needs(one))
        for one in EXPECTATIONS.values()
    ]
    shown = table(("to observe", "otherwise"), [(code(name), reason) for name, reason in BECAUSE.items()])
    return page(
        "Expectations",
        _INTRODUCTION,
        table(("example", "what is measured, or holds", "value", "needs"), rows),
        "## What has to be observable {#observable}",
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
    words = [f"bound: {in_words(properties['at_least'], definitions)}"] if bounds <= properties.keys() else []
    words += [f"{code(name)}: {in_words(properties[name], definitions)}" for name in properties if name not in bounds]
    return value_form(", ".join(words))


def _needs(one: ExpectationKind) -> str:
    return ", ".join(code(name) for name in sorted(one.needs))
