"""The namespaces of a wiki: their numbers, names and other names.

Names are English, as on a wiki that was just installed, except where the pages of a catalog show others: a page in
namespace 1 that is called `Diskussion:Hafen` tells that this wiki's namespace 1 is `Diskussion`. English names are
understood on every wiki. Case does not matter, and a space is an underscore.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

MAIN: Final = 0
TALK: Final = 1
USER: Final = 2
USER_TALK: Final = 3
PROJECT: Final = 4
PROJECT_TALK: Final = 5
FILE: Final = 6
SYSTEM_MESSAGE: Final = 8
CATEGORY: Final = 14
SPECIAL: Final = -1
MEDIA: Final = -2

_CANONICAL: Final[Mapping[int, str]] = MappingProxyType(
    {
        -2: "Media",
        -1: "Special",
        0: "",
        1: "Talk",
        2: "User",
        3: "User talk",
        4: "Project",
        5: "Project talk",
        6: "File",
        7: "File talk",
        8: "MediaWiki",
        9: "MediaWiki talk",
        10: "Template",
        11: "Template talk",
        12: "Help",
        13: "Help talk",
        14: "Category",
        15: "Category talk",
    }
)
_ALIASES: Final = (("Image", FILE), ("Image talk", 7))
_WITHOUT_SUBPAGES: Final = frozenset({MEDIA, SPECIAL, MAIN, FILE, CATEGORY})


@dataclass(frozen=True, slots=True)
class Namespace:
    """`name` is what titles of this wiki begin with, `canonical` the name of every wiki (None for an extra one)."""

    id: int
    name: str
    canonical: str | None

    @property
    def subpages(self) -> bool:
        """Whether a slash in a title makes a subpage."""
        return self.id not in _WITHOUT_SUBPAGES

    @property
    def content(self) -> bool:
        """Whether its pages are what the wiki is about."""
        return self.id == MAIN


@dataclass(frozen=True)
class Namespaces:
    """Finds a namespace by number or by any of its names. Iterates in the order of the numbers."""

    by_id: Mapping[int, Namespace]
    _by_name: Mapping[str, int] = field(repr=False)

    @classmethod
    def of(cls, project: str = "Project", local: Mapping[int, str] = MappingProxyType({})) -> "Namespaces":
        """Those of a wiki whose project namespace is `project`; `local` are names that win over the English ones."""
        names = {**_CANONICAL, PROJECT: project, PROJECT_TALK: f"{project} talk", **local}
        by_name: dict[str, int] = {}
        for known in (names.items(), _CANONICAL.items(), ((number, name) for name, number in _ALIASES)):
            for number, name in known:
                by_name.setdefault(_folded(name), number)
        spaces = {number: Namespace(number, names[number], _CANONICAL.get(number)) for number in sorted(names)}
        return cls(MappingProxyType(spaces), MappingProxyType(by_name))

    def __iter__(self) -> Iterator[Namespace]:
        return iter(self.by_id.values())

    def number_of(self, name: str) -> int | None:
        """The namespace that `name` stands for; None when there is none, and for the empty name."""
        return self._by_name.get(_folded(name)) or None

    def name_of(self, number: int) -> str:
        """The name titles begin with; `Namespace N` for a number this wiki does not have."""
        namespace = self.by_id.get(number)
        return namespace.name if namespace else f"Namespace {number}"

    @property
    def aliases(self) -> tuple[tuple[int, str], ...]:
        """Further names, with the number each stands for."""
        own = tuple(
            (space.id, space.canonical)
            for space in self
            if space.canonical not in {None, space.name} and space.id not in {PROJECT, PROJECT_TALK}
        )
        return (*((number, name) for number, name in own if name), *((number, name) for name, number in _ALIASES))


def _folded(name: str) -> str:
    return name.replace(" ", "_").lower()


STANDARD: Final = Namespaces.of()
