"""Which rules apply to a request."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from mockapi.draws import uniform
from mockapi.rules.model import Rule


@dataclass(frozen=True, slots=True)
class Subject:
    """What rules can see of a request. `wiki`, `page`, `page_id` and `revision` are None where the request names none
    that is known, except that `revision` is also there for a revision that does not exist. `at_s` is when it came in,
    in seconds since the first request.
    """

    method: str
    path: str
    wiki: str | None
    page: str | None
    revision: int | None
    page_id: int | None = None
    at_s: float = 0.0


def matches(rule: Rule, subject: Subject, *, seed: int) -> bool:
    """Whether all that the rule's `when` gives holds for `subject`."""
    when = rule.when
    return (
        (when.method is None or when.method == subject.method)
        and (when.revision is None or when.revision == subject.revision)
        and (when.wiki is None or when.wiki == subject.wiki)
        and (when.page is None or (subject.page is not None and _title(when.page) == _title(subject.page)))
        and (when.path is None or fnmatchcase(subject.path, when.path))
        and (when.window is None or when.window.holds(subject.at_s))
        and (when.share is None or _in_share(when.share, subject, seed=seed, rule=rule.name))
    )


def matching(rules: Sequence[Rule], subject: Subject, *, seed: int) -> tuple[Rule, ...]:
    """The rules that apply, in their order."""
    return tuple(rule for rule in rules if matches(rule, subject, seed=seed))


def _in_share(share: float, subject: Subject, *, seed: int, rule: str) -> bool:
    """Each page has one number under a rule's name, so a larger share takes in more pages and lets none go."""
    return subject.page_id is not None and uniform(seed, rule, "share", subject.wiki, subject.page_id) < share


def _title(text: str) -> str:
    return text.replace("_", " ")
