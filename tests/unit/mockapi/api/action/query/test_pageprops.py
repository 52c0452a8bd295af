from collections.abc import Callable
from typing import Any

import pytest


def props(api: Any, **parameters: Any) -> dict[str, Any]:
    pages = api.query(prop="pageprops", **parameters)["pages"]
    return {page["title"]: page["pageprops"] for page in pages if "pageprops" in page}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", None),
        (None, None),
        ("__NOINDEX__ __NOTOC__", ["noindex", "notoc"]),
        ("__notoc__ __noindex__ __BOGUS__", ["notoc"]),
        ("<nowiki>__NOTOC__</nowiki><!-- __TOC__ --><pre>__NOINDEX__</pre>", None),
        ("#REDIRECT [[X]] __STATICREDIRECT__", ["staticredirect"]),
    ],
)
def test_a_page_has_the_switches_of_its_source(
    make_api: Callable[..., Any], make_page: Callable[..., Any], text: str | None, expected: list[str] | None
) -> None:
    api = make_api(make_page(20, "Page", text))
    assert props(api, titles="Page|Nope") == ({} if expected is None else {"Page": dict.fromkeys(expected, "")})


def test_code_has_no_switches(make_api: Callable[..., Any], make_page: Callable[..., Any]) -> None:
    page = make_page(20, "MediaWiki:A.css", "__NOTOC__", namespace_id=8, content_model="css")
    assert props(make_api(page), titles="MediaWiki:A.css") == {}


def test_a_client_may_ask_for_some_and_go_on(make_api: Callable[..., Any], make_page: Callable[..., Any]) -> None:
    api = make_api(*(make_page(20 + n, f"Page {n}", "__NOTOC__ __TOC__") for n in range(3)))
    titles = "Page 0|Page 1|Page 2"
    assert props(api, titles=titles, ppprop="toc|x") == {f"Page {n}": {"toc": ""} for n in range(3)}
    assert list(props(api, titles=titles, ppcontinue="21")) == ["Page 1", "Page 2"]
    assert api.get(action="query", prop="pageprops", titles=titles, ppcontinue="x").error[0] == "badcontinue"
