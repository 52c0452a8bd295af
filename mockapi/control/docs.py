"""`/docs`: the OpenAPI document as a page that needs no script and nothing from elsewhere."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from located_config.duration import DURATION_PATTERN
from mockapi.control.fault_list import GROUPS, described, rule_example

_METHODS: Final = ("get", "put", "post", "patch", "delete")

Document = Mapping[str, Any]


def docs_page(document: Document) -> str:
    """HTML from the OpenAPI document, a section for each tag; it loads nothing from elsewhere."""
    operations = [
        (path, method, item[method])
        for path, item in document["paths"].items()
        for method in _METHODS
        if method in item
    ]
    tags = list(dict.fromkeys(operation["tags"][0] for _, _, operation in operations))
    parts = "".join(
        f'<section id="{_anchor(tag)}"><h2>{escape(tag)}</h2>'
        + "".join(_operation(document, *operation) for operation in operations if operation[2]["tags"][0] == tag)
        + "</section>"
        for tag in tags
    )
    contents = "".join(f'<a href="#{_anchor(tag)}">{escape(tag)}</a> ' for tag in [*tags, "faults", "models"])
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>mockapi: description</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        '<link rel="stylesheet" href="/__mock/page.css"></head><body class=docs>'
        '<header><h1>mockapi</h1><nav><a href="/__mock/">the mock now</a> <a href="/openapi.json">openapi.json</a> '
        f'<a href="/metrics">metrics</a></nav></header><p>{escape(document["info"]["description"])}</p>'
        f"<nav>{contents}</nav>{parts}{_faults()}{_models(document)}</body></html>"
    )


def _operation(document: Document, path: str, method: str, operation: Document) -> str:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    first, _, rest = operation.get("description", "").partition("\n\n")
    return (
        f"<details><summary><code><b>{method.upper()}</b> {escape(path)}</code> "
        f"<span>{escape(first or operation['summary'])}</span></summary>"
        f"{f'<p>{escape(rest)}</p>' if rest else ''}"
        f"{_parameters(operation.get('parameters', ()))}"
        f"{_body(document, path, method, body) if body else ''}"
        f"{_answers(operation['responses'])}</details>"
    )


def _parameters(parameters: Any) -> str:
    rows = "".join(
        f"<tr><th><code>{escape(parameter['name'])}</code></th><td>{escape(parameter['in'])}</td>"
        f"<td>{escape(parameter.get('description', ''))}</td><td>{_example(parameter)}</td></tr>"
        for parameter in parameters
    )
    return f"<div class=wide><table><caption>Parameters</caption>{rows}</table></div>" if rows else ""


def _example(parameter: Document) -> str:
    return f"<code>{escape(str(parameter['example']))}</code>" if "example" in parameter else ""


def _body(document: Document, path: str, method: str, body: Document) -> str:
    name, example = next(iter(body["examples"].items()))
    text = json.dumps(example["value"], ensure_ascii=False)
    concrete = path.replace("{name}", "slow%20page")
    curl = f"curl -X {method.upper()} http://127.0.0.1:8080{concrete} --json '{text}'"
    return f"<p>Example: {escape(name)}</p><pre>{escape(curl)}</pre>{_keys(document, body['schema'])}"


def _keys(document: Document, schema: Document) -> str:
    """The keys of what a body may be, each with the part of the schema that says what may stand there."""
    inner = schema.get("items", schema)
    model = document["components"]["schemas"].get(inner.get("$ref", "").rpartition("/")[2], inner)
    rows = "".join(
        f"<tr><th><code>{escape(key)}</code></th><td>{'required' if key in model.get('required', ()) else ''}</td>"
        f"<td>{_form(value)}</td></tr>"
        for key, value in model.get("properties", {}).items()
    )
    caption = "Each in the list" if "items" in schema else "The body"
    return f"<div class=wide><table><caption>{caption}</caption>{rows}</table></div>" if rows else ""


def _form(schema: Document) -> str:
    """A schema in a few words; a model is a link to its keys."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{_anchor(name)}">{escape(name.removesuffix("-Input"))}</a>'
    if "anyOf" in schema:
        return " or ".join(_form(option) for option in schema["anyOf"] if option.get("type") != "null")
    if "enum" in schema:
        return " or ".join(f"<code>{escape(json.dumps(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_form(schema.get('items', {}))}"
    if schema.get("pattern") == DURATION_PATTERN:
        return "time, such as <code>40ms</code>"
    return escape(str(schema.get("type", "anything")))


def _models(document: Document) -> str:
    parts = "".join(
        f'<div id="{_anchor(name)}"><h3>{escape(name.removesuffix("-Input"))}</h3>'
        f"<p>{escape(schema.get('description', ''))}</p>{_keys(document, schema)}</div>"
        for name, schema in document["components"]["schemas"].items()
        if name.endswith("-Input")
    )
    return f'<section id="models"><h2>Models</h2>{parts}</section>'


def _answers(responses: Document) -> str:
    rows = "".join(
        f"<tr><th>{escape(status)}</th><td>{escape(answer.get('description', ''))}</td></tr>"
        for status, answer in responses.items()
    )
    return f"<div class=wide><table><caption>Answers</caption>{rows}</table></div>"


def _faults() -> str:
    return f'<section id="faults"><h2>Faults</h2>{"".join(_fault_groups())}</section>'


def _fault_groups() -> Iterator[str]:
    for group, title in GROUPS.items():
        rows = "".join(
            f"<tr><th><code>{escape(fault.name)}</code></th><td>{escape(fault.summary)}"
            f"{'' if fault.deterministic else ' <i>(depends on time, order or load)</i>'}</td>"
            f"<td><code>{escape(rule_example(fault))}</code></td></tr>"
            for fault in described()
            if fault.group == group
        )
        if rows:
            yield f"<h3>{escape(title)}</h3><div class=wide><table>{rows}</table></div>"


def _anchor(tag: str) -> str:
    return tag.lower().replace(" ", "-")
