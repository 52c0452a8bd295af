from typing import Any

import pytest
from ruamel.yaml import YAML

from located_config.flow import flow

BARE = ["10s", "20MiB", "5%", "in body", "logs/a-b", "https://example.org/x", "127.0.0.1", "lag > 500"]
LIKE_OTHERS = ["504", "1e3", "1.5", "1.", "1_000", "0x10", "2024-01-01", "2024-01-01T00:00:00Z", "true", "null"]
LIKE_SYNTAX = ["", " a", "a ", "a, b", "a: b", "a:", "a #b", "{a}", "*", "-", "-a", "~", "'", "two\nlines"]


@pytest.mark.parametrize("text", [*BARE, *LIKE_OTHERS, *LIKE_SYNTAX])
@pytest.mark.parametrize("place", ["a mapping", "a list"])
def test_a_text_is_read_back_as_it_was(text: str, place: str) -> None:
    value: Any = {"key": text} if place == "a mapping" else [text, text]
    assert YAML(typ="safe", pure=True).load(flow(value)) == value


@pytest.mark.parametrize("text", BARE)
def test_a_text_that_needs_no_quotes_has_none(text: str) -> None:
    assert flow(text) == text


def test_a_value_stands_on_one_line() -> None:
    value = {"code": 504, "share": 0.05, "after": ["10s", None, True], "a": {}}
    assert flow(value) == "{code: 504, share: 0.05, after: [10s, null, true], a: {}}"
