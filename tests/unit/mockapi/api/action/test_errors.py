"""Requests that the Action API refuses, by what a real MediaWiki answered. More are in tests/conformance/requests."""

from datetime import UTC, datetime
from typing import Any

import pytest

QUERY = {"action": "query"}
REVISIONS = {**QUERY, "prop": "revisions"}
HISTORY = {**REVISIONS, "titles": "Old harbour"}
BOTH = {**QUERY, "prop": "revisions|info", "titles": "Old harbour"}
LIST_OPTIONS = '"rvlimit", "rvstartid", "rvendid", "rvdir=newer", "rvuser", "rvexcludeuser", "rvstart", and "rvend"'
NO_LIST = f'The "revids" parameter may not be used with the list options ({LIST_OPTIONS}).'
ONE_PAGE = (
    '"titles", "pageids" or a generator was used to supply multiple pages, '
    f"but the {LIST_OPTIONS} parameters may only be used on a single page."
)
ONE_FORM = (
    'Multiple pages or revisions were supplied, but "inprop=preloadcontent" and "inprop=editintro" '
    "may only be used with a single page and revision."
)
CONTINUE = "Invalid continue param. You should pass the original value returned by the previous query."
NO_TOKEN = 'The "token" parameter must be set.'
NO_BOT = 'You do not have the "bot" right, so the action could not be completed.'
NOT_LOGGED_IN = 'You are no longer logged in as "Eve", so the action could not be completed.'
Q = {"action": "query"}
R = {**Q, "prop": "revisions"}


def no_integer(name: str, value: str) -> str:
    return f'Invalid value "{value}" for integer parameter "{name}".'


def unknown_value(name: str, value: str) -> str:
    return f'Unrecognized value for parameter "{name}": {value}.'


def not_together(name: str, other: str) -> str:
    return f'The parameters "{name}" and "{other}" can not be used together.'


def not_with(name: str, other: str) -> str:
    return f'The "{name}" parameter cannot be used with "{other}".'


READS: list[tuple[dict[str, Any], str, str]] = [
    ({**QUERY, "revids": "1.5"}, "badinteger", no_integer("revids", "1.5")),
    ({**QUERY, "revids": " 1"}, "badinteger", no_integer("revids", " 1")),
    ({**QUERY, "revids": "²"}, "badinteger", no_integer("revids", "²")),
    ({**QUERY, "revids": "9223372036854775808"}, "badinteger", no_integer("revids", "9223372036854775808")),
    ({**HISTORY, "rvlimit": ""}, "badinteger", no_integer("rvlimit", "")),
    ({**HISTORY, "rvdir": "up"}, "badvalue", unknown_value("rvdir", "up")),
    (
        {**HISTORY, "rvstart": "2026-01-01"},
        "badtimestamp",
        'Invalid value "2026-01-01" for timestamp parameter "rvstart".',
    ),
    ({"action": "logout"}, "missingparam", NO_TOKEN),
    ({"action": "logout", "token": ""}, "missingparam", NO_TOKEN),
    ({"action": "login"}, "mustbeposted", 'The "login" module requires a POST request.'),
    ({**QUERY, "titles": "A", "pageids": "1", "revids": "1"}, "multisource", not_with("pageids", "titles")),
    ({**REVISIONS, "revids": "4097", "rvlimit": 1}, "invalidparammix", NO_LIST),
    ({**REVISIONS, "titles": "Old harbour|To harbour", "rvlimit": 1}, "invalidparammix", ONE_PAGE),
    ({**HISTORY, "rvstartid": 99999}, "badid_rvstartid", 'No revision was found for parameter "rvstartid".'),
    ({**HISTORY, "rvuser": "A", "rvexcludeuser": "B"}, "invalidparammix", not_together("rvuser", "rvexcludeuser")),
    (
        {**HISTORY, "rvslots": "main", "rvcontentformat": "text/x-wiki"},
        "invalidparammix",
        not_with("rvcontentformat", "rvslots"),
    ),
    ({**QUERY, "prop": "info", "titles": "A|B", "inprop": "editintro"}, "invalidparammix", ONE_FORM),
    ({**BOTH, "continue": "x"}, "badcontinue", CONTINUE),
    ({**BOTH, "rvcontinue": "x", "rvlimit": 1}, "badcontinue", CONTINUE),
    ({**BOTH, "rvcontinue": "20261301000000|1", "rvlimit": 1}, "badcontinue", CONTINUE),
    ({**BOTH, "rvcontinue": "20260101000000|x", "rvlimit": 1}, "badcontinue", CONTINUE),
    ({**BOTH, "rvcontinue": "1"}, "badcontinue", CONTINUE),
    ({**BOTH, "incontinue": "Old harbour"}, "badcontinue", CONTINUE),
    ({**QUERY, "prop": "pageprops", "titles": "Generated", "ppcontinue": "x"}, "badcontinue", CONTINUE),
    ({**QUERY, "generator": "bogus"}, "badgenerator", 'Unknown "generator=bogus".'),
    (
        {**QUERY, "meta": "siteinfo", "siprop": "dbrepllag", "sishowalldb": 1},
        "includeAllDenied",
        'Cannot view all servers\' info unless "$wgShowHostnames" is true.',
    ),
    ({**QUERY, "assertuser": "Eve"}, "assertnameduserfailed", NOT_LOGGED_IN),
    ({**QUERY, "assert": "bot"}, "assertbotfailed", NO_BOT),
    (
        {**QUERY, "assert": "user", "revids": "x"},
        "assertuserfailed",
        "You are no longer logged in, so the action could not be completed.",
    ),
]


