"""All absolute links to a wiki lead to one place: its own domain, or what `--base-url` says."""

from collections.abc import Callable
from typing import Any

import pytest

from mockapi.errors import BaseUrlError
from mockapi.wiki.catalog import CatalogPage
from mockapi.wiki.people import Author
from mockapi.world import ProcessOptions

DOMAIN = "https://en.wikipedia.org"
BASE = "http://127.0.0.1:8090"
DRAFT = {"source": "x", "comment": "", "token": "+\\"}
QUERY = "/w/api.php?format=json&formatversion=2&action=query"
LINKS = [
    # path, more of the request, what of the answer has the links
    ("/w/rest.php/v1/page/Generated/html", {}, ["/wiki/Special:Redirect/", "/wiki/Generated"]),
    ("/w/rest.php/v1/page/Old_harbour/html", {}, ["/wiki/Special:Redirect/", "/wiki/Old_harbour"]),
    ("/w/rest.php/v1/page/Generated/with_html", {}, ["/wiki/Generated"]),
    ("/w/rest.php/v1/page/Generated/bare", {}, ["/w/rest.php/v1/page/Generated/html"]),
    ("/w/rest.php/v1/revision/32770/bare", {}, ["/w/rest.php/v1/revision/32770/html"]),
    ("/w/rest.php/v1/revision/32770/html", {}, ["/wiki/Special:Redirect/revision/32770"]),
    ("/w/rest.php/v1/page", {"method": "POST", "body": {**DRAFT, "title": "New"}}, ["/w/rest.php/v1/page/New"]),
    ("/api/rest_v1/page/html/Generated", {}, ["/api/rest_v1/page/html/Generated", "/wiki/Generated"]),
    (f"{QUERY}&meta=siteinfo", {}, ["/wiki/Main_Page", '"server":"{}"', "/favicon.ico", "/w/resources/assets/"]),
    (f"{QUERY}&prop=info&titles=Generated&inprop=url", {}, ["/wiki/Generated", "/w/index.php?title=Generated"]),
    (f"{QUERY}&revids=x", {}, ["/w/api.php for API usage"]),
    ("/w/api.php/more?action=query", {}, ["/w/api.php?action=query"]),
]


def links(client: Any, path: str, more: dict[str, Any]) -> str:
    headers = {"content-type": "application/json"} if "body" in more else {}
    answer = client.ask(path, headers=headers, **more)
    assert answer.status in {200, 201, 301}
    named = [value for name, value in answer.headers if name in {"location", "content-location"}]
    return "\n".join([answer.body.decode(), *named])


@pytest.mark.parametrize(("path", "more", "expected"), LINKS, ids=[path for path, _, _ in LINKS])
def test_links_lead_to_the_base_url(
    make_wiki: Callable[..., Any], path: str, more: dict[str, Any], expected: list[str]
) -> None:
    answers = {}
    for server, options in ((DOMAIN, ProcessOptions()), (BASE, ProcessOptions(base_url=BASE))):
        answers[server] = links(make_wiki(options=options, restbase="legacy"), path, more)
        for link in expected:
            assert (link.format(server) if "{}" in link else server + link) in answers[server]
    assert "wikipedia.org" not in answers[BASE]
    by_domain = answers[DOMAIN].replace('"servername":"en.wikipedia.org"', '"servername":"127.0.0.1"')
    assert by_domain.replace(DOMAIN, BASE) == answers[BASE]


def test_a_redirect_in_css_leads_to_the_base_url(make_wiki: Callable[..., Any]) -> None:
    client = make_wiki(options=ProcessOptions(base_url=BASE))
    wiki = client.world.wikis.only
    overlay = client.world.overlay(wiki, "")
    overlay.move(wiki.title("MediaWiki:Common.css"), wiki.title("MediaWiki:Other.css"), by=Author("Admin", 1))
    assert f"@import url({BASE}/w/index.php?" in client.rest("page/MediaWiki%3ACommon.css").json["source"]


def test_each_wiki_has_its_domain_in_the_base_url(make_wiki: Callable[..., Any], german: CatalogPage) -> None:
    client = make_wiki(german, options=ProcessOptions(base_url="http://{domain}:8090"))
    for host in ("en.wikipedia.org", "de.wikipedia.org"):
        answer = client.ask("/w/rest.php/v1/revision/4097/bare", headers={"host": host}).json
        assert answer["html_url"] == f"http://{host}:8090/w/rest.php/v1/revision/4097/html"


def test_one_base_url_for_several_wikis_is_refused(make_wiki: Callable[..., Any], german: CatalogPage) -> None:
    with pytest.raises(BaseUrlError, match="the catalog has 2 wikis") as refused:
        make_wiki(german, options=ProcessOptions(base_url=BASE))
    assert "hint: put {domain}" in str(refused.value)
