from datetime import UTC, datetime

from starlette.requests import Request

from mockapi.journal.changes import CHANGES_KEPT, ControlChange, ControlChanges

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
ANONYMOUS = Request({"type": "http", "headers": []})
CURL = Request({"type": "http", "headers": [(b"user-agent", b"curl/8.5")], "client": ("127.0.0.1", 40000)})


def test_each_has_the_next_number_and_what_who_and_when() -> None:
    changes = ControlChanges(lambda: NOW)
    changes.note(CURL, "added", ["slow"])
    changes.note(ANONYMOUS, "reset")
    assert changes.kept == (
        ControlChange(n=1, at=NOW, action="added", rules=("slow",), client="127.0.0.1", author="curl/8.5"),
        ControlChange(n=2, at=NOW, action="reset"),
    )


def test_all_are_counted_and_the_newest_kept() -> None:
    changes = ControlChanges(lambda: NOW)
    for _ in range(CHANGES_KEPT + 2):
        changes.note(ANONYMOUS, "removed", ["slow"])
    assert (changes.revision, len(changes.kept), changes.kept[0].n) == (CHANGES_KEPT + 2, CHANGES_KEPT, 3)
