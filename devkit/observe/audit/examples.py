"""Examples of what an audit counted as a problem: the event, the record, and what is wrong with it."""

import itertools
from collections.abc import Iterator

import orjson

from devkit.observe.audit.arrivals import Arrival, Position
from located_config.count import counted

MOST = 5
_LONGEST = 200
_ERROR_FIELDS = ("error_type", "message", "exception_type", "exception_msg", "inconsistency")
"""Type and message: of an error event the first two, of a fetch_failure event the next two. The last is the type of a
state_inconsistency event.
"""
_SERIOUS = (
    "lost",
    "lapsed",
    "not_emitted",
    "out_of_order",
    "conflicting",
    "misrouted",
    "mismatched",
    "duplicated",
    "unattributed",
)


class Examples:
    """The first few of each problem. `all` has at most `MOST` of them: one of each problem, the most serious first,
    then the second of each. `events` has every event with a problem, each problem of it once.
    """

    def __init__(self) -> None:
        self._examples: dict[str, list[str]] = {}
        self._events: dict[tuple[str, Position], None] = {}

    def add(self, problem: str, which: str, wrong: str, event: Position | None = None) -> None:
        """`which` names the event or the record, `wrong` says what is the matter; `event` is None of a record that is
        no event's.
        """
        if event is not None:
            self._events[problem, event] = None
        examples = self._examples.setdefault(problem, [])
        if len(examples) < MOST:
            examples.append(f"{problem.replace('_', ' ')}: {which}: {wrong}")

    def events(self) -> tuple[tuple[str, Position], ...]:
        """The problem and the event's source position, the most serious problem first."""
        return tuple(sorted(self._events, key=lambda event: (_SERIOUS.index(event[0]), event[1])))

    def all(self) -> tuple[str, ...]:
        """Each as one line: the problem, which event or record, what is wrong with it."""
        return tuple(itertools.islice(self._in_turn(), MOST))

    def _in_turn(self) -> Iterator[str]:
        ordered = sorted(self._examples.items(), key=lambda item: _SERIOUS.index(item[0]))
        for rank in itertools.zip_longest(*(examples for _, examples in ordered)):
            yield from (example for example in rank if example)

    def copy(self) -> "Examples":
        """For problems that are known only at the end."""
        copied = Examples()
        copied._examples = {problem: list(examples) for problem, examples in self._examples.items()}
        copied._events = dict(self._events)
        return copied


def error_text(arrival: Arrival) -> str:
    """Type and message of an error event, `timeout: the upstream did not answer within 3s`; never its bytes."""
    try:
        event = orjson.loads(arrival.value)
    except orjson.JSONDecodeError:
        event = None
    if not isinstance(event, dict):
        return f"{counted(len(arrival.value), 'byte')} that are no JSON object"
    text = ": ".join(str(event[key]) for key in _ERROR_FIELDS if key in event)
    text = "".join(character if character.isprintable() else "?" for character in text)
    return (text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…") or "no error_type"
