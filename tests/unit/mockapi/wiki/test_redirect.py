import pytest

from mockapi.wiki.namespaces import STANDARD
from mockapi.wiki.redirect import redirect_target, redirect_to
from mockapi.wiki.title import parse_title


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
