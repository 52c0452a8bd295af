from typing import Any

import pytest


@pytest.fixture
def robin(admin: Any) -> Any:
    admin.world.accounts(admin.world.wikis.by_name("enwiki")).create("Robin", "sherwood")
    return admin


def change(api: Any, **parameters: Any) -> Any:
    return api.post(action="userrights", token=api.token("userrights"), **parameters)


def test_groups_are_added(robin: Any) -> None:
    answer = change(robin, user="robin", add="sysop|bot").json["userrights"]
    assert answer == {"user": "Robin", "userid": 2, "added": ["sysop", "bot"], "removed": [], "watchuser": False}
    assert change(robin, user="Robin", add="sysop").json["userrights"]["added"] == []


@pytest.mark.parametrize("parameter", ["remove", "expiry", "userid"])
def test_what_is_not_implemented_is_an_error(robin: Any, parameter: str) -> None:
    answer = change(robin, user="Robin", add="sysop", **{parameter: "2"})
    assert answer.error[0] == "mock-not-implemented"
    assert robin.world.accounts(robin.world.wikis.by_name("enwiki")).user("Robin").groups == ()


def test_an_unknown_group_is_a_warning(robin: Any) -> None:
    answer = change(robin, user="Robin", add="sysop|pirates").json
    assert answer["warnings"]["userrights"]["warnings"] == 'Unrecognized value for parameter "add": pirates'
    assert answer["userrights"]["added"] == ["sysop"]


def test_an_unknown_user_is_an_error(admin: Any) -> None:
    info = 'There is no user by the name "Nobody". Check your spelling.'
    assert change(admin, user="Nobody", add="sysop").error == ("nosuchuser", info)


def test_who_may_not_changes_nothing(robin: Any) -> None:
    visitor = robin.another()
    answer = visitor.post(action="userrights", user="Robin", add="sysop", token="+\\").json["userrights"]
    assert (answer["added"], answer["removed"]) == ([], [])
    assert robin.world.accounts(robin.world.wikis.by_name("enwiki")).user("Robin").groups == ()


def test_the_token_is_one_of_its_own(robin: Any) -> None:
    assert robin.post(action="userrights", user="Robin", add="sysop", token=robin.token()).error[0] == "badtoken"
