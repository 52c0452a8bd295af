from typing import Any

import pytest


def text_of(api: Any, title: str) -> str:
    (page,) = api.query(prop="revisions", titles=title, rvprop="content", rvslots="main")["pages"]
    text: str = page["revisions"][0]["slots"]["main"]["content"]
    return text


def test_a_write_pins_the_client_to_where_it_was_written(admin: Any) -> None:
    answer = admin.post(action="edit", title="A", text="x", token=admin.token())
    assert answer["set-cookie"] == ("UseDC=master; expires=Mon, 01 Jun 2026 12:00:10 GMT; Max-Age=10; path=/; HttpOnly")


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"appendtext": " more"}, "three more"),
        ({"prependtext": "pre "}, "pre three"),
        ({"section": "new", "sectiontitle": "S", "text": "x"}, "three\n\n== S ==\n\nx"),
        ({"pageid": 1, "title": None, "text": "by id"}, "by id"),
    ],
)
def test_text_can_be_added(admin: Any, parameters: dict[str, Any], expected: str) -> None:
    given = {"title": "Old harbour", **parameters}
    admin.write("edit", **{name: value for name, value in given.items() if value is not None})
    assert text_of(admin, "Old harbour") == expected


@pytest.mark.parametrize(("appended", "prepended"), [("x", None), (None, "x")])
def test_a_section_can_be_added_to(make_api: Any, make_page: Any, appended: str | None, prepended: str | None) -> None:
    api = make_api(make_page(20, "Sections", "lead\n\n== A ==\naa\n\n== C ==\ncc"))
    given = {name: text for name, text in (("appendtext", appended), ("prependtext", prepended)) if text is not None}
    api.write("edit", title="Sections", section="1", **given)
    answer = api.query(prop="revisions", titles="Sections", rvprop="content", rvslots="main")
    expected = f"lead\n\n{prepended or ''}== A ==\naa{appended or ''}\n\n== C ==\ncc"
    assert answer["pages"][0]["revisions"][0]["slots"]["main"]["content"] == expected


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("0", "new\n\n== A ==\naa\n== C ==\ncc"),
        ("1", "lead\nnew\n\n== C ==\ncc"),
        ("2", "lead\n== A ==\naa\nnew"),
    ],
)
def test_a_section_can_be_changed(make_api: Any, make_page: Any, section: str, expected: str) -> None:
    api = make_api(make_page(50, "Sections", "lead\n== A ==\naa\n== C ==\ncc")).log_in()
    api.write("edit", title="Sections", section=section, text="new")
    assert text_of(api, "Sections") == expected


def test_a_redirect_can_be_followed(admin: Any) -> None:
    answer = admin.write("edit", title="To harbour", redirect=1, appendtext="!")
    assert (answer["redirects"], answer["title"]) == ([{"from": "To harbour", "to": "Old harbour"}], "Old harbour")


@pytest.mark.parametrize(
    ("parameters", "code", "info"),
    [
        (
            {"title": "A"},
            "missingparam",
            'At least one of the parameters "text", "appendtext", "prependtext" and "undo" is required.',
        ),
        ({"text": "x"}, "missingparam", 'One of the parameters "title" and "pageid" is required.'),
        (
            {"text": "x", "title": "A", "pageid": 1},
            "invalidparammix",
            'The parameters "title" and "pageid" can not be used together.',
        ),
        ({"text": "x", "pageid": 9999}, "nosuchpageid", "There is no page with ID 9999."),
        ({"text": "x", "title": "A", "md5": "0" * 32}, "badmd5", "The supplied MD5 hash was incorrect."),
        ({"text": "x", "title": "Old harbour", "section": "7"}, "nosuchsection", "There is no section 7."),
        ({"text": "{", "title": "User:Admin/x.json"}, "invalid-json-data", "Invalid JSON: Syntax error"),
    ],
)
def test_what_cannot_be_saved_is_refused(admin: Any, parameters: dict[str, Any], code: str, info: str) -> None:
    assert admin.post(action="edit", token=admin.token(), **parameters).error == (code, info)


def test_a_right_checksum_is_no_hindrance(admin: Any) -> None:
    assert admin.write("edit", title="A", text="x", md5="9dd4e461268c8034f5c8564e155c67a6")["result"] == "Success"


def test_visitors_may_write_and_get_a_session(api: Any) -> None:
    answer = api.write("edit", title="A", text="x", minor=1)
    assert answer["result"] == "Success"
    assert "enwiki_session" in api.cookies
    (page,) = api.query(prop="revisions", titles="A", rvprop="user|userid|flags")["pages"]
    assert page["revisions"] == [{"minor": False, "user": "192.0.2.1", "anon": True, "userid": 0}]


@pytest.mark.parametrize(
    ("title", "code"),
    [
        ("MediaWiki:Sidebar", "protectednamespace-interface"),
        ("User:Ada/common.js", "customjsprotected"),
        ("User:Ada/common.css", "customcssprotected"),
        ("User:Ada/x.json", "customjsonprotected"),
    ],
)
def test_not_everybody_may_write_everything(api: Any, admin: Any, title: str, code: str) -> None:
    visitor = api.another()
    assert visitor.post(action="edit", title=title, text="{}", token="+\\").error[0] == code
    assert admin.write("edit", title=title, text="{}")["result"] == "Success"


def test_what_is_written_is_there_for_everybody(admin: Any) -> None:
    answer = admin.write("edit", title="A", text="''x''")
    visitor = admin.another()
    rest = visitor.ask("", path=f"/w/rest.php/v1/revision/{answer['newrevid']}")
    assert rest.json["source"] == "''x''"
