"""Texts that are quantities, or nearly, and whether parser and JSON schema say the same of one."""

from collections.abc import Sequence
from typing import Any

import jsonschema
import jsonschema_rs
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from located_config.quantity import text_schema

_NUMBERS = st.one_of(
    st.integers(0, 10**6).map(str),
    st.from_regex(r"[0-9]{0,4}\.?[0-9]{0,4}(e[+-]?[0-9]{1,2})?", fullmatch=True),
    st.sampled_from(["100", "100.0", "100.1", "0100", "1.0", "1.1", "0", "00.5", "٣", "-1", "+1", "1_0", "1,5", "inf"]),
)
_BLANKS = st.sampled_from(["", "", "", " ", "\t", "  ", "\n", "\N{NO-BREAK SPACE}"])


def near(units: Sequence[str]) -> st.SearchStrategy[str]:
    """A number and one of the units or none, with blanks about; or anything."""
    unit = st.one_of(st.just(""), st.sampled_from(units), st.text(max_size=2))
    written = st.tuples(_BLANKS, _NUMBERS, _BLANKS, unit, _BLANKS).map("".join)
    return st.one_of(written, written, st.text(max_size=8))


def agree(adapter: TypeAdapter[Any], pattern: str, text: str, *, but: Sequence[str] = ()) -> None:
    """`but`: what only the parser knows, by what its error begins with."""
    schema = adapter.json_schema()
    patterns = [one["pattern"] for one in schema.get("anyOf", [schema]) if "pattern" in one]
    assert patterns == [pattern]
    try:
        adapter.validate_python(text)
    except ValidationError as error:
        taken = error.errors()[0]["msg"].startswith(tuple(but)) if but else False
    else:
        taken = True
    assert jsonschema.Draft202012Validator(schema).is_valid(text) is taken
    # ECMAScript's blanks are others than Python's in a few control characters; all else is alike.
    if not any(character in "\x1c\x1d\x1e\x1f\x85\ufeff" for character in text):
        assert jsonschema_rs.Draft202012Validator(text_schema(pattern)).is_valid(text) is taken
