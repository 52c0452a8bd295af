"""Which rules apply to a request."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from mockapi.rules.model import Rule, When


@dataclass(frozen=True, slots=True)
class Subject:
    """What rules can see of a request. `wiki`, `page` and `revision` are None where the request names none that is
    known, except that `revision` is also there for a revision that does not exist.
    """

    method: str
    path: str
    wiki: str | None
    page: str | None
    revision: int | None


def matches(when: When, subject: Subject) -> bool:
    """Whether all that `when` gives holds for `subject`."""
    return (
        (when.method is None or when.method == subject.method)
        and (when.revision is None or when.revision == subject.revision)
        and (when.wiki is None or when.wiki == subject.wiki)
        and (when.page is None or (subject.page is not None and _title(when.page) == _title(subject.page)))
        and (when.path is None or fnmatchcase(subject.path, when.path))
    )


def matching(rules: Sequence[Rule], subject: Subject) -> tuple[Rule, ...]:
    """The rules that apply, in their order."""
    return tuple(rule for rule in rules if matches(rule.when, subject))


def _title(text: str) -> str:
    return text.replace("_", " ")
