"""Which rules apply to a request, and why a rule does not.

A matcher is one key of `when`: what the request has, and whether that is what is wanted. Those of `TARGET` look at what
the request is about; of several targets one must fit them all. `nth` is no matcher: it depends on what came before, so
the rule book knows it.
"""

import ipaddress
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final

from mockapi.draws import uniform
from mockapi.rules.contents import form_values, json_fits, json_values, query_values
from mockapi.rules.model import Rule
from mockapi.rules.when import Probability
from mockapi.server.request import Request
from mockapi.values.strict import Strict
from mockapi.wiki.title import reads_same

_LONGEST_SHOWN: Final = 400


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that a request is about; what it does not name, or what is not known, is None. `revision` is also
    there for a revision that does not exist, `entity` only where data of an entity are asked for.
    """

    wiki: str | None = None
    page: str | None = None
    page_id: int | None = None
    revision: int | None = None
    entity: str | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """What rules can see of a request: itself, what it is about (at least one target, of which one must fit), what it
    asks for, its number of attempt, and `at_s`, when it came in, in seconds since the first request.

    `wiki` keeps its draws and counts apart from those of other wikis; it is empty in a catalog of one wiki.
    """

    request: Request
    targets: tuple[Target, ...]
    key: str
    attempt: int
    at_s: float
    wiki: str = ""

    @property
    def draw_key(self) -> str:
        """What draws depend on: the same revision id of two wikis is two keys."""
        return f"{self.wiki}:{self.key}" if self.wiki else self.key


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a rule does not match: the key of `when`, what it wants, and what the request has."""

    key: str
    wanted: str
    got: str


@dataclass(frozen=True, slots=True)
class Conditions:
    """A rule, the seed for matchers that draw, and when the rule came into force, in seconds since the first request:
    0 for one that was there before it.
    """

    rule: Rule
    seed: int
    from_s: float


Fits = Callable[[Any, Subject, Conditions], bool]
FitsTarget = Callable[[Any, Target, Conditions], bool]


@dataclass(frozen=True, slots=True)
class _Matcher:
    key: str
    fits: Fits
    got: Callable[[Any, Subject, Conditions], object]


@dataclass(frozen=True, slots=True)
class _TargetMatcher:
    key: str
    fits: FitsTarget
    got: Callable[[Target, Conditions], object]


def _headers(wanted: dict[str, str | bool], subject: Subject) -> dict[str, str | None]:
    return {name: subject.request.headers.get(name.lower()) for name in wanted}


def _cookies(wanted: dict[str, str | bool], subject: Subject) -> dict[str, str | None]:
    cookies = subject.request.cookies
    return {name: cookies.get(name) for name in wanted}


def _fit_by_name(wanted: dict[str, str | bool], got: Mapping[str, str | None]) -> bool:
    return all(_fits_text(value, got[name]) for name, value in wanted.items())


def _fits_text(wanted: str | bool, value: str | None) -> bool:
    if isinstance(wanted, bool):
        return (value is not None) == wanted
    return value is not None and fnmatchcase(value, wanted)


@lru_cache(maxsize=1024)
def _within(network: str, client: str) -> bool:
    try:
        return ipaddress.ip_address(client) in ipaddress.ip_network(network)
    except ValueError:
        return False


def _probable(subject: Subject, given: Conditions) -> float:
    return uniform(given.seed, given.rule.name, subject.draw_key, subject.attempt, "probability")


def _probability_fits(wanted: Probability, subject: Subject, given: Conditions) -> bool:
    window = given.rule.when.window
    begin_s = window.from_.total_seconds() if window is not None else 0.0
    return _probable(subject, given) < wanted.at(_own_time_s(subject, given) - begin_s)


def _own_time_s(subject: Subject, given: Conditions) -> float:
    return subject.at_s - given.from_s


def _page_share(target: Target, given: Conditions) -> float | None:
    """Each page has one number under a rule's name, so a larger share takes in more pages and lets none go."""
    if target.page_id is None:
        return None
    return uniform(given.seed, given.rule.name, "share", target.wiki, target.page_id)


def _revision_share(target: Target, given: Conditions) -> float | None:
    if target.revision is None:
        return None
    return uniform(given.seed, given.rule.name, "share of revisions", target.wiki, target.revision)


def _below(share: float, drawn: float | None) -> bool:
    return drawn is not None and drawn < share


