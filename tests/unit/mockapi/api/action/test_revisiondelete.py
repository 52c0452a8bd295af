from typing import Any

import pytest

RVPROP = "ids|user|userid|sha1|content|comment"


def hide(admin: Any, ids: str, **parameters: str) -> Any:
    return admin.write("revisiondelete", type="revision", ids=ids, **parameters)


def seen(api: Any, rev_id: int) -> Any:
    (page,) = api.query(prop="revisions", revids=rev_id, rvprop=RVPROP, rvslots="main")["pages"]
    return page["revisions"][0]


def test_parts_can_be_shown_again(admin: Any) -> None:
    hide(admin, "4098", hide="comment|user")
    hide(admin, "4098", show="comment")
    revision = seen(admin.another(), 4098)
    assert ("comment" in revision, "userhidden" in revision) == (True, True)


def test_what_is_refused_is_refused_for_its_revision_alone(admin: Any) -> None:
    items = hide(admin, "4099|99|4098", hide="content")["items"]
    assert [item["status"] for item in items] == ["Success", "Fail", "Success"]
    assert items[0]["errors"] == [
        {
            "message": "revdelete-hide-current",
            "params": ["3 March 2026", "05:06"],
            "code": "revdelete-hide-current",
            "type": "error",
        }
    ]
    assert (items[1]["errors"][0]["code"], items[1]["errors"][0]["params"]) == ("revdelete-modify-missing", [99])
    assert "errors" not in items[2]


def test_what_is_hidden_already_is_a_warning(admin: Any) -> None:
    hide(admin, "4098", hide="comment")
    (item,) = hide(admin, "4098", hide="comment")["items"]
    assert item["warnings"][0]["code"] == "revdelete-no-change"


@pytest.mark.parametrize(
    ("parameters", "code", "info"),
    [
        ({}, "badparams", 'At least one value is required for "hide" and/or "show".'),
        (
            {"hide": "user", "show": "user"},
            "badparams",
            'The same field cannot be used in both "hide" and "show".',
        ),
        ({"type": "x"}, "badvalue", 'Unrecognized value for parameter "type": x.'),
        ({"ids": "x"}, "badinteger", 'Invalid value "x" for integer parameter "ids".'),
    ],
)
def test_what_makes_no_sense_is_refused(admin: Any, parameters: dict[str, str], code: str, info: str) -> None:
    given = {"type": "revision", "ids": "4098", **parameters}
    assert admin.post(action="revisiondelete", token=admin.token(), **given).error == (code, info)


def test_it_takes_an_administrator(api: Any) -> None:
    answer = api.post(action="revisiondelete", type="revision", ids="4098", hide="user", token="+\\")
    text = "You don't have permission to delete or undelete specific revisions of pages."
    assert answer.error == ("permissiondenied", text)
