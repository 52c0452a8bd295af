from mockapi.wiki.accounts import GROUPS, rights_of


def test_rights_of_several_groups_are_there_once() -> None:
    rights = rights_of(("*", "user"))
    assert rights.count("edit") == 1
    assert {"read", "move"} <= set(rights)


def test_an_unknown_group_gives_nothing() -> None:
    assert rights_of(("nosuch",)) == ()


def test_implicit_groups_are_not_given() -> None:
    assert "sysop" in GROUPS
    assert not {"*", "user", "autoconfirmed"} & set(GROUPS)
