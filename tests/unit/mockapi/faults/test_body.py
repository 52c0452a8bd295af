from typing import Any

import pytest

from mockapi.faults.body import block, compresses
from mockapi.pages.block import Block
from mockapi.rules.model import Body


def body(**fields: Any) -> Body:
    return Body.model_validate(fields)


def test_only_a_size_replaces_the_article() -> None:
    assert block(None) is None
    assert block(body(encoding="gzip")) is None
    assert block(body(size="300KiB")) == Block(307_200, 65_536)
    assert block(body(size="300KiB", changed_bytes="1KiB")) == Block(307_200, 1_024)


@pytest.mark.parametrize(
    ("fault", "accepted", "gzip"),
    [
        (None, True, True),
        (None, False, False),
        (body(encoding="gzip"), True, True),
        (body(encoding="gzip"), False, False),
        (body(encoding="identity"), True, False),
        (body(size=9000), True, True),
    ],
)
def test_gzip_only_for_a_client_that_accepts_it(fault: Body | None, accepted: bool, gzip: bool) -> None:
    assert compresses(fault, accepted=accepted) is gzip
