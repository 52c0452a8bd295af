from typing import Any

import pytest


def test_what_clients_look_at_when_they_connect(api: Any) -> None:
    general = api.query(meta="siteinfo", formatversion=1)["general"]
    assert general["generator"] == "MediaWiki 1.43.9"
    assert (general["wikiid"], general["lang"], general["case"]) == ("enwiki", "en", "first-letter")
    assert (general["server"], general["servername"]) == ("https://en.wikipedia.org", "en.wikipedia.org")
    assert (general["writeapi"], general["variantarticlepath"], general["magiclinks"]) == ("", False, [])
    assert general["time"] == "2026-06-01T12:00:00Z"
    assert "rtl" not in general


def test_lists_of_numbers_are_objects_in_version_two(api: Any) -> None:
    first, second = (api.query(meta="siteinfo", formatversion=version)["general"] for version in (1, 2))
    assert first["thumblimits"] == list(second["thumblimits"].values()) == [120, 150, 180, 200, 250, 300]
    assert list(second["thumblimits"]) == ["0", "1", "2", "3", "4", "5"]
    assert second["magiclinks"] == {"ISBN": False, "PMID": False, "RFC": False}


def test_namespaces_have_numbers_names_and_aliases(api: Any) -> None:
    answer = api.query(meta="siteinfo", siprop="namespaces|namespacealiases")
    assert answer["namespaces"]["4"] == {
        "id": 4,
        "case": "first-letter",
        "name": "Wikipedia",
        "subpages": True,
        "canonical": "Project",
        "content": False,
        "nonincludable": False,
    }
    assert "canonical" not in answer["namespaces"]["0"]
    assert answer["namespaces"]["8"]["namespaceprotection"] == "editinterface"
    assert answer["namespacealiases"] == [{"id": 6, "alias": "Image"}, {"id": 7, "alias": "Image talk"}]


def test_version_one_has_the_name_under_a_star(api: Any) -> None:
    answer = api.query(meta="siteinfo", siprop="namespaces", formatversion=1)["namespaces"]
    assert list(answer["1"].items()) == [
        ("id", 1),
        ("case", "first-letter"),
        ("subpages", ""),
        ("canonical", "Talk"),
        ("*", "Talk"),
    ]
    assert answer["0"] == {"id": 0, "case": "first-letter", "content": "", "*": ""}


def test_statistics_count_what_readers_see(admin: Any) -> None:
    before = admin.query(meta="siteinfo", siprop="statistics")["statistics"]
    admin.write("edit", title="A", text="x")
    after = admin.query(meta="siteinfo", siprop="statistics")["statistics"]
    assert (before["users"], before["admins"]) == (1, 1)
    assert (after["pages"], after["edits"]) == (before["pages"] + 1, before["edits"] + 1)


@pytest.mark.parametrize(
    "prop", ["rightsinfo", "restrictions", "usergroups", "dbrepllag", "interwikimap", "extensions"]
)
def test_each_property_is_a_member(api: Any, prop: str) -> None:
    assert list(api.query(meta="siteinfo", siprop=prop)) == [prop]


def test_other_servers_are_not_shown(api: Any) -> None:
    assert api.get(action="query", meta="siteinfo", siprop="dbrepllag", sishowalldb=1).error[0] == "includeAllDenied"


def test_a_wiki_is_chosen_by_host(make_api: Any, make_page: Any) -> None:
    api = make_api(make_page(1, "Hafen", "x", wiki="dewiki"))
    answer = api.ask("action=query&meta=siteinfo&format=json", host="de.wikipedia.org:8080").json
    assert answer["query"]["general"]["wikiid"] == "dewiki"
