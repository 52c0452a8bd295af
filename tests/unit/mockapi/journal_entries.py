from datetime import UTC, datetime
from typing import Any

from mockapi.journal.entry import Asked, Entry

ASKED: dict[str, Any] = {
    "method": "GET",
    "path": "/p",
    "host": "h",
    "wiki": None,
    "page": None,
    "revision": None,
    "request_id": "id",
    "attempt": 1,
    "rules": (),
    "draws": {},
}


def asked(**fields: Any) -> Asked:
    return Asked(**{**ASKED, **fields})


def entry(**fields: Any) -> Entry:
    begun = {"n": 1, "at": datetime(2026, 11, 21, tzinfo=UTC), "at_s": 0.0, "duration_s": 0.0}
    return Entry(**{**ASKED, **begun, **fields})
