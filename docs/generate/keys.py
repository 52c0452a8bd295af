"""The keys of a pydantic model, section by section, from its JSON schema: as people write them in YAML.

    {"fetch": {"$ref": Fetch}}  ─▶  Section("fetch", …, keys=(Key("fetch.concurrency", "whole number above 0", …), …))

A section is a model; one that stands in a list is `rules[]`, one under names that the writer chooses is `pages.NAME`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaValue

from docs.generate.markdown import value_form
from located_config.duration import DURATION_PATTERN
from located_config.flow import flow
from located_config.rate import RATE_PATTERN
from located_config.schema import AsWritten
from located_config.share import SHARE_PATTERN, format_share
from located_config.size import SIZE_PATTERN, format_size
from located_config.words import Schema, forms, in_words

_EXAMPLES = {DURATION_PATTERN: "10s", SIZE_PATTERN: "20MiB", RATE_PATTERN: "20/s", SHARE_PATTERN: "5%"}


@dataclass(frozen=True)
class Key:
    """One key. `path` leads there from the top; `default` and `example` are YAML, the first None where it is required
    and empty where leaving it out is a value of its own.
    """

    path: str
    name: str
    form: str
    default: str | None
    example: str
    description: str


@dataclass(frozen=True)
class Section:
    """A model at its places, several where it is used more than once; the path of the top is empty."""

    paths: tuple[str, ...]
    description: str
    keys: tuple[Key, ...]


def sections(model: type[BaseModel], *, elsewhere: Mapping[str, str] | None = None) -> tuple[Section, ...]:
    """The model and all below it, in the order of the file.

    `elsewhere` says in Markdown what stands at a key, by its path, or in place of a model, by its name; models below
    are not entered then.
    """
    schema: Schema = model.model_json_schema(by_alias=True, schema_generator=_AsDeclared)
    walk = _Walk(schema.get("$defs", {}), elsewhere or {})
    walk.enter("", "", schema)
    return tuple(
        Section(tuple(paths), _description(one), walk.keys(paths[0], one)) for paths, one in walk.found.values()
    )


class _AsDeclared(AsWritten):
    """Keeps examples in the order in which they are written."""

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:  # noqa: ARG002
        return value


class _Walk:
    """`found` has each model once, by its name: its places, and its schema."""

    def __init__(self, definitions: Schema, elsewhere: Mapping[str, str]) -> None:
        self._definitions = definitions
        self._elsewhere = elsewhere
        self.found: dict[str, tuple[list[str], Schema]] = {}

    def enter(self, path: str, name: str, schema: Schema) -> None:
        if name in self.found:
            self.found[name][0].append(path)
            return
        self.found[name] = [path], schema
        for key, value in schema.get("properties", {}).items():
            place = f"{path}.{key}".lstrip(".")
            for inner in self._models(place, value):
                self.enter(f"{place}{self._step(value)}", inner, self._definitions[inner])

    def keys(self, path: str, schema: Schema) -> tuple[Key, ...]:
        required = schema.get("required", ())
        return tuple(
            Key(
                path=(place := f"{path}.{name}".lstrip(".")),
                name=name,
                form=self._form(place, value),
                default=None if name in required else self._default(place, value),
                example=self._example(place, value),
                description=_description(value) or self._model_says(value),
            )
            for name, value in schema.get("properties", {}).items()
        )

    def _model_says(self, value: Schema) -> str:
        """What pydantic leaves out at a key that says the same as its model."""
        return _description(self._definitions[value["$ref"].rpartition("/")[2]]) if "$ref" in value else ""

    def _form(self, path: str, value: Schema) -> str:
        if path in self._elsewhere:
            return self._elsewhere[path]
        named = [self._elsewhere[name] for name in _names(value) if name in self._elsewhere]
        if named:
            return " or ".join(named)
        inner = self._models(path, value)
        words = in_words(value, self._definitions)
        if not inner:
            return value_form(words)
        first, _schema = self.found[inner[0]]
        link = f"[{first[0]}](#{anchor(first[0])})"
        match self._step(value):
            case "[]":
                return f"list of {link}"
            case ".NAME":
                return f"mapping of names to {link}"
            case _:
                others = [word for word in words.split(" or ") if not word.startswith("{")]
                return " or ".join([link, *map(value_form, others)])

    def _models(self, path: str, value: Schema) -> list[str]:
        """The names of the models to enter from here."""
        if path in self._elsewhere:
            return []
        names = [name for name in _names(value) if name not in self._elsewhere]
        return [name for name in dict.fromkeys(names) if "properties" in self._definitions[name]]

    def _step(self, value: Schema) -> str:
        shapes = list(forms(value, self._definitions))
        if any("items" in shape for shape in shapes):
            return "[]"
        return ".NAME" if any(_is_open(shape) for shape in shapes) else ""

    def _default(self, path: str, value: Schema) -> str:
        default = value.get("default")
        if default is None or (isinstance(default, Mapping | list) and self._models(path, value)):
            return ""
        return self._written(default, value)

    def _example(self, path: str, value: Schema) -> str:
        if value.get("examples"):
            return self._written(value["examples"][0], value)
        for shape in forms(value, self._definitions):
            if shape.get("pattern") in _EXAMPLES:
                return _EXAMPLES[shape["pattern"]]
        return self._default(path, value)

    def _written(self, value: Any, schema: Schema) -> str:
        patterns = {shape.get("pattern") for shape in forms(schema, self._definitions)}
        if SIZE_PATTERN in patterns and isinstance(value, int):
            return format_size(value)
        if SHARE_PATTERN in patterns and isinstance(value, int | float):
            return format_share(value)
        return flow(value)


def anchor(path: str) -> str:
    """What a section is linked by."""
    return path.replace("[]", "").lower() or "top"


def _description(schema: Schema) -> str:
    return str(schema.get("description", ""))


def _names(value: Schema) -> Iterator[str]:
    """The models that a value refers to, in lists and mappings too."""
    if "$ref" in value:
        yield value["$ref"].rpartition("/")[2]
    named = value.get("patternProperties", {}).values()
    for inner in (*value.get("anyOf", ()), value.get("items"), value.get("additionalProperties"), *named):
        if isinstance(inner, Mapping):
            yield from _names(inner)


def _is_open(shape: Schema) -> bool:
    """Whether the writer chooses its keys."""
    values = (shape.get("additionalProperties"), shape.get("patternProperties"))
    return any(isinstance(value, Mapping) for value in values) and "properties" not in shape
