from typing import Any


def test_a_visitor_is_an_address(api: Any) -> None:
    told = api.query(meta="userinfo", uiprop="groups|rights|blockinfo|hasmsg", formatversion=1)["userinfo"]
    assert list(told)[:4] == ["id", "name", "anon", "groups"]
    assert (told["id"], told["name"], told["anon"], told["groups"]) == (0, "192.0.2.1", "", ["*"])
    assert {"read", "edit", "createaccount"} <= set(told["rights"])
    assert "messages" not in told


def test_a_user_has_groups_and_rights(admin: Any) -> None:
    told = admin.query(meta="userinfo", uiprop="groups|implicitgroups|groupmemberships|rights|changeablegroups|hasmsg")
    user = told["userinfo"]
    assert (user["id"], user["name"], user["messages"]) == (1, "Admin", False)
    assert user["groups"] == ["bureaucrat", "interface-admin", "sysop", "*", "user", "autoconfirmed"]
    assert {"delete", "apihighlimits", "suppressrevision"} <= set(user["rights"])
    assert "sysop" in user["changeablegroups"]["add"]


def test_all_can_be_asked_for_at_once(api: Any) -> None:
    told = api.query(meta="userinfo", uiprop="*")["userinfo"]
    assert told["ratelimits"] == {}
    assert told["centralids"] == {"local": 0}
    assert told["changeablegroups"] == {"add": [], "remove": [], "add-self": [], "remove-self": []}
