"""When which kind of change happens, before any page is chosen.

    shares ── apportion ──> exact counts ── shuffle ──> order ── pair ──> moves with their redirects ── merge ──> slots

Counts come from the spec alone; the seed only shuffles. A move that leaves a redirect is followed at once by the
creation of that redirect, an event of its own, as on a wiki.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Literal, get_args

from devkit.traffic.chronicle import LifeKind
from devkit.traffic.stream import Stream

SlotKind = Literal[LifeKind, "canary", "not_json", "not_schema"]
_DRAWN_KINDS: dict[str, SlotKind] = {kind: kind for kind in get_args(SlotKind)}


@dataclass(frozen=True, slots=True)
class Slot:
    """One event to be made, `at` after the start; with `named_page` it is an edit of that page."""

    at: timedelta
    kind: SlotKind
    named_page: str | None = None


def plan(spec: Stream, rng: Random) -> tuple[Slot, ...]:
    """All slots of the traffic in order of time."""
    shares = {"edit": max(0.0, 1 - spec.mix.total), **spec.mix.shares()}
    hot = [title for title, page in spec.pages.items() if page.share for _ in range(spec.edits_of(title))]
    counts = apportion(spec.drawn_count - len(hot), shares)
    kinds = [_DRAWN_KINDS[name] for name, count in counts.items() for _ in range(count)]
    rng.shuffle(kinds)
    _pair_redirects(kinds, rng)
    drawn: list[tuple[SlotKind, str | None]] = [(kind, None) for kind in kinds]
    if hot:
        drawn = _with_shares(drawn, hot, rng)
    slots = [Slot(at, kind, title) for at, (kind, title) in zip(_drawn_moments(spec), drawn, strict=True)]
    slots += [
        Slot(spec.for_ * moment, "edit", title)
        for title, page in spec.pages.items()
        if page.share is None
        for moment in page.moments()
    ]
    slots += [Slot(at, "canary") for at in (spec.canaries.moments(spec.for_) if spec.canaries else ())]
    return tuple(sorted(slots, key=lambda slot: slot.at))


def _drawn_moments(spec: Stream) -> Iterator[timedelta]:
    """Evenly over the time, or over that of each phase."""
    for begin, length, count in spec.paces():
        yield from (begin + length * (n / count) for n in range(count))


def _with_shares(
    drawn: list[tuple[SlotKind, str | None]], hot: list[str], rng: Random
) -> list[tuple[SlotKind, str | None]]:
    """Edits of the hot pages at places of chance; the others stay in their order."""
    rng.shuffle(hot)
    places = set(rng.sample(range(len(drawn) + len(hot)), len(hot)))
    others, edits = iter(drawn), iter(hot)
    return [("edit", next(edits)) if n in places else next(others) for n in range(len(drawn) + len(hot))]


def apportion(total: int, shares: Mapping[str, float]) -> dict[str, int]:
    """Whole numbers that add up to `total`, each within 1 of its share (which add up to 1): largest remainders win."""
    exact = {name: total * share for name, share in shares.items()}
    counts = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: counts[name] - exact[name])
    for n in range(total - sum(counts.values())):
        counts[by_remainder[n % len(by_remainder)]] += 1
    return counts


def _pair_redirects(kinds: list[SlotKind], rng: Random) -> None:
    """Half of the moves, as far as creations last, leave a redirect and draw a creation to the place after them."""
    creations = [n for n, kind in enumerate(kinds) if kind == "create"]
    for n in range(len(kinds) - 1):
        if kinds[n] != "move" or rng.random() < 0.5:
            continue
        while creations and (creations[0] <= n or kinds[creations[0]] != "create"):
            creations.pop(0)
        if not creations:
            return
        source = creations.pop(0)
        kinds[n], kinds[source], kinds[n + 1] = "move_with_redirect", kinds[n + 1], "create_redirect"
