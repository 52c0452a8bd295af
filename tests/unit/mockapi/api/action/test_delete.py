from typing import Any

import pytest

ONLY_ADMINISTRATORS = (
    "permissiondenied",
    "The action you have requested is limited to users in the group: [[Wikipedia:Administrators|Administrators]].",
)


def test_without_a_reason_it_says_what_was_there(admin: Any) -> None:
    assert "three" in admin.write("delete", pageid=1)["reason"]


def test_undeletion_brings_all_back(admin: Any) -> None:
    admin.write("delete", title="Old harbour")
    answer = admin.write("undelete", title="Old harbour", reason="back")
    assert answer == {"title": "Old harbour", "revisions": 3, "fileversions": 0, "reason": "back"}
    assert admin.query(revids="4099")["pages"][0]["title"] == "Old harbour"


@pytest.mark.parametrize(
    ("parameters", "code", "info"),
    [
        ({"action": "delete", "title": "Nope"}, "missingtitle", "The page you specified doesn't exist."),
        ({"action": "delete"}, "missingparam", 'One of the parameters "title" and "pageid" is required.'),
        ({"action": "delete", "pageid": 9999}, "nosuchpageid", "There is no page with ID 9999."),
        (
            {"action": "undelete", "title": "Old harbour"},
            "cantundelete",
            "Couldn't undelete: the requested revisions may not exist, or may have been undeleted already.",
        ),
        ({"action": "undelete", "title": "::"}, "invalidtitle", 'Bad title "::".'),
    ],
)
def test_what_cannot_be_done_is_refused(admin: Any, parameters: dict[str, Any], code: str, info: str) -> None:
    assert admin.post(token=admin.token(), **parameters).error == (code, info)


@pytest.mark.parametrize("action", ["delete", "undelete"])
def test_it_takes_an_administrator(api: Any, action: str) -> None:
    assert api.post(action=action, title="Old harbour", token="+\\").error == ONLY_ADMINISTRATORS
