"""What MediaWiki makes of a text before it saves it, and which kind of content a title holds."""

import json
import re
import unicodedata
from datetime import datetime
from typing import Final

from mockapi.wiki.edits.results import WriteError
from mockapi.wiki.namespaces import SYSTEM_MESSAGE, USER
from mockapi.wiki.people import Author
from mockapi.wiki.title import Title
from mockapi.wiki.wikibase.entity_id import CONTENT_MODELS
from mockapi.wiki.wikibase.entity_source import EntitySource

MAX_BYTES: Final = 2048 * 1024

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_UNSAVED: Final = re.compile(r"<nowiki>.*?</nowiki>|<pre[ >].*?</pre>|<!--.*?-->|(~{3,5})", re.DOTALL | re.IGNORECASE)
_TRAILING: Final = " \t\n\r\0\x0b"
_CODE_SUBPAGE: Final = re.compile(r"/.*\.(js|css|json)$")
_CODE_PAGE: Final = re.compile(r"\.(js|css|json)$")
_NO_MARKUP: Final = str.maketrans({"<": "\\u003C", ">": "\\u003E", "&": "\\u0026"})
_SIGNED: Final = frozenset({"wikitext", "css", "javascript"})
_MODELS: Final = {"js": "javascript", "css": "css", "json": "json"}


def content_model_of(title: Title) -> str:
    """The model of a new page: code for `User:X/….css` and `MediaWiki:….css` (js, json), else wikitext."""
    pattern = {USER: _CODE_SUBPAGE, SYSTEM_MESSAGE: _CODE_PAGE}.get(title.namespace_id)
    match = pattern.search(title.key) if pattern else None
    return _MODELS[match[1]] if match else "wikitext"


def received(text: str) -> str:
    """`text` as MediaWiki takes it in: NFC, without control characters, no white space at its end.

    Raises WriteError above MAX_BYTES.
    """
    refuse_too_big(text)
    return _CONTROLS.sub("\ufffd", unicodedata.normalize("NFC", text).rstrip(_TRAILING))


def saved(text: str, model: str, by: Author, now: datetime) -> str:
    """A text that was received as it is kept: Unix line ends, tildes signed (not in JSON), JSON laid out.

    Raises WriteError for what is no JSON, or no entity, where it has to be, and above MAX_BYTES.
    """
    clean = text.replace("\r\n", "\n").replace("\r", "\n")
    if model in _SIGNED:
        clean = _UNSAVED.sub(lambda match: _signed(len(match[1]), by, now) if match[1] else match[0], clean)
    elif model in CONTENT_MODELS.values():
        _check_entity(clean)
    elif model == "json":
        clean = _laid_out(clean)
    refuse_too_big(clean)
    return clean


def _check_entity(text: str) -> None:
    try:
        EntitySource.parse(text)
    except ValueError as error:
        raise WriteError("invalid-entity-data", f"Invalid entity: {error}") from None


def refuse_too_big(text: str) -> None:
    """Raises WriteError above MAX_BYTES."""
    if len(text.encode()) > MAX_BYTES:
        kib = MAX_BYTES // 1024
        raise WriteError("contenttoobig", f"The content you supplied exceeds the page size limit of {kib} kibibytes.")


def _signed(tildes: int, by: Author, now: datetime) -> str:
    date = f"{now:%H:%M}, {now.day} {now:%B %Y} (UTC)"
    if tildes == 5:
        return date
    who = (
        f"[[User:{by.name}|{by.name}]] ([[User talk:{by.name}|talk]])"
        if by.id
        else f"[[Special:Contributions/{by.name}|{by.name}]]"
    )
    return who if tildes == 3 else f"{who} {date}"


def _laid_out(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent="\t", ensure_ascii=False).translate(_NO_MARKUP)
    except (ValueError, RecursionError):
        raise WriteError("invalid-json-data", "Invalid JSON: Syntax error") from None


_HEADING: Final = re.compile(r"^(={1,6})[^\n]+?\1[ \t]*$", re.MULTILINE)


def section_of(text: str, number: str) -> str | None:
    """Section `number`, from its heading to the next one of its level or above; 0 is what precedes the first heading.
    None when there is no such section.
    """
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        return None
    headings = list(_HEADING.finditer(text))
    wanted = int(number)
    if wanted == 0:
        return text[: headings[0].start()].rstrip() if headings else text
    if wanted > len(headings):
        return None
    heading = headings[wanted - 1]
    level = len(heading[1])
    end = next((later.start() for later in headings[wanted:] if len(later[1]) <= level), len(text))
    return text[heading.start() : end].rstrip()


def with_section(number: str, text: str, replacement: str) -> str | None:
    """`text` with `replacement` in place of its section `number`; None when there is no such section."""
    section = section_of(text, number)
    if section is None:
        return None
    start = 0 if number == "0" else list(_HEADING.finditer(text))[int(number) - 1].start()
    before, after = text[:start], text[start + len(section) :].lstrip("\n")
    return f"{before}{replacement}\n\n{after}" if after else before + replacement
