import json
from typing import Any

import pytest
from pyoxigraph import RdfFormat, parse

from mockapi.clock import Clock
from mockapi.plan import OtherBody, Plan, StatusAnswer, WikiState
from mockapi.rules.matching import Target
from mockapi.wiki.catalog import CatalogPage
from mockapi.wiki.pages.block import Block
from mockapi.wiki.pages.coding import Coding
from mockapi.wiki.wikibase.entity_id import CONTENT_MODELS
from mockapi.world import Worlds
from tests.unit.mockapi.api.action.conftest import Api
from tests.unit.mockapi.api.conftest import NOW, page

DATA = "/wiki/Special:EntityData"
HOST = {"host": "www.wikidata.org"}
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def entity(page_id: int, title: str, *texts: str | None, **more: Any) -> CatalogPage:
    kind = title.rpartition(":")[2][0]
    namespace_id = {"Q": 0, "P": 120, "L": 146}[kind]
    wiki = {"wiki": "wikidatawiki", "domain": HOST["host"], "namespace_id": namespace_id}
    return page(page_id, title, *texts, **{**wiki, "content_model": CONTENT_MODELS[kind], **more})


PAGES = (
    entity(1, "Q42", None, None, None),
    entity(2, "Q64", None),
    entity(3, "Property:P31", None),
    entity(4, "Lexeme:L7", None),
    entity(5, "Q5", '{"entity": "Q5", "redirect": "Q42"}'),
    entity(6, "Q6", None, deleted=True),
    entity(7, "Q8", "no JSON"),
    entity(8, "Q11", None, content_model="wikitext"),
    entity(9, "Q12", None, None),
)


@pytest.fixture
def wikidata(make_wiki: Any) -> Any:
    return make_wiki(*PAGES)


def ask(client: Any, path: str, **headers: str) -> Any:
    return client.ask(f"{DATA}/{path}", headers={**HOST, **headers})


def triples(answer: Any) -> set[Any]:
    form = RdfFormat.TURTLE if answer["content-type"].startswith("text/turtle") else RdfFormat.N_TRIPLES
    return {quad.triple for quad in parse(answer.body, format=form)}


def labels(answer: Any) -> dict[str, str]:
    return {t.object.language: t.object.value for t in triples(answer) if t.predicate.value == LABEL}


@pytest.mark.parametrize("written", ["Q42", "P31", "L7", "Q5"])
def test_both_formats_of_an_entity_say_the_same(wikidata: Any, written: str) -> None:
    turtle, ntriples = (ask(wikidata, f"{written}.{form}?flavor=dump") for form in ("ttl", "nt"))
    assert (turtle.status, ntriples.status) == (200, 200)
    assert triples(turtle) == triples(ntriples)
    assert turtle["content-type"] == "text/turtle; charset=UTF-8"
    assert ntriples["content-type"] == "application/n-triples; charset=UTF-8"
    assert turtle["content-length"] == str(len(turtle.body))


def test_headers_are_those_of_wikibase(wikidata: Any) -> None:
    answer = ask(wikidata, "Q42.ttl?flavor=dump")
    assert answer["last-modified"] == "Wed, 04 Mar 2026 05:06:07 GMT"
    assert answer["access-control-allow-origin"] == "*"
    assert answer["cache-control"] == "private, no-cache, s-maxage=0"
    assert ask(wikidata, "Q42.ttl")["cache-control"].startswith("public")


def test_a_revision_is_told_by_its_id_and_the_current_one_without(wikidata: Any) -> None:
    first, last, current = (
        ask(wikidata, f"Q42.nt?flavor=dump{more}") for more in ("&revision=4097", "&revision=4099", "")
    )
    assert triples(first) != triples(last) == triples(current)
    assert b'"4097"^^' in first.body


STATUSES = {
    200: ["Q42.ttl?revision=x"],
    400: ["X1.ttl", "Q0.ttl", ".ttl", "Q42.ttl?flavor=odd"],
    404: ["Q7.ttl", "Q6.ttl", "Q6.ttl?revision=24577", "Q11.ttl", "Q42.ttl?revision=99999", "Q42.ttl?revision=8193"],
    415: ["Q42.json"],
    500: ["Q8.ttl"],
}


@pytest.mark.parametrize(("path", "status"), [(path, status) for status, paths in STATUSES.items() for path in paths])
def test_what_cannot_be_shown_is_the_status_of_wikibase(wikidata: Any, path: str, status: int) -> None:
    assert ask(wikidata, path).status == status


@pytest.mark.parametrize(
    ("path", "accept", "status", "place"),
    [
        ("Q42", "text/turtle", 303, "Q42.ttl"),
        ("Q42?revision=4097", "application/n-triples", 303, "Q42.nt?revision=4097"),
        ("q42.ttl?flavor=dump", "", 301, "Q42.ttl"),
        ("Q42.turtle?revision=4097", "", 301, "Q42.ttl?revision=4097"),
    ],
)
def test_another_spelling_leads_to_the_canonical_one(
    wikidata: Any, path: str, accept: str, status: int, place: str
) -> None:
    answer = ask(wikidata, path, accept=accept)
    assert (answer.status, answer["location"]) == (status, f"https://www.wikidata.org{DATA}/{place}")


@pytest.mark.parametrize("state", [WikiState(missing=True), WikiState(hidden=frozenset({"text"}))])
def test_the_state_of_the_wiki_holds_for_entities(wikidata: Any, state: WikiState) -> None:
    wikidata.plan = Plan(state=state)
    assert ask(wikidata, "Q42.ttl?flavor=dump").status == 404


