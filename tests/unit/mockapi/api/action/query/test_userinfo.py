from typing import Any


def test_a_visitor_is_an_address(api: Any) -> None:
    answer = api.query(meta="userinfo", uiprop="groups|rights|blockinfo|hasmsg", formatversion=1)["userinfo"]
    assert list(answer)[:4] == ["id", "name", "anon", "groups"]
    assert (answer["id"], answer["name"], answer["anon"], answer["groups"]) == (0, "192.0.2.1", "", ["*"])
    assert {"read", "edit", "createaccount"} <= set(answer["rights"])
    assert "messages" not in answer


def test_a_user_has_groups_and_rights(admin: Any) -> None:
    answer = admin.query(
        meta="userinfo", uiprop="groups|implicitgroups|groupmemberships|rights|changeablegroups|hasmsg"
    )
    user = answer["userinfo"]
    assert (user["id"], user["name"], user["messages"]) == (1, "Admin", False)
    assert user["groups"] == ["bureaucrat", "interface-admin", "sysop", "*", "user", "autoconfirmed"]
    assert {"delete", "apihighlimits", "suppressrevision"} <= set(user["rights"])
    assert "sysop" in user["changeablegroups"]["add"]


def test_all_can_be_asked_for_at_once(api: Any) -> None:
    answer = api.query(meta="userinfo", uiprop="*")["userinfo"]
    assert answer["ratelimits"] == {}
    assert answer["centralids"] == {"local": 0}
    assert answer["changeablegroups"] == {"add": [], "remove": [], "add-self": [], "remove-self": []}
