"""What the quantities have in common: a text that says what it is, and an error that says how to write it.

A number is written in ASCII digits with a dot; blanks around it and before the unit do not matter. The patterns are for
JSON schemas, where Python's, JavaScript's and Rust's engines read them alike; they describe the form. That a value is
too large for its type, or is zero where it must not be, only parsing knows.
"""

from collections.abc import Callable, Collection
from typing import TypeVar

from pydantic import BeforeValidator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError

NUMBER = r"[0-9]+(?:\.[0-9]+)?"

T = TypeVar("T")

_MICRO = str.maketrans("\N{MICRO SIGN}\N{GREEK SMALL LETTER MU}", "uu")
_SENSIBLE = 1e15


class QuantityError(ValueError):
    """What is wrong with a value, and how to write it: `not a duration (got 10); write 10s (us, ms, s, m, h, d)`."""

    def __init__(self, problem: str, value: object, remedy: str) -> None:
        super().__init__(f"{problem} (got {value!r}); {remedy}")
        self.problem = problem
        self.remedy = remedy


def reader(parse: Callable[[object], T]) -> BeforeValidator:
    """The parser for a model; its error keeps problem and remedy apart, for the caller, who adds the place."""

    def read(value: object) -> T:
        try:
            return parse(value)
        except QuantityError as error:
            raise refused(error.problem, error.remedy) from None

    return BeforeValidator(read)


def refused(problem: str, remedy: str) -> PydanticCustomError:
    """What a validator raises for a value that cannot be; the two also apart, for who shows the value."""
    return PydanticCustomError("quantity", "{problem}; {hint}", {"problem": problem, "hint": remedy})


def text_schema(pattern: str) -> JsonSchemaValue:
    """What may be written, for a JSON schema."""
    return {"type": "string", "pattern": pattern}


def with_unit(units: Collection[str]) -> str:
    """The pattern of a number with one of the units behind it."""
    return rf"^\s*{NUMBER}\s*(?:{'|'.join(units)})\s*$"


def near_unit(unit: str, known: Collection[str], otherwise: str) -> str:
    """The known unit that was meant by `mib`, `sec` or `K`; `otherwise` when nothing is like it."""
    lower = unit.lower().translate(_MICRO)
    same = [one for one in known if one.lower() == lower]
    begun = sorted((one for one in known if lower.startswith(one.lower())), key=len, reverse=True)
    initial = [one for one in known if lower[:1] == one[0].lower()]
    return next(iter([*same, *begun, *initial]), otherwise)


def example_number(value: object, otherwise: int) -> float:
    """The number that was written without its unit, for an example to copy."""
    number = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _SENSIBLE
    return value if isinstance(value, int | float) and number else otherwise
