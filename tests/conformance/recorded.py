"""An answer as it is kept and compared: JSON without what differs from one run to the next.

Numbers of pages and revisions become their labels, the times of the revisions that were asked for `<its time>`, and
hashes, uuids, tokens and other times what they are. What the transport adds (Date, Connection …) is left out. HTML
becomes its shape; the same HTML again is only referred to.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from gzip import decompress
from typing import Any, Final

from tests.conformance.edits import Wiki
from tests.conformance.html_shape import is_html, shape
from tests.conformance.ids import Names
from tests.conformance.questions import Question, labels_in
from tests.conformance.wire import Answer

_TRANSPORT: Final = {"host", "date", "connection", "x-powered-by", "transfer-encoding", "keep-alive", "server"}
_USER_IDS: Final = {"userid", "user_id", "lguserid"}
_OWN_NUMBERS: Final = {"logid", "redirectlogid"}
_REQUEST_ID: Final = re.compile(r"[0-9a-f]{24}")
_PATTERNS: Final = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid v1>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"\b[0-9a-f]{40,48}\+\\"), "<token>"),
    (re.compile(r"\b20\d{12}\b"), "<time>"),
)
_ISO: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z")
_SIGNED: Final = re.compile(r"\d\d:\d\d, \d{1,2} [A-Z][a-z]+ 20\d\d \(UTC\)")
_HTTP_DATE: Final = re.compile(r"[A-Z][a-z]{2}, \d\d[ -][A-Z][a-z]{2}[ -]\d{4} \d\d:\d\d:\d\d GMT")
_NUMBER: Final = re.compile(r"(?<![\w.])\d{5,}(?![\w.])|(?<=[:/])\d{5,}(?=\D|$)")
_SHA1: Final = re.compile(r"\b[0-9a-f]{40}\b")
_SKIN: Final = re.compile(r'<html class="client-nojs.*?<title>(.*?)</title>', re.DOTALL)
_RENDER: Final = re.compile(r"/(?:with_)?html")

Record = dict[str, Any]


@dataclass
class Recorder:
    """Turns the answers of one wiki into records; remembers which HTML it has seen."""

    wiki: Wiki
    names: Names = field(init=False)
    _seen: dict[tuple[str, ...], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = self.wiki.ids.names()

    def record(self, name: str, answer: Answer, about: Sequence[str], ignore: Sequence[str] = ()) -> Record:
        """The record of an answer to what is called `name`, with the labels of revisions it may speak of."""
        scribe = _Scribe(self.names, about)
        record: Record = {"status": answer.status, "headers": list(_headers(answer, scribe))}
        body = decompress(answer.body) if answer.header("Content-Encoding") == "gzip" else answer.body
        text = body.decode("utf-8", "replace")
        if not body:
            return {**record, "body": "empty"}
        try:
            value = json.loads(text)
        except ValueError:
            return {**record, **self._html_or_text(name, scribe.text(text))}
        value = _without(value, ignore)
        record["json"] = self._with_shapes(name, scribe.value(value))
        return {**record, "written": _written(text)}

    def _html_or_text(self, name: str, text: str) -> Record:
        if skin := _SKIN.search(text):
            # A page for people, made by the skin: that it is one is all that counts here.
            return {"page for people": skin[1]}
        return {"html": self._shape(name, text)} if is_html(text) else {"text": text}

    def _with_shapes(self, name: str, value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("html"), str):
            return {**value, "html": self._shape(name, value["html"])}
        return value

    def _shape(self, name: str, text: str) -> list[str] | str:
        lines = shape(text)
        first = self._seen.setdefault(tuple(lines), name)
        return lines if first == name else f"as of {first}"


def labels_of(question: Question, wiki: Wiki) -> list[str]:
    """The labels of all revisions that a question is about: those it names, and the last ones of titles it names."""
    texts = [question.path, *question.query.values(), *(question.form or {}).values()]
    named = [pair for text in texts for pair in labels_in(text)]
    labels = [argument for kind, argument in named if kind == "rev"]
    titles = {argument.replace("_", " ") for kind, argument in named if kind in {"title", "page"}}
    latest = {label.rpartition(":")[0]: label for label in wiki.ids.revisions}
    return labels + [latest[title] for title in sorted({*titles, *question.about}) if title in latest]


@dataclass(frozen=True)
class _Scribe:
    names: Names
    about: Sequence[str]

    def value(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            pairs = {self.text(name): self.value(member, name) for name, member in value.items()}
            if list(value)[:2] == ["id", "name"] and "case" not in value and value["id"]:
                pairs["id"] = "<user id>"
            return pairs
        if isinstance(value, list):
            return [self.value(member, key) for member in value]
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int) and not isinstance(value, bool):
            if key in _USER_IDS and value:
                return "<user id>"
            if key in _OWN_NUMBERS:
                return "<number>"
            label = self.names.numbers.get(value)
            return value if label is None else f"<{label}>"
        return value

    def text(self, text: str) -> str:
        for pattern, placeholder in _PATTERNS:
            text = pattern.sub(placeholder, text)
        text = _ISO.sub(lambda found: self._time(f"{found[1]}Z") + (found[2] or ""), text)
        text = _SIGNED.sub("<time>", text)
        text = _HTTP_DATE.sub(lambda found: self._http_date(found[0]), text)
        text = _SHA1.sub(lambda found: _named(self.names.hashes.get(found[0]), found[0]), text)
        return _NUMBER.sub(lambda found: _named(self.names.numbers.get(int(found[0])), found[0]), text)

    def _http_date(self, text: str) -> str:
        date = parsedate_to_datetime(text).astimezone(UTC)
        return self._time(date.strftime("%Y-%m-%dT%H:%M:%SZ"))

    def _time(self, text: str) -> str:
        for label in self.about:
            if self.names.times.get(label) == text:
                return "<its time>"
        return "<time>"


def _named(label: str | None, otherwise: str) -> str:
    return otherwise if label is None else f"<{label}>"


def _headers(answer: Answer, scribe: _Scribe) -> Iterator[list[str]]:
    rendered = _RENDER.search(answer.header("ETag") or "") is not None
    for name, value in answer.headers:
        match name.lower():
            case key if key in _TRANSPORT:
                continue
            case "content-length" if not answer.body or value == str(len(answer.body)):
                text = "<length>"
            case "x-request-id" if _REQUEST_ID.fullmatch(value):
                text = "<24 hex>"
            case "last-modified" if rendered:
                # When a page was parsed is the wiki's own affair.
                text = "<time of the parse>"
            case "set-cookie":
                text = _cookie(value)
            case _:
                text = scribe.text(value)
        yield [name, text]


def _cookie(text: str) -> str:
    first, *attributes = text.split("; ")
    name, _, value = first.partition("=")
    kept = [attribute for attribute in attributes if not attribute.lower().startswith(("expires", "max-age"))]
    return "; ".join([f"{name}={'<value>' if value else ''}", *kept])


def _written(text: str) -> str:
    """How the JSON is written: what of `compact`, `utf-8` and `ascii` it can be."""
    value = json.loads(text)
    ways = {
        "compact, utf-8": json.dumps(value, separators=(",", ":"), ensure_ascii=False),
        "compact, ascii": json.dumps(value, separators=(",", ":"), ensure_ascii=True),
    }
    fitting = [way for way, written in ways.items() if written == text.replace("\\/", "/")]
    slashes = ", slashes escaped" if "\\/" in text else ""
    return {0: "otherwise", 1: fitting[0] if fitting else "", 2: "compact"}[len(fitting)] + slashes


def _without(value: Any, pointers: Sequence[str]) -> Any:
    for pointer in pointers:
        *parents, last = pointer.removeprefix("/").split("/")
        holder: Any = value
        for name in parents:
            holder = holder.get(name, {}) if isinstance(holder, Mapping) else {}
        if isinstance(holder, dict) and last in holder:
            holder[last] = "<its own>"
    return value
