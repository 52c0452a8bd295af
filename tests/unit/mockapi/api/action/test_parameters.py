"""Parameters, by the errors and warnings that a real MediaWiki gave for the same requests."""

from datetime import UTC, datetime
from typing import Any

import pytest

Q = {"action": "query"}
R = {**Q, "prop": "revisions"}


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
