"""The generated pages are what the code says now."""

import pytest

from docs.generate.pages import DIRECTORY, GENERATED, PAGES


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.starts_process("just reads the justfile")
def test_the_page_is_what_the_code_says(name: str) -> None:
    written = (DIRECTORY / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "stale; write the pages again: python -m docs.generate"


def test_there_are_no_other_pages() -> None:
    there = {path for directory in GENERATED for path in (DIRECTORY / directory).glob("*.md")}
    assert {str(path.relative_to(DIRECTORY)) for path in there} == set(PAGES)
