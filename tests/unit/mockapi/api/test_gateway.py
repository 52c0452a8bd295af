from typing import Any

import pytest

from mockapi.plan import StatusAnswer

RESTBASE = "/api/rest_v1/page"


@pytest.mark.parametrize(
    ("public", "behind"),
    [
        (f"{RESTBASE}/html/Old_harbour", "/w/rest.php/v1/page/Old_harbour/html"),
        (f"{RESTBASE}/html/Talk:%C3%84%2Fb%3F", "/w/rest.php/v1/page/Talk:%C3%84%2Fb%3F/html"),
        (f"{RESTBASE}/html/Any_title/4097", "/w/rest.php/v1/revision/4097/html"),
        (f"{RESTBASE}/html/Nope?redirect=no", "/w/rest.php/v1/page/Nope/html?redirect=no"),
        (f"{RESTBASE}/html/Redirect?a=b", "/w/rest.php/v1/page/Redirect/html?a=b"),
        (f"{RESTBASE}/html/Any/abc", "/w/rest.php/v1/revision/abc/html"),
        (f"{RESTBASE}/title/Old_harbour", "/w/rest.php/v1/page/Old_harbour/bare"),
        (f"{RESTBASE}/title/Any/4097", "/w/rest.php/v1/revision/4097/bare"),
    ],
)
def test_restbases_paths_are_those_of_the_rest_api(wiki: Any, public: str, behind: str) -> None:
    through, core = wiki.ask(public), wiki.ask(behind, headers={"x-restbase-compat": "true"})
    assert (through.status, through.body) == (core.status, core.body)
    for name in ("etag", "location", "content-type", "content-revision-id", "content-length"):
        assert through[name] == core[name]
    assert (through["via"], through["access-control-allow-origin"]) == ("rest-gateway", "*")
    assert through.names.count("x-content-type-options") == 1
    one, other = wiki.endpoint(public), wiki.endpoint(behind)
    assert (one.key, one.targets, one.renders) == (other.key, other.targets, other.renders)


def test_an_error_has_restbases_members(wiki: Any) -> None:
    answer = wiki.ask(f"{RESTBASE}/html/Nope")
    assert (answer.status, answer.json["type"]) == (404, "MediaWikiError/Not_Found")
    assert answer.json["uri"] == "/w/rest.php/v1/page/Nope/html"


def test_a_status_of_a_rule_goes_through_the_gateway(wiki: Any) -> None:
    reply = wiki.endpoint(f"{RESTBASE}/html/Old_harbour").status_reply(StatusAnswer(code=504), "id")
    assert (reply.status, reply.header(b"via"), reply.header(b"server")) == (504, "rest-gateway", "envoy")


def test_the_portal_names_project_and_language(make_wiki: Any, german: Any) -> None:
    both = make_wiki(german)
    answer = both.ask("/core/v1/wikipedia/de/page/Hafen", headers={"host": "api.wikimedia.org"})
    assert (answer.status, answer.json["source"]) == (200, "zwei")
    assert both.ask("/core/v1/wikipedia/fr/page/Hafen", headers={"host": "api.wikimedia.org"}).status == 404


@pytest.mark.parametrize("path", [f"{RESTBASE}/html/", f"{RESTBASE}/html/A/1/2", f"{RESTBASE}/pdf/A", "/api/rest_v1"])
def test_other_paths_are_not_found(wiki: Any, path: str) -> None:
    assert wiki.ask(path).json["errorKey"] == "rest-no-match"
