from typing import Any


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
