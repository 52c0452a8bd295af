from typing import Any

import pytest


@pytest.mark.parametrize(("token", "result"), [("+\\", "valid"), ("x", "invalid")])
def test_a_visitors_token_is_the_same_for_all(api: Any, token: str, result: str) -> None:
    assert api.get(action="checktoken", type="csrf", token=token).json["checktoken"] == {"result": result}


def test_a_users_token_is_the_users(admin: Any) -> None:
    token = admin.token()
    assert admin.post(action="checktoken", type="csrf", token=token).json["checktoken"]["result"] == "valid"
    assert admin.post(action="checktoken", type="watch", token=token).json["checktoken"]["result"] == "invalid"
    assert admin.another().post(action="checktoken", type="csrf", token=token).json["checktoken"]["result"] == "invalid"
