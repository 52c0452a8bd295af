from typing import Any

import pytest


def ids(api: Any, **parameters: Any) -> list[int]:
    (page,) = api.query(prop="revisions", rvprop="ids", **{"titles": "Old harbour", **parameters})["pages"]
    return [one["revid"] for one in page.get("revisions", [])]


def test_revisions_are_grouped_by_page_in_ascending_order(api: Any) -> None:
    pages = api.query(prop="revisions", revids="8193|4099|4097|4097", rvprop="ids")["pages"]
    assert [(page["title"], [one["revid"] for one in page["revisions"]]) for page in pages] == [
        ("Old harbour", [4097, 4099]),
        ("To harbour", [8193]),
    ]


def test_of_pages_the_current_one_is_told(api: Any) -> None:
    pages = api.query(prop="revisions", titles="To harbour|Old harbour|Nope", rvprop="ids")["pages"]
    assert [[one["revid"] for one in page.get("revisions", [])] for page in pages] == [[], [4099], [8193]]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"rvlimit": 2}, [4099, 4098]),
        ({"rvlimit": "max"}, [4099, 4098, 4097]),
        ({"rvdir": "newer"}, [4097, 4098, 4099]),
        ({"rvstartid": 4098}, [4098, 4097]),
        ({"rvendid": 4098}, [4099, 4098]),
        ({"rvstartid": 4098, "rvdir": "newer"}, [4098, 4099]),
        ({"rvstart": "2026-03-02T05:06:07Z"}, [4098, 4097]),
        ({"rvend": "2026-03-02T05:06:08Z"}, [4099]),
        ({"rvstart": "2026-03-02T05:06:08Z", "rvdir": "newer"}, [4099]),
        ({"rvuser": "ada"}, [4099, 4097]),
        ({"rvexcludeuser": "Ada"}, [4098]),
        ({"rvlimit": 9, "rvcontinue": "20260302050607|4098"}, [4098, 4097]),
        ({"rvlimit": 9, "rvdir": "newer", "rvcontinue": "20260302050607|4098"}, [4098, 4099]),
        ({"rvtag": "mw-replace"}, []),
    ],
)
def test_the_history_of_a_page_can_be_cut(api: Any, parameters: dict[str, Any], expected: list[int]) -> None:
    assert ids(api, **parameters) == expected


def test_asking_for_the_most_says_what_that_is(api: Any, admin: Any) -> None:
    parameters = {"action": "query", "prop": "revisions", "titles": "Old harbour", "rvlimit": "max"}
    assert api.another().get(**parameters).json["limits"] == {"revisions": 500}
    assert admin.get(**parameters).json["limits"] == {"revisions": 5000}
    assert admin.another().get(**parameters, rvprop="content", rvslots="main").json["limits"] == {"revisions": 50}


def test_a_title_that_is_missing_does_not_count_as_a_page(api: Any) -> None:
    pages = api.query(prop="revisions", titles="Old harbour|Nope", rvlimit=1, rvprop="ids")["pages"]
    assert [page["title"] for page in pages if "revisions" in page] == ["Old harbour"]


def test_a_rule_that_hides_the_author_hides_it_from_filters_too(make_api: Any) -> None:
    api = make_api(rules=({"name": "hide", "when": {"revision": 4099}, "do": {"hidden": {"parts": ["user"]}}},))
    assert ids(api, rvuser="Ada") == [4097]


def test_generated_revisions_have_a_source_that_stays(api: Any) -> None:
    first, second = (
        api.query(prop="revisions", revids="28673", rvprop="content|size|sha1", rvslots="main") for _ in range(2)
    )
    assert first == second
    revision = first["pages"][0]["revisions"][0]
    assert len(revision["slots"]["main"]["content"].encode()) == revision["size"] > 0


@pytest.mark.parametrize(("version", "cached"), [("visitor", "public"), ("admin", "private")])
def test_who_sees_hidden_revisions_gets_a_private_answer(api: Any, version: str, cached: str) -> None:
    client = api.log_in() if version == "admin" else api
    answer = client.get(action="query", prop="revisions", revids="4097", maxage=60, smaxage=60)
    assert cached in answer["cache-control"]
