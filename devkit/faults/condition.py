"""When a fault begins: a condition on what is observed of an arm, as `lag > 500` or `batch 3 committed`.

Each is a point seen from outside: figures of topics and checkpoint, what programs log, requests that the mock answered
or that came to the object store.

`parse_condition` reads text, or a mapping of one key, which is the same text with a colon.
"""

import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Literal, get_args

from pydantic import ConfigDict, PlainSerializer, PlainValidator, ValidationError, WithJsonSchema
from pydantic_core import InitErrorDetails

from devkit.programs.unknown_program import unknown_program
from devkit.proxy.s3.request import RequestPattern
from located_config.flow import flow
from located_config.near import near_miss, nearest
from located_config.problem import as_error, described
from located_config.yaml_file import UnfitError, parse_yaml

Figure = Literal["lag", "committed", "outputs", "errors", "requests", "deferred", "restarts"]
FIGURES: tuple[Figure, ...] = get_args(Figure)
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
)
_EXAMPLES = (
    "`lag > 500`, `{committed: 50%}`, `batch 3 committed`, `program running`, `{event: batch_written}`, "
    "`{met: slow page}`, `{request: {methods: [PUT], path: '*/commits/*'}}`"
)
_FIRST_WORDS = (*FIGURES, "batch", "program", "event", "met", "request")
_LAST_WORDS = ("committed", "running")


@dataclass(frozen=True)
class Seen:
    """The observations of an arm. `running` are the programs whose query runs, `events` what they said.

    `batches` are the numbers that were committed, `met` the rules of the mock that a request has met, `requests` what
    has come to the object store of what is waited for. A figure that is not observable is absent.
    """

    figures: Mapping[Figure, int] = field(default_factory=lambda: MappingProxyType({}))
    running: frozenset[str] = frozenset()
    batches: frozenset[int] = frozenset()
    events: frozenset[str] = frozenset()
    met: frozenset[str] = frozenset()
    requests: "frozenset[RequestSeen]" = frozenset()


@dataclass(frozen=True)
class Bounds:
    """Limits of what a scenario can reach: the number of `events` published; the names of programs, of the events that
    they log (`logged`), and of the mock's rules; arms of the fault in which nothing is ever deferred.
    """

    events: int
    programs: frozenset[str] = frozenset()
    logged: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()
    without_deferral: Sequence[str] = ()


@dataclass(frozen=True)
class Reached:
    """A figure compared with a number."""

    figure: Figure
    comparison: str
    value: float
    is_share: bool = False
    """Of all events that the scenario publishes; the number then is between 0 and 1."""

    def holds(self, seen: Seen, events: int) -> bool:
        """`events` is how many the scenario publishes. A figure that is not observable fulfils nothing."""
        now = seen.figures.get(self.figure)
        return now is not None and _OPERATORS[self.comparison](now, self.count(events))

    def never(self, bounds: Bounds) -> str | None:
        """Why no arm can reach it, None where one can. `lag` and `committed` have a known maximum, and
        `deferred` where nothing is.
        """
        count, holds = self.count(bounds.events), _OPERATORS[self.comparison]
        if self.comparison == "<" and count <= 0:
            return f"{self.figure} is never below 0"
        is_more = self.comparison in (">", ">=")
        if self.figure == "deferred" and is_more and bounds.without_deferral and not holds(0, count):
            arms = " and ".join(bounds.without_deferral)
            return f"nothing is deferred in {arms}, where deferral.policy is none; name the other arms in `arms`"
        most = bounds.events if self.figure in ("lag", "committed") else None
        if most is not None and is_more and not holds(most, count):
            return f"{self.figure} is never more than the {most} events of `traffic`"
        return None

    def count(self, events: int) -> float:
        """The number that it is compared with, of this number of events."""
        return self.value * events if self.is_share else self.value

    def __str__(self) -> str:
        value = f"{self.value * 100:g}%" if self.is_share else f"{self.value:g}"
        return f"{self.figure} {self.comparison} {value}"


@dataclass(frozen=True)
class BatchCommitted:
    """A batch of that number was committed."""

    number: int

    def holds(self, seen: Seen, _events: int) -> bool:
        """Holds for a later batch as well: two may be committed between one look and the next."""
        return any(number >= self.number for number in seen.batches)

    def never(self, _bounds: Bounds) -> str | None:
        """Always None: the number of batches depends on the program."""
        return None

    def __str__(self) -> str:
        return f"batch {self.number} committed"


@dataclass(frozen=True)
class ProgramRunning:
    """The query of that program runs; without a name, that of any."""

    program: str | None = None

    def holds(self, seen: Seen, _events: int) -> bool:
        """Holds only while the query runs, and not after it has ended."""
        return bool(seen.running) if self.program is None else self.program in seen.running

    def never(self, bounds: Bounds) -> str | None:
        """The error for a program that the scenario does not name, None for one that it does."""
        if self.program is None or self.program in bounds.programs:
            return None
        return unknown_program(self.program, sorted(bounds.programs))

    def __str__(self) -> str:
        return "program running" if self.program is None else f"program {self.program} running"


@dataclass(frozen=True)
class EventLogged:
    """A program logged that event."""

    event: str

    def holds(self, seen: Seen, _events: int) -> bool:
        """Goes on to hold after the first time: `seen` has every event of the arm."""
        return self.event in seen.events

    def never(self, bounds: Bounds) -> str | None:
        """Always None where `bounds.logged` is empty: what another program logs is not known beforehand."""
        if not bounds.logged or self.event in bounds.logged:
            return None
        return f"no program logs an event {self.event!r}; {near_miss(self.event, sorted(bounds.logged))}"

    def __str__(self) -> str:
        return f"event: {self.event}"


