"""The answer of an action while it is being made: its members in MediaWiki's order, its size, its warnings.

Warnings and what says how to continue stand before what was there when they came, the rest behind it. That is the
whole rule of the order, also among the warnings of several modules.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from mockapi.api.action.tree import Content, Tree, size

MAX_BYTES: Final = 8_388_608

_DEPRECATION_HELP: Final = (
    "Subscribe to the mediawiki-api-announce mailing list at "
    "<https://lists.wikimedia.org/postorius/lists/mediawiki-api-announce.lists.wikimedia.org/> "
    "for notice of API deprecations and breaking changes."
)


@dataclass(frozen=True, slots=True)
class Warned:
    """`module` is a path, `query+revisions`. `data` is shown in the newer error formats only."""

    module: str
    code: str
    english: str
    data: Mapping[str, Tree] = field(default_factory=dict)


@dataclass
class ApiResult:
    """`members` are the members but for warnings, in order. `limit` is the most bytes that `fits` lets in."""

    limit: int = MAX_BYTES
    members: dict[str, Tree] = field(default_factory=dict)
    warnings: list[Warned] = field(default_factory=list)
    _bytes: int = 0
    _before_warnings: int = 0

    def add(self, name: str, value: Tree) -> None:
        """Puts the member last; one of that name keeps its place and gets the new value."""
        self.members[name] = value

    def add_on_top(self, name: str, value: Tree) -> None:
        """A member before all others."""
        self.members = {name: value, **self.members}
        if self.warnings:
            self._before_warnings += 1

    def clear(self) -> None:
        """Forgets all but the warnings."""
        self.members = {}
        self._before_warnings = 0

    def fits(self, value: Tree) -> bool:
        """Whether there is room for `value`, which then counts; else a warning says that something was left out."""
        larger = self._bytes + size(value)
        if larger > self.limit:
            text = (
                "This result was truncated because it would otherwise be larger than the limit of "
                f"{self.limit:,} bytes."
            )
            self.warn("result", "truncatedresult", text)
            return False
        self._bytes = larger
        return True

    def warn(self, module: str, code: str, english: str, data: Mapping[str, Tree] | None = None) -> None:
        """Says it once, however often it is said."""
        if all((warned.module, warned.english) != (module, english) for warned in self.warnings):
            self.warnings.append(Warned(module, code, english, data or {}))

    def deprecate(self, module: str, english: str, feature: str) -> None:
        """Warns of the use of something old, and adds where to read about such things."""
        self.warn(module, "deprecation", english, {"feature": feature})
        self.warn("main", "deprecation-help", _DEPRECATION_HELP)

    def tree(self, warnings: Callable[[list[Warned]], Tree]) -> dict[str, Tree]:
        """All members; `warnings` words the warnings, if there are any."""
        if not self.warnings:
            return self.members
        items = list(self.members.items())
        at = self._before_warnings
        return dict([*items[:at], ("warnings", warnings(self.warnings)), *items[at:]])


def old_style(warnings: list[Warned]) -> Tree:
    """By module, the one that warned last first; the texts of a module on lines of their own."""
    texts: dict[str, list[str]] = {}
    for warned in warnings:
        texts.setdefault(warned.module.rpartition("+")[2], []).append(warned.english)
    return {module: {"warnings": Content("\n".join(lines))} for module, lines in reversed(texts.items())}
