from typing import Any

import pytest


@pytest.fixture
def robin(admin: Any) -> Any:
    admin.world.accounts(admin.world.wikis.by_name("enwiki")).create("Robin", "sherwood")
    return admin


def change(api: Any, **parameters: Any) -> Any:
    return api.post(action="userrights", token=api.token("userrights"), **parameters)


def test_groups_are_added_and_removed(robin: Any) -> None:
    answer = change(robin, user="robin", add="sysop|bot").json["userrights"]
    assert answer == {"user": "Robin", "userid": 2, "added": ["sysop", "bot"], "removed": [], "watchuser": False}
    answer = change(robin, user="Robin", add="sysop", remove="bot").json["userrights"]
    assert (answer["added"], answer["removed"]) == ([], ["bot"])


def test_what_changed_is_told_at_the_place_where_it_was_asked_for(robin: Any) -> None:
    change(robin, user="Robin", add="sysop")
    assert change(robin, user="Robin", add="sysop|bot").json["userrights"]["added"] == {"1": "bot"}


def test_an_unknown_group_is_a_warning(robin: Any) -> None:
    answer = change(robin, user="Robin", add="sysop|pirates").json
    assert answer["warnings"]["userrights"]["warnings"] == 'Unrecognized value for parameter "add": pirates'
    assert answer["userrights"]["added"] == ["sysop"]


@pytest.mark.parametrize(
    ("parameters", "code", "info"),
    [
        ({}, "missingparam", 'One of the parameters "user" and "userid" is required.'),
        ({"user": "x", "userid": 1}, "invalidparammix", 'The parameters "user" and "userid" can not be used together.'),
        ({"user": "Nobody"}, "nosuchuser", 'There is no user by the name "Nobody". Check your spelling.'),
        ({"userid": 99}, "nosuchuser", 'There is no user by the name "#99". Check your spelling.'),
    ],
)
def test_whom_it_is_about_is_looked_at_before_the_token(
    api: Any, parameters: dict[str, Any], code: str, info: str
) -> None:
    assert api.post(action="userrights", token="x", **parameters).error == (code, info)


def test_who_may_not_changes_nothing(robin: Any) -> None:
    visitor = robin.another()
    answer = visitor.post(action="userrights", user="Robin", add="sysop", token="+\\").json["userrights"]
    assert (answer["added"], answer["removed"]) == ([], [])
    assert robin.world.accounts(robin.world.wikis.by_name("enwiki")).user("Robin").groups == ()


def test_the_token_is_one_of_its_own(robin: Any) -> None:
    assert robin.post(action="userrights", user="Robin", add="sysop", token=robin.token()).error[0] == "badtoken"
