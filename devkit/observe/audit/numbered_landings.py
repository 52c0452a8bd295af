"""Whether outputs that have numbers of their own lie in their order."""

from collections.abc import Iterator

from devkit.observe.audit.arrivals import Arrival, Position
from devkit.observe.audit.order import Landing, LateEvent
from devkit.observe.expected_output.truth import NumberedOutputs


class NumberedLandings:
    """The first output of each event, in the order of each partition."""

    def __init__(self, truth: NumberedOutputs) -> None:
        self._truth = truth
        self._highest: dict[tuple[str, int, str], tuple[int, Position]] = {}
        self._late: list[LateEvent] = []

    def add(self, arrival: Arrival, position: Position) -> None:
        """Of the event at `position`."""
        numbered = self._truth.number(arrival.value)
        if numbered is None:
            return  # which the comparison with the expected output reports
        name, number = numbered
        place = arrival.topic, arrival.partition, name
        highest, by = self._highest.get(place, (0, position))
        if number <= highest:
            self._late.append(LateEvent(position, Landing.of(arrival), by))
        else:
            self._highest[place] = number, position

    def late(self) -> Iterator[LateEvent]:
        """Outputs behind one of the same name with a number that is as high or higher."""
        yield from self._late