@pytest.mark.parametrize(("parameters", "code", "info"), READS, ids=[str(parameters) for parameters, _, _ in READS])
def test_what_cannot_be_read_is_an_error(api: Any, parameters: dict[str, Any], code: str, info: str) -> None:
    assert api.get(**parameters).error == (code, info)


EDIT, DELETE, UNDELETE, MOVE = ({"action": action} for action in ("edit", "delete", "undelete", "move"))
NEW = {**EDIT, "title": "A", "text": "x"}
HIDE = {"action": "revisiondelete", "type": "revision", "ids": "4098"}
NO_PAGE = "The page you specified doesn't exist."
NO_SUCH_ID = "There is no page with ID 9999."
ONE_OF_TITLE_AND_ID = 'One of the parameters "title" and "pageid" is required.'
WRITES: list[tuple[dict[str, Any], str, str]] = [
    (
        {**EDIT, "title": "A"},
        "missingparam",
        'At least one of the parameters "text", "appendtext", "prependtext" and "undo" is required.',
    ),
    ({**EDIT, "text": "x"}, "missingparam", ONE_OF_TITLE_AND_ID),
    ({**NEW, "pageid": 1}, "invalidparammix", not_together("title", "pageid")),
    ({**EDIT, "text": "x", "pageid": 9999}, "nosuchpageid", NO_SUCH_ID),
    ({**NEW, "md5": "0" * 32}, "badmd5", "The supplied MD5 hash was incorrect."),
    ({**NEW, "title": "Old harbour", "section": "7"}, "nosuchsection", "There is no section 7."),
    ({**NEW, "title": "User:Admin/x.json", "text": "{"}, "invalid-json-data", "Invalid JSON: Syntax error"),
    ({**DELETE}, "missingparam", ONE_OF_TITLE_AND_ID),
    ({**DELETE, "pageid": 9999}, "nosuchpageid", NO_SUCH_ID),
    ({**DELETE, "title": "Nope"}, "missingtitle", NO_PAGE),
    (
        {**UNDELETE, "title": "Old harbour"},
        "cantundelete",
        "Couldn't undelete: the requested revisions may not exist, or may have been undeleted already.",
    ),
    ({**UNDELETE, "title": "::"}, "invalidtitle", 'Bad title "::".'),
    ({**MOVE, "from": "Special:A", "to": "A"}, "missingtitle", NO_PAGE),
    (
        {**MOVE, "from": "Old harbour", "to": "old_harbour"},
        "selfmove",
        "The title is the same; cannot move a page over itself.",
    ),
    ({**MOVE, "from": "Old harbour", "to": ""}, "missingparam", 'The "to" parameter must be set.'),
    ({**HIDE}, "badparams", 'At least one value is required for "hide" and/or "show".'),
    ({**HIDE, "hide": "user", "show": "user"}, "badparams", 'The same field cannot be used in both "hide" and "show".'),
    ({**HIDE, "type": "x"}, "badvalue", unknown_value("type", "x")),
    ({**HIDE, "ids": "x"}, "badinteger", no_integer("ids", "x")),
]


