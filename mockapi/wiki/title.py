"""Titles as MediaWiki reads and writes them.

    "talk: old_ harbour#Quay" ──> Title(1, "Old_harbour") ──> text "Talk:Old harbour", dbkey "Talk:Old_harbour"

The rules are those of MediaWiki's title parser for a wiki without interwiki prefixes whose titles begin with a capital:
what reads the same is the same title, and what no page could be called is refused with MediaWiki's reason.
"""

import html
import ipaddress
import re
import unicodedata
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from mockapi.wiki.namespaces import MAIN, SPECIAL, TALK, USER, USER_TALK, Namespaces

MAX_BYTES: Final = 255
MAX_SPECIAL_BYTES: Final = 512

_DIRECTION_MARKS: Final = re.compile("[\u200e\u200f\u202a-\u202e]+")
_SPACES: Final = re.compile("[ _\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_ENTITY: Final = re.compile(r"&(#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z0-9]+);")
_PREFIX: Final = re.compile(r"(.+?)_*:_*(.*)", re.DOTALL)
_ILLEGAL: Final = re.compile(r"[\x00-\x1f#<>\[\]{|}\x7f]|%[0-9A-Fa-f]{2}|&[A-Za-z0-9\x80-\U0010ffff]+;")
_RELATIVE: Final = re.compile(r"(^|/)\.\.?(/|$)")
_PLAIN_START: Final = re.compile(r"[^a-z\x80-\U0010ffff]")


class InvalidTitle(Exception):  # noqa: N818 - it says what the title is
    """No page can have this title: `code` is MediaWiki's message key, `english` its text."""

    def __init__(self, code: str, english: str) -> None:
        super().__init__(english)
        self.code = code
        self.english = english


@dataclass(frozen=True, slots=True)
class Title:
    """`key` is the title without its namespace, with underscores."""

    namespace_id: int
    key: str
    namespace_name: str = field(default="", compare=False)

    @property
    def text(self) -> str:
        """As people read it: with the namespace, and spaces."""
        return self.dbkey.replace("_", " ")

    @property
    def dbkey(self) -> str:
        """As URLs have it: with the namespace, and underscores."""
        return f"{self.namespace_name.replace(' ', '_')}:{self.key}" if self.namespace_name else self.key

    @property
    def can_exist(self) -> bool:
        """Whether a page may have it; special pages are no pages."""
        return self.namespace_id >= 0


def reads_same(first: str, second: str) -> bool:
    """Whether two full titles are the same where spaces and underscores mean the same."""
    return first.replace("_", " ") == second.replace("_", " ")


def parse_title(text: str, namespaces: Namespaces) -> Title:
    """The title that `text` means, without its `#fragment`. Raises InvalidTitle."""
    decoded = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text) if "&" in text else text
    decoded = decoded if decoded.isascii() else unicodedata.normalize("NFC", decoded)
    key = _SPACES.sub("_", _DIRECTION_MARKS.sub("", decoded)).strip("_")
    if "\ufffd" in key or not _is_utf8(key):
        raise InvalidTitle("title-invalid-utf8", "The requested page title contains an invalid UTF-8 sequence.")
    if key.startswith(":"):
        key = key[1:].strip("_")
    namespace_id, key = _split(key, namespaces) if ":" in key else (MAIN, key)
    if "#" in key:
        key = key.partition("#")[0].rstrip("_")
    if not key:
        raise InvalidTitle(
            "title-invalid-empty", "The requested page title is empty or contains only a namespace prefix."
        )
    _refuse_illegal(key)
    key = _canonical(namespace_id, key)
    if key.startswith(":"):
        raise InvalidTitle(
            "title-invalid-leading-colon", "The requested page title contains an invalid colon at the beginning."
        )
    _refuse_long(namespace_id, key)
    return Title(namespace_id, key, namespaces.name_of(namespace_id))


def _split(key: str, namespaces: Namespaces) -> tuple[int, str]:
    parts = _PREFIX.fullmatch(key)
    number = namespaces.number_of(parts[1]) if parts else None
    if parts is None or number is None:
        return MAIN, key
    inner = _PREFIX.fullmatch(parts[2]) if number == TALK else None
    if inner and namespaces.number_of(inner[1]) is not None:
        raise InvalidTitle(
            "title-invalid-talk-namespace", "The requested page title refers to a talk page that cannot exist."
        )
    return number, parts[2]


def _refuse_illegal(key: str) -> None:
    if match := _ILLEGAL.search(key):
        raise InvalidTitle(
            "title-invalid-characters", f'The requested page title contains invalid characters: "{match[0]}".'
        )
    if "." in key and _RELATIVE.search(key):
        raise InvalidTitle(
            "title-invalid-relative",
            "Title has relative path. Relative page titles (./, ../) are invalid, "
            "because they will often be unreachable when handled by user's browser.",
        )
    if "~~~" in key:
        raise InvalidTitle(
            "title-invalid-magic-tilde",
            "The requested page title contains invalid magic tilde sequence (<nowiki>~~~</nowiki>).",
        )


def _refuse_long(namespace_id: int, key: str) -> None:
    most = MAX_SPECIAL_BYTES if namespace_id == SPECIAL else MAX_BYTES
    if len(key.encode()) > most:
        raise InvalidTitle(
            "title-invalid-too-long",
            f"The requested page title is too long. It must be no longer than {most} bytes in UTF-8 encoding.",
        )


def _canonical(namespace_id: int, key: str) -> str:
    if namespace_id in {USER, USER_TALK} and ":" in key:
        key = _canonical_address(key)
    first = key[0]
    if _PLAIN_START.match(first):
        return key
    # A title-cased letter may be several, and then compose with what follows.
    return unicodedata.normalize("NFC", first.title() + key[1:])


def _canonical_address(key: str) -> str:
    """The spelling of an IPv6 address that names its user: capitals, all eight groups."""
    try:
        address = ipaddress.IPv6Address(key)
    except ValueError:
        return key
    if address.scope_id is not None:
        return key
    return ":".join(f"{int(group, 16):X}" for group in address.exploded.split(":"))


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


_SAFE_IN_PATHS: Final = ";@$!*(),/~:"


def article_path(title: Title) -> str:
    """`/wiki/TITLE`, with underscores, escaped."""
    return f"/wiki/{quote(title.dbkey, safe=_SAFE_IN_PATHS)}"


def edit_path(title: Title) -> str:
    """`/w/index.php?title=TITLE&action=edit`, where links to missing pages lead."""
    return f"/w/index.php?title={quote(title.dbkey, safe=_SAFE_IN_PATHS)}&action=edit"
