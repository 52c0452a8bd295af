"""Where a payload lies below the configured prefix, so that what was published of a page can be found without an index.

    <wiki>/<page id>/<revision id>/<parent's id, or 0>/<sha256>       of an event of a revision
    <first two digits>/<sha256>                                       of an event of another kind, and of older versions
    <either>.suppressed                                               what stands in its place once it was removed

The parent is named as the payload has something of it too: its text in the diff, its editor and comment beside. The
hash makes a replay write the same object again. Wiki ids are percent-encoded, so that none leads out of its folder.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

MOST_KEY_BYTES = 1024
"""No store has an object with a longer key."""
_MARK = ".suppressed"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_OF_REVISION = re.compile(r"([^/]+)/([0-9]+)/([0-9]+)/([0-9]+)")


@dataclass(frozen=True, slots=True)
class PageRevision:
    """What a payload is about; `parent_id` is None where the revision has no parent."""

    wiki_id: str
    page_id: int
    rev_id: int
    parent_id: int | None = None


def key_of(prefix: str, sha256: str, about: PageRevision | None = None) -> str:
    """The key of a payload by its hash and what it is about, None where that is no revision of a page."""
    place = sha256[:2]
    if about is not None:
        place = f"{_folder(about.wiki_id)}/{about.page_id}/{about.rev_id}/{about.parent_id or 0}"
    return f"{_below(prefix)}{place}/{sha256}"


def page_prefix(prefix: str, wiki_id: str, page_id: int) -> str:
    """The prefix of all claim checks of a page, and of no other."""
    return f"{_below(prefix)}{_folder(wiki_id)}/{page_id}/"


def is_claim(key: str, prefix: str) -> bool:
    """Whether the pipeline would give a payload this key."""
    start = _below(prefix)
    return key.startswith(start) and _sha256_in(key.removeprefix(start)) is not None


def names_hash(key: str, sha256: str) -> bool:
    """Whether the key is one of a payload with this hash, below whichever prefix."""
    parts = f"/{key}".split("/")
    # The longest form has six parts with the empty one before a key without prefix.
    return any(_sha256_in("/".join(parts[-length:])) == sha256 for length in (2, 5) if len(parts) > length)


def revision_in(key: str, prefix: str) -> PageRevision | None:
    """The revision in a payload's key; None for a key without one, and for any other key."""
    place, _, digest = key.removeprefix(_below(prefix)).rpartition("/")
    match = _OF_REVISION.fullmatch(place)
    if match is None or not key.startswith(_below(prefix)) or _SHA256.fullmatch(digest) is None:
        return None
    wiki, page, revision, parent = match.groups()
    about = PageRevision(unquote(wiki), int(page), int(revision), int(parent) or None)
    return about if key == key_of(prefix, digest, about) else None


def mark_of(key: str) -> str:
    """The key of the mark that replaces a removed payload."""
    return key + _MARK


def without_mark(key: str) -> str:
    """The key of the payload."""
    return key.removesuffix(_MARK)


def _sha256_in(place: str) -> str | None:
    """The hash in a key without its prefix, None where it is no key of a payload."""
    page_part, _, digest = place.rpartition("/")
    if _SHA256.fullmatch(digest) is None:
        return None
    return digest if page_part == digest[:2] or revision_in(place, "") is not None else None


def _below(prefix: str) -> str:
    folder = prefix.strip("/")
    return f"{folder}/" if folder else ""


def _folder(wiki_id: str) -> str:
    """A name of one part. Of dots alone it would be a way through folders to some clients."""
    return quote(wiki_id, safe="").replace(".", "%2E")
