from typing import Any

import pytest

from mockapi.plan import OtherBody, Plan, StatusAnswer, WikiState
from mockapi.wiki.pages.block import Block

HTML = "/api/rest_v1/page/html"
ERRORS = "https://mediawiki.org/wiki/HyperSwitch/errors/"
RESTBASE = "/api/rest_v1/page"
SIGNED = b"title=Special:RunJobs&maxjobs=10&tasks=&sigexpiry=1&signature=x"
FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def restbase(make_wiki: Any) -> Any:
    return make_wiki(restbase="legacy")


def test_a_page_has_an_etag_of_two_parts_and_its_id_in_the_head(restbase: Any) -> None:
    answer = restbase.ask(f"{HTML}/Old_harbour")
    revision, tid = answer["etag"].strip('"').split("/")
    assert (answer.status, revision) == (200, "4098")
    head = '<head prefix="mwr: https://en.wikipedia.org/wiki/Special:Redirect/">'
    assert f'{head}<meta property="mw:TimeUuid" content="{tid}"/>' in answer.body.decode()
    assert answer["content-length"] == str(len(answer.body))
    assert answer["content-location"] == "https://en.wikipedia.org/api/rest_v1/page/html/Old_harbour"
    assert (answer["vary"], answer["x-restbase-cache"]) == ("Accept", "hit")
    assert answer["cache-control"] == "s-maxage=60, max-age=0, must-revalidate"
    assert answer["content-security-policy"].startswith("default-src 'none'; media-src *")
    assert answer.names.count("content-security-policy") == 1


def test_stashing_is_in_the_etag_and_not_cached(restbase: Any) -> None:
    answer = restbase.ask(f"{HTML}/Old_harbour?stash=true")
    assert answer["etag"].endswith('/stash"')
    assert (answer["cache-control"], answer["x-restbase-cache"]) == ("no-cache", "nocache")


def test_an_older_revision_belongs_to_its_title(restbase: Any) -> None:
    answer = restbase.ask(f"{HTML}/Old_harbour/4097")
    assert (answer.status, answer["content-location"][-17:]) == (200, "/Old_harbour/4097")
    wrong = restbase.ask(f"{HTML}/Loop/4097")
    assert (wrong.status, wrong.json["detail"]) == (404, "Requested page does not exist.")


@pytest.mark.parametrize(
    ("asked", "place"), [("old%20harbour?x=1", "Old_harbour?x=1"), ("old_harbour/4097?x=1", "../Old_harbour/4097?x=1")]
)
def test_another_spelling_is_301_from_where_it_was(restbase: Any, asked: str, place: str) -> None:
    answer = restbase.ask(f"{HTML}/{asked}")
    assert (answer.status, answer["location"], answer.body) == (301, place, b"")
    elsewhere = restbase.ask(f"{HTML}/{asked}", headers={"origin": "https://example.org"})
    assert elsewhere.status == 200


def test_a_redirect_is_302_with_its_page(restbase: Any) -> None:
    answer = restbase.ask(f"{HTML}/Redirect?a=1")
    assert (answer.status, answer["location"]) == (302, "Old_harbour?a=1")
    assert answer["etag"].startswith('"8193/')
    assert b"mw:PageProp/redirect" in answer.body
    assert restbase.ask(f"{HTML}/Redirect/8193")["location"] == "../Old_harbour"
    followed = restbase.ask(f"{HTML}/Redirect", headers={"origin": "https://example.org"})
    assert (followed.status, followed["etag"][:6]) == (200, '"4098/')


@pytest.mark.parametrize(
    ("query", "headers"), [("?redirect=false", {}), ("?redirect=no", {}), ("", {"cache-control": "no-cache"})]
)
def test_a_redirect_can_be_read_itself(restbase: Any, query: str, headers: dict[str, str]) -> None:
    assert restbase.ask(f"{HTML}/Redirect{query}", headers=headers).status == 200


@pytest.mark.parametrize(
    ("path", "status", "kind", "detail"),
    [
        ("Nope", 404, "not_found", "Page or revision not found."),
        ("Old_harbour/99", 404, "not_found", "Page or revision not found."),
        ("Hidden/24577", 403, "access_denied#revision", "Access is restricted for revision 24577"),
        ("%5B", 400, "bad_request", "title-invalid-characters"),
        ("Old_harbour/abc", 400, "bad_request#invalid_revision", "Invalid revision specified"),
    ],
)
def test_errors_are_problems(restbase: Any, path: str, status: int, kind: str, detail: str) -> None:
    answer = restbase.ask(f"{HTML}/{path}")
    assert (answer.status, answer["content-type"]) == (status, "application/problem+json")
    assert list(answer.json) == ["type", "title", "method", "detail", "uri"]
    assert (answer.json["type"], answer.json["detail"]) == (ERRORS + kind, detail)
    assert answer.json["uri"] == f"/en.wikipedia.org/v1/page/html/{path}"


def test_title_lists_the_revision_with_its_id(restbase: Any, wiki: Any) -> None:
    answer = restbase.ask("/api/rest_v1/page/title/Old_harbour")
    [item] = answer.json["items"]
    assert answer["etag"] == f'"{item["rev"]}/{item["tid"]}"'
    assert wiki.ask(f"{HTML}/Old_harbour")["via"] == "rest-gateway", "the switch is off"


def test_rules_change_what_is_there(restbase: Any) -> None:
    restbase.plan = Plan(state=WikiState(missing=True))
    assert restbase.ask(f"{HTML}/Old_harbour").status == 404
    reply = restbase.endpoint(f"{HTML}/Old_harbour").status_reply(StatusAnswer(code=404), "id")
    assert b"HyperSwitch/errors/not_found" in b"".join(reply.body.pieces())


def test_a_long_document_is_marked_while_it_streams(restbase: Any) -> None:
    restbase.plan = Plan(body=OtherBody(Block(5 << 20, 65_536)))
    answer = restbase.ask(f"{HTML}/Old_harbour")
    assert answer["content-length"] is None
    assert answer.body.count(b"mw:TimeUuid") == 1
    assert len(answer.body) > 5 * 1024 * 1024
    packed = restbase.ask(f"{HTML}/Old_harbour", headers={"accept-encoding": "gzip"})
    assert packed["content-encoding"] == "gzip"


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


def test_there_never_is_a_job(wiki: Any) -> None:
    answer = wiki.ask("/w/index.php", method="POST", headers=FORM, body=SIGNED)
    assert (answer.status, answer["content-type"]) == (200, "application/json")
    assert answer.json == {"jobs": [], "backoffs": [], "elapsed": 0, "reached": "none-ready"}


@pytest.mark.parametrize(
    ("query", "method", "words"),
    [
        ("title=Special:RunJobs", "GET", b"<p>Request must be POSTed.</p>"),
        ("title=special:runjobs&signature=x", "POST", b"<p>Missing parameters: tasks, sigexpiry</p>"),
    ],
)
def test_what_is_missing_is_told(wiki: Any, query: str, method: str, words: bytes) -> None:
    answer = wiki.ask(f"/w/index.php?{query}", method=method, headers=FORM)
    assert answer.status == 400
    assert words in answer.body


def test_other_pages_are_not_here(wiki: Any) -> None:
    assert wiki.ask("/w/index.php?title=Main_Page").status == 404
