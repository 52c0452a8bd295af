"""Outputs that take several records: the parts of one event are one output, complete when the last has landed.

    0 1 2        one output
    0 1 0 1 2    a job that was killed writes all of them again: what came first is a repeat
    0 2          no output

The parts of different events may lie between one another.
"""

from dataclasses import dataclass, field, replace

from devkit.observe.audit.arrivals import Arrival, Position


@dataclass
class OutputParts:
    """Takes the parts of each event in the order of their partition."""

    _pending: dict[Position | None, list[Arrival]] = field(default_factory=dict)

    def add(self, arrival: Arrival, index: int, count: int) -> tuple[Arrival | None, Arrival | None]:
        """The whole output that this part completes, and the last part of a prefix that this part shows to be one. The
        value of an output is those of its parts, a line each; it stands where its last part does.
        """
        pending = self._pending.pop(arrival.source, [])
        prefix = pending[-1] if pending and index != len(pending) else None
        parts = [*([] if prefix else pending), arrival]
        if index != len(parts) - 1:
            return None, prefix
        if len(parts) < count:
            self._pending[arrival.source] = parts
            return None, prefix
        return replace(arrival, value=b"\n".join(part.value for part in parts), headers=parts[0].headers), prefix