def _named(key: str, read: Callable[[dict[str, str | bool], Subject], Mapping[str, str | None]]) -> _Matcher:
    return _Matcher(
        key, lambda wanted, s, _: _fit_by_name(wanted, read(wanted, s)), lambda wanted, s, _: read(wanted, s)
    )


REQUEST: Final = {
    matcher.key: matcher
    for matcher in (
        _Matcher("method", lambda wanted, s, _: wanted == s.request.method, lambda _w, s, _: s.request.method),
        _Matcher("path", lambda wanted, s, _: fnmatchcase(s.request.path, wanted), lambda _w, s, _: s.request.path),
        _named("header", _headers),
        _named("query", lambda wanted, s: query_values(s.request, wanted)),
        _named("cookie", _cookies),
        _Matcher("client", lambda wanted, s, _: _within(wanted, s.request.client), lambda _w, s, _: s.request.client),
        _Matcher("attempt", lambda wanted, s, _: wanted.hold(s.attempt), lambda _w, s, _: s.attempt),
        _Matcher(
            "window",
            lambda wanted, s, given: wanted.holds(_own_time_s(s, given)),
            lambda _w, s, given: f"{_own_time_s(s, given):.3f} s",
        ),
        _Matcher("probability", _probability_fits, lambda _w, s, given: f"{_probable(s, given):.4f} drawn"),
        # Last, as these read the body: only for a request that fits the rest.
        _named("form", lambda wanted, s: form_values(s.request, wanted)),
        _Matcher("json", lambda wanted, s, _: json_fits(s.request, wanted), lambda w, s, _: json_values(s.request, w)),
    )
}

TARGET: Final = {
    matcher.key: matcher
    for matcher in (
        _TargetMatcher("wiki", lambda wanted, t, _: wanted == t.wiki, lambda t, _: t.wiki),
        _TargetMatcher(
            "page", lambda wanted, t, _: t.page is not None and reads_same(wanted, t.page), lambda t, _: t.page
        ),
        _TargetMatcher("revision", lambda wanted, t, _: t.revision in wanted, lambda t, _: t.revision),
        _TargetMatcher("entity", lambda wanted, t, _: t.entity in wanted, lambda t, _: t.entity),
        _TargetMatcher("share", lambda wanted, t, given: _below(wanted, _page_share(t, given)), _page_share),
        _TargetMatcher(
            "share_of_revisions", lambda wanted, t, given: _below(wanted, _revision_share(t, given)), _revision_share
        ),
    )
}


class Matching:
    """One rule, prepared for many requests: only the keys that it gives are looked at."""

    __slots__ = ("_given", "_request", "_target")

    def __init__(self, rule: Rule, *, seed: int, from_s: float = 0.0) -> None:
        self._given = Conditions(rule, seed, from_s)
        wanted = {key.rstrip("_"): value for key, value in rule.when if value is not None}
        self._request = [(matcher, wanted[key]) for key, matcher in REQUEST.items() if key in wanted]
        self._target = [(matcher, wanted[key]) for key, matcher in TARGET.items() if key in wanted]

    def holds(self, subject: Subject) -> bool:
        """Whether all that `when` gives holds, except `nth`."""
        given = self._given
        return all(matcher.fits(wanted, subject, given) for matcher, wanted in self._request) and (
            not self._target
            or any(
                all(matcher.fits(wanted, target, given) for matcher, wanted in self._target)
                for target in subject.targets
            )
        )

    def mismatches(self, subject: Subject) -> Iterator[Mismatch]:
        """What does not hold; of several targets those of the one that comes nearest."""
        given = self._given
        for matcher, wanted in self._request:
            if not matcher.fits(wanted, subject, given):
                yield Mismatch(matcher.key, _shown(wanted), _shown(matcher.got(wanted, subject, given)))
        if self._target:
            by_target = [
                [
                    Mismatch(matcher.key, _shown(wanted), _shown(matcher.got(target, given)))
                    for matcher, wanted in self._target
                    if not matcher.fits(wanted, target, given)
                ]
                for target in subject.targets
            ]
            yield from min(by_target, key=len)


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        value = {name: part.model_dump() if isinstance(part, Strict) else part for name, part in value.items()}
    dump = getattr(value, "model_dump_json", None)
    text = str(dump(by_alias=True, exclude_none=True)) if dump is not None else str(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}… ({len(text)} characters)"