@pytest.mark.parametrize(("parameters", "code", "info"), WRITES, ids=[str(parameters) for parameters, _, _ in WRITES])
def test_what_cannot_be_written_is_an_error(admin: Any, parameters: dict[str, Any], code: str, info: str) -> None:
    assert admin.post(token=admin.token(), **parameters).error == (code, info)


ONLY_ADMINISTRATORS = (
    "The action you have requested is limited to users in the group: [[Wikipedia:Administrators|Administrators]]."
)
OTHERS_PAGE = "You do not have permission to edit this {} page because it contains another user's personal settings."
INTERFACE = (
    "This page provides interface text for the software on this wiki, and is protected to prevent abuse. To add or "
    "change translations for all wikis, please use [https://translatewiki.net/ translatewiki.net], the MediaWiki "
    "localisation project."
)
OF_VISITORS: list[tuple[dict[str, Any], str, str]] = [
    ({**NEW, "title": "MediaWiki:Sidebar"}, "protectednamespace-interface", INTERFACE),
    ({**NEW, "title": "User:Ada/common.js"}, "customjsprotected", OTHERS_PAGE.format("JavaScript")),
    ({**NEW, "title": "User:Ada/common.css"}, "customcssprotected", OTHERS_PAGE.format("CSS")),
    ({**NEW, "title": "User:Ada/x.json", "text": "{}"}, "customjsonprotected", OTHERS_PAGE.format("JSON")),
    ({**DELETE, "title": "Old harbour"}, "permissiondenied", ONLY_ADMINISTRATORS),
    ({**UNDELETE, "title": "Old harbour"}, "permissiondenied", ONLY_ADMINISTRATORS),
    (
        {**MOVE, "from": "Old harbour", "to": "A"},
        "cantmove-anon",
        "You must be a registered user and [[Special:UserLogin|logged in]] to move a page.",
    ),
    (
        {**HIDE, "hide": "user"},
        "permissiondenied",
        "You don't have permission to delete or undelete specific revisions of pages.",
    ),
]


@pytest.mark.parametrize(("parameters", "code", "info"), OF_VISITORS, ids=[str(one) for one, _, _ in OF_VISITORS])
def test_what_a_visitor_may_not_write_is_an_error(api: Any, parameters: dict[str, Any], code: str, info: str) -> None:
    assert api.post(token="+\\", **parameters).error == (code, info)


WRITING = ["edit", "move", "delete", "undelete", "revisiondelete", "userrights", "logout"]
PREFIXES = {"createaccount": "create", "clientlogin": "login"}
NEEDED = {"to": "x", "title": "x", "type": "revision", "ids": "1", "user": "Admin"}


@pytest.mark.parametrize("action", [*WRITING, *PREFIXES])
def test_a_write_needs_a_good_token_in_the_body(api: Any, action: str) -> None:
    name = PREFIXES.get(action, "") + "token"
    assert api.post(action=action, **NEEDED).error == ("missingparam", f'The "{name}" parameter must be set.')
    assert api.post(action=action, **NEEDED, **{name: ""}).error[0] == "missingparam"
    assert api.post(action=action, **NEEDED, **{name: "bad"}).error == ("badtoken", "Invalid CSRF token.")
    body = b"&".join(f"{key}={value}".encode() for key, value in NEEDED.items())
    text = f"The following parameter was found in the query string, but must be in the POST body: {name}."
    in_query = api.ask(f"action={action}&format=json&{name}=x", method="POST", body=body)
    assert in_query.error == ("mustpostparams", text)


def test_a_get_of_a_write_with_a_good_token_in_the_query_is_refused_for_that(admin: Any) -> None:
    assert admin.get(action="edit", title="A", text="x", token=admin.token()).error[0] == "mustpostparams"
    assert admin.query(titles="A")["pages"][0]["missing"] is True


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_other_methods_are_405(api: Any, method: str) -> None:
    answer = api.ask("action=query&format=json", method=method)
    assert answer.status == 405
    assert answer.error == ("invalidmethod", "Invalid HTTP method. Consider using GET or POST.")


