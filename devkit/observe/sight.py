"""What may not be seen of a pipeline that is not the kit's own, and so which expectations nobody can judge.

offsets      up to where it has committed: from a checkpoint in Spark's layout
batches      which batches it planned: from `batch_started` lines on its standard output
words        how it says that it failed: from `started` and `failed` lines on its standard output
deferrals    what it has put aside: from a deferral topic in the kit's layout
sources      which event a record comes from: from the headers `source-topic`, `source-partition`, `source-offset`

Whoever writes these is seen like the kit's own pipeline.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

Sight = Literal["offsets", "batches", "words", "deferrals", "sources"]
SIGHTS: frozenset[Sight] = frozenset(get_args(Sight))

BECAUSE: Mapping[Sight, str] = MappingProxyType(
    {
        "offsets": "it keeps no checkpoint in Spark's layout",
        "batches": "it says no batch_started on standard output",
        "words": "it says neither started nor failed on standard output",
        "deferrals": "nothing ever stood in the deferral topic",
        "sources": "its records name no source in their headers",
    }
)


def not_observable(missing: frozenset[Sight]) -> str:
    """As a measured value."""
    return f"n/a: not observable in a pipeline of one's own ({'; '.join(BECAUSE[sight] for sight in sorted(missing))})"
