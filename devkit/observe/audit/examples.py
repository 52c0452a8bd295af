"""Single events that an audit counted as a problem, in words: which event, which record, and what was wrong with it."""

import itertools
from collections.abc import Iterator

import orjson

from devkit.observe.audit.arrivals import Arrival
from located_config.count import counted

MOST = 5
_LONGEST = 200
_SERIOUS = ("lost", "out_of_order", "conflicting", "misrouted", "mismatched", "duplicated", "unattributed")


class Examples:
    """The first few of each problem. `all` has at most `MOST` of them: one of each problem, the most serious first,
    then the second of each.
    """

    def __init__(self) -> None:
        self._found: dict[str, list[str]] = {}

    def add(self, problem: str, which: str, wrong: str) -> None:
        """`which` names the event or the record, `wrong` says what is the matter."""
        found = self._found.setdefault(problem, [])
        if len(found) < MOST:
            found.append(f"{problem.replace('_', ' ')}: {which}: {wrong}")

    def all(self) -> tuple[str, ...]:
        return tuple(itertools.islice(self._in_turn(), MOST))

    def _in_turn(self) -> Iterator[str]:
        ordered = sorted(self._found.items(), key=lambda item: _SERIOUS.index(item[0]))
        for together in itertools.zip_longest(*(found for _, found in ordered)):
            yield from (example for example in together if example)

    def copy(self) -> "Examples":
        """For more that is known only at the end."""
        copied = Examples()
        copied._found = {problem: list(found) for problem, found in self._found.items()}
        return copied


def error_text(arrival: Arrival) -> str:
    """What an error event says, `timeout: the upstream did not answer within 3s`; never its bytes."""
    try:
        event = orjson.loads(arrival.value)
    except orjson.JSONDecodeError:
        event = None
    if not isinstance(event, dict):
        return f"{counted(len(arrival.value), 'byte')} that are no JSON object"
    said = ": ".join(str(event[key]) for key in ("error_type", "message") if key in event)
    said = "".join(character if character.isprintable() else "?" for character in said)
    return (said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…") or "no error_type"
