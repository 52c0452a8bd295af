from typing import Any

import pytest

from mockapi.server.wire import wire_of


@pytest.mark.parametrize("extensions", [None, {}, {"mockapi": {}}, {"mockapi": {"wire": "another"}}])
def test_another_server_has_no_wire(extensions: dict[str, Any] | None) -> None:
    scope = {"type": "http"} if extensions is None else {"type": "http", "extensions": extensions}
    assert wire_of(scope) is None
