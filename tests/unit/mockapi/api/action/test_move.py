from typing import Any

import pytest


def test_its_talk_page_can_come_along(admin: Any) -> None:
    answer = admin.write("move", fromid=1, to="New harbour", movetalk=1, noredirect=1)
    assert (answer["redirectcreated"], answer["talkfrom"], answer["talkto"]) == (
        False,
        "Talk:Old harbour",
        "Talk:New harbour",
    )


@pytest.mark.parametrize(
    ("source", "target", "code", "info"),
    [
        ("Special:A", "A", "missingtitle", "The page you specified doesn't exist."),
        ("Old harbour", "old_harbour", "selfmove", "The title is the same; cannot move a page over itself."),
        ("Old harbour", "", "missingparam", 'The "to" parameter must be set.'),
    ],
)
def test_what_cannot_be_moved_is_refused(admin: Any, source: str, target: str, code: str, info: str) -> None:
    assert admin.post(action="move", token=admin.token(), **{"from": source}, to=target).error == (code, info)


def test_visitors_may_not(api: Any) -> None:
    text = "You must be a registered user and [[Special:UserLogin|logged in]] to move a page."
    assert api.post(action="move", **{"from": "Old harbour"}, to="A", token="+\\").error == ("cantmove-anon", text)
