"""Each change of a page has the id of the request that made it: the client's, else the one that the answer has."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from mockapi.wiki.catalog import CatalogPage

WRITES: tuple[tuple[dict[str, str], list[str]], ...] = (
    ({"action": "edit", "title": "Old harbour", "appendtext": "more"}, ["edit"]),
    ({"action": "edit", "title": "New quay", "text": "new"}, ["create"]),
    ({"action": "move", "from": "Old harbour", "to": "Old pier"}, ["move", "create"]),
    ({"action": "delete", "title": "Old harbour"}, ["delete"]),
    ({"action": "undelete", "title": "Gone"}, ["undelete"]),
    ({"action": "revisiondelete", "type": "revision", "ids": "4099", "hide": "user"}, ["visibility"]),
    ({"action": "wbsetlabel", "id": "Q1", "language": "en", "value": "quay"}, ["edit"]),
)


def ids_of(api: Any) -> list[tuple[str, str]]:
    return [(entry.change.kind, entry.change.request_id) for entry in api.worlds.feed.page(0, 100).entries]


@pytest.mark.parametrize(("parameters", "kinds"), WRITES, ids=[write["action"] for write, _ in WRITES])
def test_an_action_s_changes_have_its_request_id(
    make_api: Callable[..., Any],
    make_page: Callable[..., CatalogPage],
    parameters: dict[str, str],
    kinds: list[str],
) -> None:
    api = make_api(make_page(8, "Q1", "{}", content_model="wikibase-item")).log_in()
    body = "&".join(f"{name}={value}" for name, value in parameters.items())
    token = api.token().replace("+", "%2B").replace("\\", "%5C")
    api.ask("format=json", method="POST", body=f"{body}&token={token}".encode(), x_request_id="f00d")
    assert ids_of(api) == [(kind, "f00d") for kind in kinds]


def test_without_one_it_is_that_of_the_answer(admin: Any) -> None:
    answer = admin.post(action="edit", title="Old harbour", text="new", token=admin.token())
    assert ids_of(admin) == [("edit", answer["x-request-id"])]


def test_a_rest_write_has_its_own(api: Any) -> None:
    body = {"source": "new", "comment": "", "title": "New quay", "token": "+\\"}
    api.ask(
        "",
        path="/w/rest.php/v1/page",
        method="POST",
        body=json.dumps(body).encode(),
        content_type="application/json",
        x_request_id="f00d",
    )
    assert ids_of(api) == [("create", "f00d")]
