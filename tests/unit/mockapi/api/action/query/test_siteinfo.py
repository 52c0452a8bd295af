from typing import Any

import pytest


def test_the_time_is_that_of_the_world(api: Any) -> None:
    assert api.query(meta="siteinfo")["general"]["time"] == "2026-06-01T12:00:00Z"


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
