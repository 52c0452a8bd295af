"""The requests that are put to both wikis: the files of `requests/`, each written out into single questions.

A file is a list. An entry names its path under `get`, `head`, `post` … and may have

- `with`: lists of values; the entry stands for every combination, `{name}` in any text being the value
- `query`, `form`: parameters, sent urlencoded; `headers`; `body`; `as`: a user who has logged in
- `about`: titles whose revisions the answer may speak of, besides those that the request names
- `mock`: path and headers that the mock gets instead, where the real wiki stands behind a gateway
- `ignore`: pointers into a JSON answer whose values are each wiki's own affair

Placeholders: `{rev:Plain:1}`, `{time:Plain:1}`, `{page:Plain}`, `{title:Äpfel & Öl}` (percent-encoded), `{token:csrf}`,
`{json-token:csrf}` (quoted for a JSON body), `{many:51}` (revisions that nobody has), `{bytes:9}`; in headers also
`{etag}` and `{modified}`, `{modified+1h}`, `{modified-1h}`: those of the answer without these headers.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Final

import yaml

REQUESTS: Final = Path(__file__).parent / "requests"
_METHODS: Final = ("get", "head", "post", "put", "delete", "options", "patch")
_KNOWN: Final = {*_METHODS, "with", "query", "form", "headers", "body", "as", "about", "mock", "ignore"}
PLACEHOLDER: Final = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True)
class Question:
    """One request with its placeholders; `name` says all of it and is unique."""

    group: str
    name: str
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    user: str | None = "anonymous"
    about: tuple[str, ...] = ()
    mock: Mapping[str, Any] | None = None
    ignore: tuple[str, ...] = ()


def load_questions(folder: Path = REQUESTS) -> list[Question]:
    """All questions, in the order of files and entries. Raises ValueError with file, entry and what is wrong."""
    questions: list[Question] = []
    for file in sorted(folder.glob("*.yaml")):
        for number, entry in enumerate(yaml.safe_load(file.read_text(encoding="utf-8"))):
            where = f"{file.name}, entry {number + 1}"
            if unknown := set(entry) - _KNOWN:
                raise ValueError(f"{where}: unknown keys {sorted(unknown)}; known are {sorted(_KNOWN)}")
            if sum(method in entry for method in _METHODS) != 1:
                raise ValueError(f"{where}: one of {', '.join(_METHODS)} is needed")
            questions += (_question(file.stem, single) for single in _written_out(entry))
    names = [(question.group, question.name) for question in questions]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"asked twice: {twice}")
    return questions


def labels_in(text: str) -> Iterator[tuple[str, str]]:
    """The placeholders of a text as kind and argument, such as `rev` and `Plain:1`."""
    for found in PLACEHOLDER.finditer(text):
        kind, _, argument = found[1].partition(":")
        yield kind, argument


def _written_out(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    choices: Mapping[str, list[Any]] = entry.get("with", {})
    plain = {key: value for key, value in entry.items() if key != "with"}
    for values in product(*choices.values()):
        yield _fill(plain, dict(zip(choices, values, strict=True)))


def _fill(value: Any, chosen: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        # A value of `with` may hold placeholders itself.
        for name, choice in chosen.items():
            value = value.replace(f"{{{name}}}", str(choice))
        return value
    if isinstance(value, dict):
        return {_fill(key, chosen): _fill(member, chosen) for key, member in value.items()}
    if isinstance(value, list):
        return [_fill(member, chosen) for member in value]
    return value


def _question(group: str, entry: Mapping[str, Any]) -> Question:
    method = next(method for method in _METHODS if method in entry)
    query = {key: str(value) for key, value in entry.get("query", {}).items()}
    form = {key: str(value) for key, value in entry["form"].items()} if "form" in entry else None
    headers = {key: str(value) for key, value in entry.get("headers", {}).items()}
    extras = [
        *([f"?{_listed(query)}"] if query else []),
        *([f"form {_listed(form)}"] if form is not None else []),
        *([f"body {entry['body']}"] if "body" in entry else []),
        *(f"{key}: {value}" for key, value in headers.items()),
        *([f"as {entry['as']}"] if "as" in entry else []),
        *([f"through {entry['mock']['path']}"] if "mock" in entry else []),
    ]
    name = " | ".join([f"{method.upper()} {entry[method]}", *extras])
    return Question(
        group=group,
        name=name if len(name) <= 300 else f"{name[:300]}...",
        method=method.upper(),
        path=entry[method],
        query=query,
        form=form,
        headers=headers,
        body=entry.get("body"),
        user=None if entry.get("as") == "administrator" else entry.get("as", "anonymous"),
        about=tuple(entry.get("about", ())),
        mock=entry.get("mock"),
        ignore=tuple(entry.get("ignore", ())),
    )


def _listed(fields: Mapping[str, str]) -> str:
    return "&".join(f"{key}={value}" for key, value in fields.items())
