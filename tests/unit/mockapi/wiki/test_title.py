import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.namespaces import STANDARD, Namespaces
from mockapi.wiki.redirect import redirect_target, redirect_to
from mockapi.wiki.title import InvalidTitle, Title, parse_title


@pytest.mark.parametrize(
    ("text", "namespace_id", "dbkey"),
    [
        ("Old harbour", 0, "Old_harbour"),
        ("  old__harbour_ ", 0, "Old_harbour"),
        ("old\u00a0\u2003harbour", 0, "Old_harbour"),
        (":old harbour", 0, "Old_harbour"),
        ("old harbour#The quay", 0, "Old_harbour"),
        ("old harbour #The quay", 0, "Old_harbour"),
        ("old\u200eharbour", 0, "Oldharbour"),
        ("talk: old harbour", 1, "Talk:Old_harbour"),
        ("USER TALK:x", 3, "User_talk:X"),
        ("image:A.jpg", 6, "File:A.jpg"),
        ("project:x", 4, "Project:X"),
        ("Special:blankPage", -1, "Special:BlankPage"),
        ("Star Trek: x", 0, "Star_Trek:_x"),
        ("a &amp; b", 0, "A_&_b"),
        ("&#233;lan", 0, "Élan"),
        ("e\u0301lan", 0, "Élan"),
        ("ßtraße", 0, "Sstraße"),
        ("ǆ", 0, "ǅ"),
        ("éa", 0, "Éa"),
        ("日本", 0, "日本"),
        ("ünïcode", 0, "Ünïcode"),
        ("100%", 0, "100%"),
        ("A & B", 0, "A_&_B"),
        ("User:::1", 2, "User:0:0:0:0:0:0:0:1"),
        ("User talk:2001:db8::1", 3, "User_talk:2001:DB8:0:0:0:0:0:1"),
        ("User:fe80::1%eth0", 2, "User:Fe80::1%eth0"),
        ("User:a:b", 2, "User:A:b"),
        ("a..b", 0, "A..b"),
    ],
)
def test_what_reads_the_same_is_the_same_title(text: str, namespace_id: int, dbkey: str) -> None:
    title = parse_title(text, STANDARD)
    assert (title.namespace_id, title.dbkey) == (namespace_id, dbkey)
    assert title.text == dbkey.replace("_", " ")


INVALID = {
    "empty": ["", "  _", ":", "Talk:", "#part"],
    "leading-colon": ["::X::", "Talk: :x"],
    "characters": ["a|b", "a[b", "<a>", "a\nb", "a%41", "a&nosuch;"],
    "relative": ["..", "a/./b", "../a", "a/.."],
    "magic-tilde": ["a~~~b"],
    "talk-namespace": ["Talk:File:a"],
    "utf8": ["\udc80", "a\ufffd"],
    "too-long": ["é" * 128],
}


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in INVALID.items() for text in texts])
def test_what_no_page_can_be_called_is_refused_with_a_reason(code: str, text: str) -> None:
    with pytest.raises(InvalidTitle) as refused:
        parse_title(text, STANDARD)
    assert refused.value.code == f"title-invalid-{code}"


@pytest.mark.parametrize("text", ["é" * 127, "Special:" + "a" * 512])
def test_the_limit_is_in_bytes_and_not_of_the_namespace(text: str) -> None:
    assert parse_title(text, STANDARD)


@pytest.mark.parametrize(
    ("text", "english"),
    [("a{b}", '^The requested page title contains invalid characters: "{".$'), ("a" * 256, "no longer than 255 bytes")],
)
def test_the_character_or_the_limit_is_named(text: str, english: str) -> None:
    with pytest.raises(InvalidTitle) as refused:
        parse_title(text, STANDARD)
    assert re.search(english, refused.value.english)


def test_a_wiki_has_its_own_names() -> None:
    german = Namespaces.of("Wikipedia", {1: "Diskussion"})
    assert parse_title("diskussion:a", german).text == "Diskussion:A"
    assert parse_title("talk:a", german).text == "Diskussion:A"
    assert parse_title("project talk:a", german).text == "Wikipedia talk:A"