def test_administrators_may_name_more(admin: Any) -> None:
    assert "badrevids" in admin.query(revids="|".join(map(str, range(51))))


@pytest.mark.parametrize(
    ("parameters", "module", "text"),
    [
        ({"rvprop": "bogus|ids"}, "revisions", 'Unrecognized value for parameter "rvprop": bogus'),
        ({"rvprop": "a|ids|b"}, "revisions", 'Unrecognized values for parameter "rvprop": a, b'),
        ({"rvlimit": "0"}, "revisions", 'The value "0" for parameter "rvlimit" must be between 1 and 500.'),
        ({"rvlimit": "501"}, "revisions", 'The value "501" for parameter "rvlimit" must be between 1 and 500.'),
        ({"smaxage": "-1"}, "main", 'The value "-1" for parameter "smaxage" must be no less than 0.'),
        ({"foo": "1"}, "main", "Unrecognized parameter: foo."),
        ({"foo": "1", "rvx": "2"}, "main", "Unrecognized parameters: foo, rvx."),
        ({"pageids[]": "1"}, "main", 'Parameter "pageids" uses unsupported PHP array syntax.'),
    ],
)
def test_what_can_hardly_be_read_is_a_warning(api: Any, parameters: dict[str, str], module: str, text: str) -> None:
    answer = api.get(**R, titles="Old harbour", **parameters).json
    assert answer["warnings"] == {module: {"warnings": text}}
    assert answer["query"]["pages"][0]["pageid"] == 1


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"rvcontentformat": "text/x-wiki"}, 'The parameter "rvcontentformat" has been deprecated.'),
        ({"prop": "info", "inprop": "readable"}, 'The value "readable" to parameter "inprop" has been deprecated.'),
    ],
)
def test_what_is_old_is_a_warning_with_advice(api: Any, parameters: dict[str, str], text: str) -> None:
    warnings = api.get(**{**R, "titles": "Old harbour", **parameters}).json["warnings"]
    assert list(warnings) == ["main", parameters.get("prop", "revisions")]
    assert warnings[parameters.get("prop", "revisions")]["warnings"] == text
    assert warnings["main"]["warnings"].startswith("Subscribe to the mediawiki-api-announce mailing list")


def test_text_that_was_mended_is_told_of(api: Any) -> None:
    answer = api.ask("action=query&format=json&formatversion=2&titles=e%CC%81").json
    assert answer["warnings"]["query"]["warnings"].startswith('The value passed for "titles" contains invalid')
    assert answer["query"]["normalized"][0] == {"fromencoded": True, "from": "e%CC%81", "to": "é"}


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        ("Old harbour|Nope", ["Nope", "Old harbour"]),
        ("\x1fOld harbour\x1fa|b", ["a|b", "Old harbour"]),
        ("Old harbour|Old harbour", ["Old harbour"]),
    ],
)
def test_lists_have_one_of_two_separators(api: Any, titles: str, expected: list[str]) -> None:
    assert [page["title"] for page in api.query(titles=titles)["pages"]] == expected


def test_an_empty_list_is_no_list(api: Any) -> None:
    assert api.get(action="query", titles="").json == {"batchcomplete": True}


@pytest.mark.parametrize(
    "moment",
    ["2026-03-02T05:06:07Z", "2026-03-02 05:06:07", "20260302050607", "1772427967", "2026-03-02T07:06:07+02:00"],
)
def test_times_have_several_spellings(api: Any, moment: str) -> None:
    (page,) = api.query(prop="revisions", titles="Old harbour", rvprop="ids", rvstart=moment)["pages"]
    assert [one["revid"] for one in page["revisions"]] == [4098, 4097]


def test_now_is_by_the_clock_of_the_world(make_page: Any, make_api: Any) -> None:
    later = make_page(70, "Later", "a")
    revision = later.revisions[0].model_copy(update={"timestamp": datetime(2026, 6, 1, 12, 0, 1, tzinfo=UTC)})
    api = make_api(later.model_copy(update={"revisions": (revision,)}))
    (page,) = api.query(prop="revisions", titles="Later", rvstart="now")["pages"]
    assert "revisions" not in page
