"""When which kind of change happens, before any page is chosen.

    shares ── apportion ──> exact counts ── shuffle ──> order ── pair ──> moves with their redirects ── merge ──> slots

Counts come from the spec alone; the seed only shuffles. A move that leaves a redirect is followed at once by the
creation of that redirect, an event of its own, as on a wiki. Repeats are of the same places under every seed; where no
event that can be repeated comes to lie, one takes its place that does.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Literal, get_args

from devkit.traffic.chronicle import LifeKind
from devkit.traffic.mix import UNREPEATED
from devkit.traffic.stream import Stream

SlotKind = Literal[LifeKind, "canary", "not_json", "not_schema", "merge", "repeat"]
_Drawn = tuple[SlotKind, str | None]
"""A kind, and the page that it is an edit of."""
_DRAWN_KINDS: dict[str, SlotKind] = {kind: kind for kind in get_args(SlotKind)}


@dataclass(frozen=True, slots=True)
class Slot:
    """One event to be made, that happens `at` after the start; with `named_page` it is an edit of that page.

    `repeated` is the number of an event that comes once more; its repeat has the same. `closing` is the partition of a
    canary that comes behind everything else.
    """

    at: timedelta
    kind: SlotKind
    named_page: str | None = None
    repeated: int | None = None
    closing: int | None = None


def plan(spec: Stream, rng: Random) -> tuple[Slot, ...]:
    """All slots of the traffic in order of time."""
    hot = [title for title, page in spec.pages.items() if page.share for _ in range(spec.edits_of(title))]
    kinds = [_DRAWN_KINDS[name] for name, count in spec.kind_counts().items() for _ in range(count)]
    rng.shuffle(kinds)
    _pair_redirects(kinds, rng)
    drawn: list[_Drawn] = [(kind, None) for kind in kinds]
    if hot:
        drawn = _with_shares(drawn, hot, rng)
    repeated = spec.repeats.indices(len(drawn)) if spec.repeats else ()
    _make_repeatable(drawn, repeated)
    slots = [Slot(at, kind, title) for at, (kind, title) in zip(spec.drawn_moments(), drawn, strict=True)]
    if spec.repeats is not None:
        for number, index in enumerate(repeated):
            slots[index] = replace(slots[index], repeated=number)
            slots.append(Slot(slots[index].at + spec.repeats.after, "repeat", repeated=number))
    slots += [
        Slot(spec.for_ * moment, "edit", title)
        for title, page in spec.pages.items()
        if page.share is None
        for moment in page.moments()
    ]
    slots += [Slot(at, "canary") for at in (spec.canaries.moments(spec.for_) if spec.canaries else ())]
    in_time = sorted(slots, key=lambda slot: slot.at)
    if spec.canaries is not None and (closing := spec.canaries.closing) is not None:
        in_time += [Slot(spec.for_ + closing.after, "canary", closing=number) for number in range(closing.partitions)]
    return tuple(in_time)


def _make_repeatable(drawn: list[_Drawn], repeated: tuple[int, ...]) -> None:
    """Let events change places, so that at each of these one lies that can be repeated."""
    excluded = set(repeated)
    fit = (
        index
        for index, (kind, _) in enumerate(drawn)
        if index not in excluded and kind not in (*UNREPEATED, "move_with_redirect", "create_redirect")
    )
    for index in repeated:
        if drawn[index][0] in UNREPEATED:
            other = next(fit)
            drawn[index], drawn[other] = drawn[other], drawn[index]


def _with_shares(drawn: list[_Drawn], hot: list[str], rng: Random) -> list[_Drawn]:
    """Edits of the hot pages at places of chance; the others stay in their order."""
    rng.shuffle(hot)
    places = set(rng.sample(range(len(drawn) + len(hot)), len(hot)))
    remaining, edits = iter(drawn), iter(hot)
    return [("edit", next(edits)) if n in places else next(remaining) for n in range(len(drawn) + len(hot))]


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