def test_only_special_pages_cannot_exist_and_a_namespace_may_have_another_name() -> None:
    assert not parse_title("Special:X", STANDARD).can_exist
    assert parse_title("Help:X", STANDARD).can_exist
    assert Title(1, "A", "Talk") == Title(1, "A", "Diskussion")


PIECES = st.sampled_from(
    [*"abÀéßŉǰΐ:#_ /.~%&;|日", "talk", "User", "Image", "::", "&amp;", "&lt;", "\u00a0", "\u200e", "i\u0307", "\u0301"]
)


@given(st.lists(PIECES | st.characters(), max_size=12).map("".join))
def test_a_title_read_again_is_itself(text: str) -> None:
    try:
        title = parse_title(text, STANDARD)
    except InvalidTitle:
        return
    assert parse_title(title.text, STANDARD) == title
    assert parse_title(title.dbkey, STANDARD) == title


@pytest.mark.parametrize(
    ("name", "number"),
    [("talk", 1), ("USER_TALK", 3), ("user talk", 3), ("image", 6), ("", None), ("nowhere", None), ("special", -1)],
)
def test_a_name_finds_its_number(name: str, number: int | None) -> None:
    assert STANDARD.number_of(name) == number


def test_they_come_in_the_order_of_their_numbers() -> None:
    assert [one.id for one in STANDARD] == list(range(-2, 16))


def test_own_names_win_and_english_ones_are_understood() -> None:
    own = Namespaces.of("Wikipedia", {1: "Diskussion", 100: "Portal"})
    assert own.name_of(1) == "Diskussion"
    assert own.by_id[1].canonical == "Talk"
    assert (own.number_of("Diskussion"), own.number_of("Talk"), own.number_of("Portal")) == (1, 1, 100)
    assert own.by_id[100].canonical is None
    assert (1, "Talk") in own.aliases
    assert (6, "Image") in own.aliases
    assert Namespaces.of("Wikipedia").aliases == ((6, "Image"), (7, "Image talk"))


def test_the_project_has_its_name_and_the_general_one() -> None:
    own = Namespaces.of("Wikipedia")
    assert own.number_of("wikipedia") == own.number_of("project") == 4
    assert own.name_of(5) == "Wikipedia talk"


def test_what_namespaces_are_for() -> None:
    assert STANDARD.name_of(828) == "Namespace 828"
    assert [one.id for one in STANDARD if one.content] == [0]
    assert STANDARD.by_id[1].subpages
    assert not STANDARD.by_id[0].subpages


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("#REDIRECT [[Quay]]", "Quay"),
        ("\n#redirect: [[ Old quay#North |label]]\nmore", "Old quay#North"),
        ("#REDIRECT[[:Category:Quays]]", ":Category:Quays"),
        ("see #REDIRECT [[Quay]]", None),
        ("#REDIRECT Quay", None),
        ("#REDIRECT [[::X::]]", None),
        ("", None),
    ],
)
def test_a_source_says_where_its_page_leads(text: str, target: str | None) -> None:
    assert redirect_target(text) == target


@pytest.mark.parametrize("model", ["wikitext", "css", "javascript"])
@pytest.mark.parametrize("title", ["Old quay", "File:Quay.jpg", "User:É/a b?.css", "A\"b'c(d)"])
def test_what_is_written_is_read_again(model: str, title: str) -> None:
    target = parse_title(title, STANDARD)
    written = redirect_to(target, model, "https://test.example.org")
    assert written is not None
    read = redirect_target(written, model)
    assert read is not None
    assert parse_title(read, STANDARD) == target


@pytest.mark.parametrize("model", ["json", "text"])
def test_other_models_cannot_lead_anywhere(model: str) -> None:
    assert redirect_to(parse_title("Quay", STANDARD), model, "https://test.example.org") is None
    assert redirect_target("#REDIRECT [[Quay]]", model) is None
