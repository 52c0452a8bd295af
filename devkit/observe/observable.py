"""Observables: what a program under test may not show, or an arm may hide, and expectations then cannot judge.

offsets      up to where it has committed: from a checkpoint in Spark's layout, or where its event says that it is kept
checkpoint   which offsets each batch has: from a checkpoint in Spark's layout
batches      which batches it planned: from `batch_started` lines on its standard output
words        how it says that it failed: from `started` and `failed` lines on its standard output
deferrals    its deferred events: from a deferral topic in the kit's layout
sources      which event a record comes from: from the headers `source-topic`, `source-partition`, `source-offset`

A program that writes these is as observable as the kit's own pipeline. A fault may hide this, for any program:

upstream     what the mock API was asked and answered: from its journal, which it forgets when it is started again
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

Observable = Literal["offsets", "checkpoint", "batches", "words", "deferrals", "sources", "upstream"]
UPSTREAM: frozenset[Observable] = frozenset({"upstream"})
OBSERVABLES: frozenset[Observable] = frozenset(get_args(Observable)) - UPSTREAM
"""What a program may not show."""

BECAUSE: Mapping[Observable, str] = MappingProxyType(
    {
        "offsets": "it shows no committed offsets, by a checkpoint in Spark's layout or an event committed_offsets",
        "checkpoint": "it keeps no checkpoint in Spark's layout",
        "batches": "it writes no batch_started event to standard output",
        "words": "it writes neither a started nor a failed event to standard output",
        "deferrals": "the deferral topic was always empty",
        "sources": "the headers of its records name no source",
        "upstream": "the mock API was restarted in the arm, and lost its counts from before",
    }
)

NOT_SHOWN = "n/a: not observable in "
"""The begin of a measured value that a program did not show, and would not show with more time."""


def why_not_observable(missing: frozenset[Observable], program: str | None = None) -> str:
    """As a measured value, of the program of that name where the arm has several."""
    of_program = "the program under test " if program is None else f"program {program} "
    begin = f"{NOT_SHOWN}{of_program}" if missing & OBSERVABLES else "n/a: not observable "
    return f"{begin}({'; '.join(BECAUSE[observable] for observable in sorted(missing))})"