def test_a_rule_can_make_it_empty_or_of_another_size(wikidata: Any) -> None:
    wikidata.plan = Plan(body=OtherBody(Block(0, 0)))
    answer = ask(wikidata, "Q42.ttl?flavor=dump")
    assert (answer.status, answer.body, answer["content-length"]) == (200, b"", "0")


@pytest.mark.parametrize(("code", "size"), [(204, 0), (404, None), (503, None)])
def test_a_status_in_its_place(wikidata: Any, code: int, size: int | None) -> None:
    reply = wikidata.endpoint(f"{DATA}/Q42.ttl", host="www.wikidata.org").status_reply(StatusAnswer(code=code), "id")
    assert reply.status == code
    assert size is None or reply.body.wire_bytes == size


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_it_is_compressed_for_who_accepts_it(wikidata: Any, coding: Coding) -> None:
    answer = ask(wikidata, "Q42.ttl?flavor=dump", **{"accept-encoding": coding})
    assert answer["content-encoding"] == ("gzip" if coding == "gzip" else None)


def test_rules_see_entity_page_and_revision(wikidata: Any) -> None:
    def target(path: str) -> Target:
        return wikidata.endpoint(f"{DATA}/{path}", host="www.wikidata.org").targets[0]

    assert target("P31.ttl") == Target("wikidatawiki", "Property:P31", 3, 12289, "P31")
    assert target("Q42.ttl?revision=4097") == Target("wikidatawiki", "Q42", 1, 4097, "Q42")
    assert target("Q7.ttl?revision=9") == Target("wikidatawiki", "Q7", None, 9, "Q7")


@pytest.fixture
def editor(wikidata: Any) -> Api:
    """A client of the Action API that is logged in as the administrator."""
    return Api(Worlds(wikidata.world, Clock(now=lambda: NOW)), host=HOST["host"]).log_in()


def write(editor: Api, action: str, **parameters: str) -> Any:
    return editor.post(action=action, token=editor.token(), **parameters).json


def test_a_label_is_set_by_a_new_revision(wikidata: Any, editor: Api) -> None:
    saved = write(editor, "wbsetlabel", id="Q42", language="en", value='Tea "x"')
    assert saved["success"] == 1
    assert saved["entity"]["lastrevid"] == 4100
    assert labels(ask(wikidata, "Q42.ttl?flavor=dump&revision=4100"))["en"] == 'Tea "x"'
    assert labels(ask(wikidata, "Q42.ttl?flavor=dump&revision=4099"))["en"] != 'Tea "x"'
    write(editor, "wbsetlabel", id="Q42", language="de", value="Tee")
    assert {"en": 'Tea "x"', "de": "Tee"}.items() <= labels(ask(wikidata, "Q42.ttl")).items()


def test_an_entity_of_each_kind_can_be_edited(wikidata: Any, editor: Api) -> None:
    for written in ("P31", "L7"):
        assert write(editor, "wbsetlabel", id=written, language="en", value="Set")["success"] == 1
        assert b'"Set"@en' in ask(wikidata, f"{written}.ttl").body


def test_a_merge_moves_the_sitelink_and_leaves_a_redirect(wikidata: Any, editor: Api) -> None:
    write(editor, "wbsetsitelink", id="Q12", linksite="enwiki", linktitle="Hot tea", badges="Q17437796")
    write(editor, "wbsetsitelink", id="Q64", linksite="enwiki", linktitle="")
    answer = write(editor, "wbmergeitems", fromid="Q12", toid="Q64")
    assert (answer["redirected"], answer["to"]["lastrevid"]) == (1, 8195)
    merged, redirect = ask(wikidata, "Q64.nt?flavor=dump").body, ask(wikidata, "Q12.nt?flavor=dump").body
    about = b"<http://schema.org/about> <http://www.wikidata.org/entity/Q64>"
    assert b"<https://en.wikipedia.org/wiki/Hot_tea> " + about in merged
    assert b"<http://wikiba.se/ontology#badge> <http://www.wikidata.org/entity/Q17437796>" in merged
    assert b"owl#sameAs> <http://www.wikidata.org/entity/Q64>" in redirect
    assert write(editor, "wbsetlabel", id="Q12", language="en", value="x")["error"]["code"] == "unresolved-redirect"


def test_a_redirect_can_be_made_and_a_page_deleted_and_brought_back(wikidata: Any, editor: Api) -> None:
    assert write(editor, "wbcreateredirect", **{"from": "Q12", "to": "Q42"})["redirect"] == "Q42"
    assert write(editor, "wbsetlabel", id="Q7", language="en")["error"]["code"] == "no-such-entity"
    write(editor, "delete", title="Property:P31")
    assert ask(wikidata, "P31.ttl?revision=12289").status == 404
    write(editor, "undelete", title="Property:P31")
    assert ask(wikidata, "P31.ttl?revision=12289").status == 200


def test_a_new_entity_is_an_edit_with_its_content_model(wikidata: Any, editor: Api) -> None:
    source = {"labels": {"en": {"language": "en", "value": "New"}}}
    made = {"title": "Q99", "contentmodel": "wikibase-item"}
    saved = write(editor, "edit", **made, text=json.dumps(source))["edit"]
    assert labels(ask(wikidata, f"Q99.nt?revision={saved['newrevid']}"))["en"] == "New"
    assert write(editor, "edit", **made, text="{")["error"]["code"] == "invalid-entity-data"
