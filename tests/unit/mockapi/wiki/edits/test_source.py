from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.edits.results import WriteError
from mockapi.wiki.edits.source import MAX_BYTES, content_model_of, received, saved, section_of, with_section
from mockapi.wiki.namespaces import STANDARD
from mockapi.wiki.people import Author
from mockapi.wiki.title import parse_title

ALICE = Author("Alice", 2)
VISITOR = Author("192.0.2.1", 0)
NOW = datetime(2026, 11, 1, 8, 7, tzinfo=UTC)


def kept(text: str, model: str = "wikitext", by: Author = ALICE) -> str:
    return saved(received(text), model, by, NOW)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc \n\n", "a\nb\nc"),
        ("\n a", "\n a"),
        ("e\u0301", "é"),
        ("a\x00b\x1fc\td", "a\ufffdb\ufffdc\td"),
        ("~~~", "[[User:Alice|Alice]] ([[User talk:Alice|talk]])"),
        ("x ~~~~", "x [[User:Alice|Alice]] ([[User talk:Alice|talk]]) 08:07, 1 November 2026 (UTC)"),
        ("~~~~~", "08:07, 1 November 2026 (UTC)"),
        ("~~", "~~"),
        ("<nowiki>~~~~</nowiki><!-- ~~~ -->", "<nowiki>~~~~</nowiki><!-- ~~~ -->"),
        ("", ""),
    ],
)
def test_a_text_is_tidied_before_it_is_kept(text: str, expected: str) -> None:
    assert kept(text) == expected


def test_a_visitor_signs_with_the_address() -> None:
    assert kept("~~~", by=VISITOR) == "[[Special:Contributions/192.0.2.1|192.0.2.1]]"


@pytest.mark.parametrize(("model", "signed"), [("css", True), ("javascript", True), ("json", False), ("text", False)])
def test_comments_in_code_are_signed(model: str, signed: bool) -> None:
    assert ("Alice" in kept('"~~~"', model)) is signed


def test_json_is_laid_out_and_its_markup_escaped() -> None:
    assert kept('"<a>&"', "json") == r'"\u003Ca\u003E\u0026"'
    assert kept('{"a":[1,{}],"é":null}', "json") == '{\n\t"a": [\n\t\t1,\n\t\t{}\n\t],\n\t"é": null\n}'


@pytest.mark.parametrize("text", ["{", "", "[" * 100_000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(WriteError) as refused:
        kept(text, "json")
    assert refused.value.code == "invalid-json-data"


def test_the_limit_is_in_bytes() -> None:
    assert len(kept("é" * (MAX_BYTES // 2))) == MAX_BYTES // 2
    with pytest.raises(WriteError, match="page size limit of 2048 kibibytes") as refused:
        kept("é" * (MAX_BYTES // 2) + "a")
    assert refused.value.code == "contenttoobig"


@pytest.mark.parametrize(
    ("title", "model"),
    [
        ("User:Alice/common.css", "css"),
        ("User:Alice/a/b.js", "javascript"),
        ("User:Alice/x.json", "json"),
        ("MediaWiki:Common.css", "css"),
        ("User:Alice.css", "wikitext"),
        ("Help:Common.css", "wikitext"),
        ("Common.js", "wikitext"),
    ],
)
def test_some_titles_hold_code(title: str, model: str) -> None:
    assert content_model_of(parse_title(title, STANDARD)) == model


LINES = st.lists(st.sampled_from(["a", "", "== A ==", "=== B ===", "= C =", "==", "x ="]), max_size=10)


@given(LINES, st.integers(1, 6))
def test_a_section_in_its_own_place_changes_no_other(lines: list[str], number: int) -> None:
    text = "\n".join(lines)
    section = section_of(text, str(number))
    if section is None:
        assert with_section(str(number), text, "x") is None
        return
    assert section in text
    changed = with_section(str(number), text, section)
    assert changed is not None
    assert [line for line in changed.split("\n") if line] == [line for line in lines if line]
