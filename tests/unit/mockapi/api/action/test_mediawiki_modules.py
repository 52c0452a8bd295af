"""What MediaWiki has and the mock has not is an error by that name, and ignored only by a lenient mock."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mockapi.api.action import mediawiki_modules
from mockapi.api.action.main import PARAMETERS
from mockapi.api.action.query.query import LIST, META, PROP
from mockapi.api.action.query.query import PARAMETERS as QUERY_PARAMETERS
from mockapi.api.action.registry import ACTIONS

DOCUMENT = Path(__file__).parents[5] / "docs" / "mock.md"
PAGE = {"action": "query", "titles": "Old harbour"}
ABSENT = [
    # parameters of the request, what the error names, what it says is there
    ({"action": "query", "list": "allpages"}, "list=allpages", "values of list: none."),
    ({"action": "query", "list": "bogus|allpages|search"}, "list=allpages|search", "values of list: none."),
    ({"action": "query", "list": "geosearch"}, "list=geosearch", "values of list: none."),
    ({**PAGE, "prop": "info|categories"}, "prop=categories", "values of prop: info, pageprops, revisions."),
    ({**PAGE, "prop": "extracts"}, "prop=extracts", "values of prop: info, pageprops, revisions."),
    ({"action": "query", "meta": "allmessages"}, "meta=allmessages", "values of meta: siteinfo, tokens, userinfo."),
    ({"action": "query", "meta": "siteinfo", "siprop": "magicwords"}, "siprop=magicwords", "siprop: general, "),
    ({"action": "query", "generator": "allpages"}, "generator=allpages", "values of generator: none."),
    ({"action": "parse", "page": "Old harbour"}, "action=parse", "values of action: login, "),
    ({"action": "paraminfo"}, "action=paraminfo", "values of action: login, "),
    ({"action": "checktoken", "type": "csrf"}, "action=checktoken", "values of action: login, "),
    ({"action": "wbgetentities", "ids": "Q1"}, "action=wbgetentities", "values of action: login, "),
    ({**PAGE, "prop": "revisions", "rvprop": "ids|parsetree"}, "rvprop=parsetree", "values of rvprop: ids, "),
    ({**PAGE, "prop": "revisions", "rvdiffto": "prev"}, 'parameter "rvdiffto"', ""),
    ({**PAGE, "prop": "revisions", "rvparse": "1"}, 'parameter "rvparse"', ""),
    ({**PAGE, "export": "1"}, 'parameter "export"', ""),
    ({"action": "edit", "title": "Old harbour", "undo": "4098"}, 'parameter "undo"', ""),
]


@pytest.mark.parametrize(("parameters", "what", "implemented"), ABSENT)
def test_what_the_mock_lacks_is_an_error_by_name(
    api: Any, parameters: dict[str, str], what: str, implemented: str
) -> None:
    code, info = api.get(**parameters).error
    assert code == "mock-not-implemented"
    assert info.startswith(f"The mock does not implement {what}.")
    assert implemented in info
    assert "--lenient" in info


@pytest.mark.parametrize(
    ("parameters", "answer"),
    [
        ({"action": "query", "list": "allpages"}, 'Unrecognized value for parameter "list": allpages'),
        ({**PAGE, "prop": "extracts"}, 'Unrecognized value for parameter "prop": extracts'),
        ({"action": "query", "generator": "allpages"}, ("badgenerator", 'Unknown "generator=allpages".')),
        ({"action": "parse"}, ("badvalue", 'Unrecognized value for parameter "action": parse.')),
    ],
)
def test_a_lenient_mock_takes_it_for_unknown(
    make_api: Callable[..., Any], parameters: dict[str, str], answer: str | tuple[str, str]
) -> None:
    found = make_api(lenient=True).get(**parameters)
    if isinstance(answer, tuple):
        assert found.error == answer
    else:
        assert found.json["warnings"] == {"query": {"warnings": answer}}


def test_a_lenient_mock_ignores_a_parameter_that_it_does_not_implement(make_api: Callable[..., Any]) -> None:
    answer = make_api(lenient=True).get(**PAGE, prop="revisions", rvprop="ids", rvdiffto="prev").json
    assert answer["query"]["pages"][0]["revisions"] == [{"revid": 4099, "parentid": 4098}]


def test_the_page_says_which_modules_there_are() -> None:
    page = DOCUMENT.read_text(encoding="utf-8")
    assert f"`prop={'|'.join(PROP)}`" in page
    assert f"`meta={'|'.join(META)}`" in page
    assert not LIST
    listed = page.partition("and for writes")[2].partition(".")[0]
    assert set(re.findall("`([a-z]+)`", listed)) == ACTIONS.keys() - {"query", "help"}


def test_all_that_the_mock_has_is_mediawikis() -> None:
    assert ACTIONS.keys() <= mediawiki_modules.ACTION
    assert PROP.keys() <= mediawiki_modules.PROP
    assert LIST.keys() <= mediawiki_modules.LIST
    assert META.keys() <= mediawiki_modules.META
    for parameter in (*PARAMETERS, *QUERY_PARAMETERS):
        assert not parameter.of_mediawiki or set(parameter.allowed) - {""} <= parameter.of_mediawiki
