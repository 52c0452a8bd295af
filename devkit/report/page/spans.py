"""Few enough spans for a drawing."""

from collections.abc import Sequence
from itertools import pairwise

from devkit.report.arm_record import Span

MOST_SPANS = 60


def joined(spans: Sequence[Span], most: int = MOST_SPANS) -> tuple[Span, ...]:
    """At most `most` spans that cover the given ones, which are in order: the shortest gaps are closed.

    A span that covers several is named like the first of them.
    """
    if len(spans) <= most:
        return tuple(spans)
    gaps = sorted((then.begin_s - before.end_s for before, then in pairwise(spans)), reverse=True)
    narrowest, kept = gaps[most - 2] if most > 1 else float("inf"), most - 1
    found = [spans[0]]
    for before, then in pairwise(spans):
        if kept and then.begin_s - before.end_s >= narrowest:
            found.append(then)
            kept -= 1
        else:
            found[-1] = Span(found[-1].begin_s, max(found[-1].end_s, then.end_s), found[-1].what)
    return tuple(found)
