"""Headers of a source record that are passed on with what is made of it, such as those of a trace.

Their names are an allow-list of the configuration, which cannot name one of the pipeline's own; so what a producer
writes is never taken for what the pipeline says. Their bytes are bounded, as they count towards the size of a record.
"""

import re
from collections.abc import Iterable, Sequence

from pipeline.records.record import Headers

_OWN = re.compile(r"source-(?:topic|partition|offset|event-id)|claim-check-.*|suppressed-.*", re.DOTALL)


def is_own(name: str) -> bool:
    """Whether the pipeline itself writes a header of this name."""
    return _OWN.fullmatch(name) is not None


def passed_on(headers: Iterable[tuple[str, bytes | None]], names: Sequence[str], max_bytes: int) -> Headers:
    """The headers of a source record that are in `names`, in that order, as long as name and value fit into
    `max_bytes`. A header that does not fit is left out as a whole. The last one of a name counts; a null header is left
    out.
    """
    last = {name: value for name, value in headers if name in names}
    passed: list[tuple[str, bytes]] = []
    remaining = max_bytes
    for name in names:
        value = last.get(name)
        if value is not None and (size := len(name) + len(value)) <= remaining:
            remaining -= size
            passed.append((name, value))
    return tuple(passed)