@dataclass(frozen=True)
class RuleMet:
    """A request met that rule of the mock, whether or not it has its answer."""

    rule: str

    def holds(self, seen: Seen, _events: int) -> bool:
        """Goes on to hold after the first request, also once the rule no longer acts."""
        return self.rule in seen.met

    def never(self, bounds: Bounds) -> str | None:
        """The error for a rule that `mock.rules` does not have, None for one that it has."""
        if self.rule in bounds.rules:
            return None
        return f"there is no rule {self.rule!r} in mock.rules; {near_miss(self.rule, sorted(bounds.rules))}"

    def __str__(self) -> str:
        return f"met: {self.rule}"


class RequestSeen(RequestPattern):
    """A request of a program has come to the proxy before the object store, and waits there until the fault acts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    part: Literal["object-store"] = "object-store"

    def holds(self, seen: Seen, _events: int) -> bool:
        """Compared by value: two items of a timeline with the same pattern wait for the same request."""
        return self in seen.requests

    def never(self, _bounds: Bounds) -> str | None:
        """Always None: what a program asks of the store is not known beforehand."""
        return None

    def __str__(self) -> str:
        written = self.model_dump(mode="json", exclude_defaults=True)
        return f"request: {{{', '.join(f'{key}: {_as_yaml(value)}' for key, value in written.items())}}}"


Condition = Reached | BatchCommitted | ProgramRunning | EventLogged | RuleMet | RequestSeen

_REACHED = re.compile(r"(\w+)\s*(>=|<=|>|<|:)\s*(\d+(?:\.\d+)?)\s*(%?)", re.ASCII)
_BATCH = re.compile(r"batch\s+(\d+)\s+committed", re.ASCII)
_PROGRAM = re.compile(r"program(?:\s+([\w-]+))?\s+running", re.ASCII)
_EVENT = re.compile(r"event\s*:?\s*(\w+)", re.ASCII)
_MET = re.compile(r"met\s*:\s*(.+)")
_REQUEST = re.compile(r"request\s*:\s*(\{.*\})")


def parse_condition(value: object) -> Condition:
    """Raises ValueError, which says how to write one."""
    if isinstance(value, Condition):
        return value
    if isinstance(value, dict) and len(value) == 1:
        ((key, operand),) = value.items()
        if key == "request":
            return _request(operand)
        value = f"{key}: {operand if isinstance(operand, str) else flow(operand)}"
    if not isinstance(value, str):
        raise ValueError(f"is no condition; write one of {_EXAMPLES}")  # noqa: TRY004 - pydantic's
    text = value.strip()
    if match := _BATCH.fullmatch(text):
        return BatchCommitted(int(match[1]))
    if match := _PROGRAM.fullmatch(text):
        return ProgramRunning(match[1])
    if match := _EVENT.fullmatch(text):
        return EventLogged(match[1])
    if match := _MET.fullmatch(text):
        return RuleMet(match[1])
    if match := _REQUEST.fullmatch(text):
        try:
            return _request(parse_yaml(match[1]))
        except UnfitError as error:
            raise ValueError(f"{value!r}: {error}") from error
    if (match := _REACHED.fullmatch(text)) and (figure := next((name for name in FIGURES if name == match[1]), None)):
        return _reached(figure, match[2], match[3], is_share=bool(match[4]))
    near = _near_word(text)
    meant = f"did you mean {near!r}? " if near else ""
    raise ValueError(f"{value!r} is no condition; {meant}write one of {_EXAMPLES} (figures: {', '.join(FIGURES)})")


def _as_yaml(value: object) -> str:
    """The value as YAML; text is quoted, as `*` would begin an alias."""
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else json.dumps(value)


def _request(value: object) -> RequestSeen:
    """Raises pydantic's ValidationError, of which each problem is below `request`."""
    try:
        return RequestSeen.model_validate(value)
    except ValidationError as error:
        details = [
            InitErrorDetails(
                type=as_error(described(detail, RequestSeen)), loc=("request", *detail["loc"]), input=detail["input"]
            )
            for detail in error.errors()
        ]
        raise ValidationError.from_exception_data("when", details) from error


def _near_word(text: str) -> str | None:
    """The word that was meant by the first or last word, where those are no words of a condition."""
    words = re.split(r"\W+", text)
    for word, known in ((words[0], _FIRST_WORDS), (words[-1], _LAST_WORDS)):
        near = nearest(word, known)
        if near and word != near:
            return near
    return None


def _reached(figure: Figure, comparison: str, number: str, *, is_share: bool) -> Reached:
    value = float(number)
    if is_share and figure != "committed":
        raise ValueError(f"{figure} is counted, and not a share of something; write a number")
    if is_share and value > 100:
        raise ValueError(f"{number}% is more than the whole, at most 100%")
    return Reached(figure, ">=" if comparison == ":" else comparison, value / 100 if is_share else value, is_share)


When = Annotated[
    Condition,
    PlainValidator(parse_condition),
    PlainSerializer(str, return_type=str),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 1,
                    "propertyNames": {"enum": ["event", "met", "request", *FIGURES]},
                },
            ],
            "description": f"A condition on what is observed: {_EXAMPLES}",
        }
    ),
]
"""A condition as it is written."""
