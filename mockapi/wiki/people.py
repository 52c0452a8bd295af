"""The users and comments of revisions for which the catalog names none.

Drawn from (seed, wiki, page, revision): a few prolific authors in several scripts, now and then a user without an
account, who goes by an address of the documentation ranges.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from mockapi.draws import digest, uniform
from mockapi.wiki.catalog import Located

_FIRST_ID: Final = 100_000  # above the accounts that are made while the mock runs
_WITHOUT_ACCOUNT: Final = 0.1
_SAYS_NOTHING: Final = 0.15
_MINOR: Final = 0.3

_NAMES: Final = (
    "Harbourmaster", "Anna Lindqvist", "TypoFixer", "R. Okafor", "Ottobot", "Weiße Möwe", "Élise Martin",
    "Пётр Васильев", "Ελένη", "محمد الشريف", "דוד לוי", "सुनीता", "ハルカ", "陳小明", "김민수", "สมชาย",
    "Gazetteer", "Quill & Ink", "LeftBank", "Old Sexton", "Marginalia", "North Mole", "Tidewaiter", "Zürichsee",
)  # fmt: skip
_COMMENTS: Final = (
    "typo", "fix link", "copyedit", "add reference", "/* History */ expand", "/* References */ archive link",
    "update figures", "rv unsourced", "category", "more precise", "Überarbeitung", "правка", "誤字修正", "مراجعة",
    "as per [[Talk:Main Page|talk]]", "→ new section",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Author:
    """`id` is 0 for a user without an account."""

    name: str
    id: int


def author(seed: int, located: Located) -> Author:
    """The catalog's user, else one drawn from the seed; some have no account, and an address for a name."""
    given = located.revision.user
    if given is not None:
        given_id = located.revision.user_id
        return Author(given, id_of(seed, given) if given_id is None else given_id)
    u = _draw(seed, "user", located)
    if u < _WITHOUT_ACCOUNT:
        return Author(_address(seed, located), 0)
    # Squared, so that the first of the list are much busier than the last.
    name = _NAMES[int(((u - _WITHOUT_ACCOUNT) / (1 - _WITHOUT_ACCOUNT)) ** 2 * len(_NAMES))]
    return Author(name, id_of(seed, name))


def id_of(seed: int, name: str) -> int:
    """The account that goes with a name; 0 for an address."""
    if name in _NAMES:
        return _FIRST_ID + _NAMES.index(name)
    if is_address(name):
        return 0
    return _FIRST_ID + len(_NAMES) + int(uniform(seed, "account", name) * 1_000_000)


def comment(seed: int, located: Located) -> str:
    """What was said about the revision."""
    given = located.revision.comment
    if given is not None:
        return given
    u = _draw(seed, "comment", located)
    return "" if u < _SAYS_NOTHING else _COMMENTS[int((u - _SAYS_NOTHING) / (1 - _SAYS_NOTHING) * len(_COMMENTS))]


def minor(seed: int, located: Located) -> bool:
    """Whether its author called it minor; a page's first revision never is."""
    revision = located.revision
    drawn = revision.user is None and revision.text is None and revision.parent_id != 0
    return revision.minor or (drawn and _draw(seed, "minor", located) < _MINOR)


def is_address(name: str) -> bool:
    """Whether a user of that name has no account."""
    for kind in (IPv4Address, IPv6Address):
        try:
            kind(name)
        except ValueError:
            continue
        return True
    return False


def _draw(seed: int, what: str, located: Located) -> float:
    return uniform(seed, what, located.page.wiki, located.page.page_id, located.revision.rev_id)


def _address(seed: int, located: Located) -> str:
    drawn = digest(seed, "address", located.page.wiki, located.page.page_id, located.revision.rev_id, size=2)
    if drawn[0] % 3:
        return f"192.0.2.{1 + drawn[1] % 254}"
    return f"2001:DB8:0:0:0:0:{drawn[0]:X}:{drawn[1]:X}"
