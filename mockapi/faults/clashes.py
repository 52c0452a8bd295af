"""Which faults one rule cannot have together."""

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic_core import PydanticCustomError

from mockapi.faults.body import Body
from mockapi.faults.content_length import ContentLength

_ALONE: Final = ("hang", "refuse")
_ONE_OF: Final[Sequence[tuple[tuple[str, ...], str]]] = (
    (("truncate", "reset", "close", "malformed_chunk", "garbage"), "an answer ends in one way"),
    (("dribble", "bandwidth", "latency_through_body"), "a body has one pace"),
    (("content_length", "malformed_chunk"), "a chunked body has no Content-Length"),
)


def check_clashes(given: Mapping[str, object]) -> None:
    """Raises PydanticCustomError when faults of one rule, by their names, contradict each other."""
    for name in _ALONE:
        if name in given and len(given) > 1:
            hint = f"{name} leaves no answer for the others to change: give them a rule of their own"
            _refuse((name, *sorted(given.keys() - {name})), hint)
    for group, reason in _ONE_OF:
        both = [name for name in group if name in given]
        if len(both) > 1:
            _refuse(both, f"{reason}: keep one of them, or make two rules, of which the last one decides")
    body, length = given.get("body"), given.get("content_length")
    if isinstance(body, Body) and body.encoding not in {None, "identity"}:
        if "invalid_utf8" in given:
            _refuse(("body.encoding", "invalid_utf8"), "a broken document goes out without a coding: leave it out")
        if isinstance(length, ContentLength) and length.says == "compressed":
            _refuse(("body.encoding", "content_length"), "`compressed` means that the body is plain: leave it out")


def _refuse(names: Sequence[str], hint: str) -> None:
    raise PydanticCustomError(
        "clash", "{one} and {other} in one rule", {"one": names[0], "other": names[1], "hint": hint}
    )
