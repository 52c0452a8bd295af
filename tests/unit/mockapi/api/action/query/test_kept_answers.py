"""An answer that is kept must not outlive what it says: each query is asked twice around every change."""

from typing import Any

from mockapi.rules.model import Rule

QUERY = {"titles": "Old harbour", "prop": "info|revisions", "rvprop": "ids|content|user", "rvslots": "main"}


def asked_twice(api: Any) -> Any:
    first, second = (api.get(action="query", **QUERY) for _ in range(2))
    assert first.body == second.body
    return first.json["query"]["pages"][0]


def test_an_edit_a_move_and_a_deletion_are_seen(api: Any) -> None:
    admin = api.another().log_in()
    before = asked_twice(api)
    admin.write("edit", title="Old harbour", text="new")
    edited = asked_twice(api)
    assert edited["lastrevid"] == before["lastrevid"] + 1
    assert edited["revisions"][0]["slots"]["main"]["content"] == "new"
    admin.write("move", **{"from": "Old harbour", "to": "New harbour"})
    assert asked_twice(api)["pageid"] != before["pageid"]
    admin.write("delete", title="Old harbour")
    assert asked_twice(api)["missing"] is True


def test_a_rule_acts_and_ends(api: Any) -> None:
    before = asked_twice(api)
    hide = {"name": "hide", "when": {}, "do": {"hidden": {"parts": ["text", "user"]}}}
    api.world.rulebook.put(Rule.model_validate(hide))
    hidden = asked_twice(api)["revisions"][0]
    assert (hidden["userhidden"], hidden["slots"]["main"]["texthidden"]) == (True, True)
    api.world.rulebook.remove("hide")
    assert asked_twice(api) == before


def test_each_answer_has_the_id_of_its_request(api: Any) -> None:
    answers = [api.ask("action=query&format=json&titles=Old+harbour", x_request_id=name) for name in ("a", "b")]
    assert [answer["x-request-id"] for answer in answers] == ["a", "b"]
    assert answers[0].body == answers[1].body
    assert answers[0].names == answers[1].names


def test_who_sees_more_gets_more(api: Any) -> None:
    admin = api.another().log_in()
    admin.write("revisiondelete", type="revision", target="4098", ids="4098", hide="user")
    query = {"action": "query", "revids": 4098, "prop": "revisions", "rvprop": "ids|user"}
    for client, shown in ((api, False), (admin, True), (api, False), (admin, True)):
        revision = client.get(**query).json["query"]["pages"][0]["revisions"][0]
        assert ("user" in revision) is shown
