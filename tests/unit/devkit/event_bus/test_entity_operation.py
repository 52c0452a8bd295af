"""Which operation a change of an entity is, and that a bus which is started again goes on with the same ones."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.event_bus.entity_operation import EntityOperations
from devkit.event_bus.mock_feed import FeedEntry
from pipeline.rdf.operation import parse_operation

MADE, CHANGED = "2026-03-02T09:00:00Z", "2026-03-02T09:30:00.250Z"
USER = {"name": "Admin", "id": 1, "groups": ["*"]}
KINDS = ("create", "edit", "delete", "undelete", "visibility", "move")


def entry(n: int, kind: str, rev_id: int, *, title: str = "Q42", model: str = "wikibase-item") -> FeedEntry:
    revision = {"rev_id": rev_id, "parent_id": 0, "content_rev_id": rev_id, "timestamp": MADE, "user": USER}
    revision |= {"comment": "", "minor": False, "size": 0, "sha1": "0" * 40}
    page = {"page_id": 1, "namespace_id": 0, "title": title, "content_model": model, "revision_count": 1}
    change = {"kind": kind, "wiki": "w", "domain": "w.org", "at": CHANGED, "performer": USER, "request_id": "r"}
    return FeedEntry.model_validate({"n": n, "epoch": 1, "change": {**change, "page": page, "revision": revision}})


def operations(*changes: tuple[str, int]) -> list[dict[str, Any]]:
    made = EntityOperations()
    made.resume([])
    records = [made.record_of("feed", entry(n, *change)) for n, change in enumerate(changes, 1)]
    return [json.loads(record[1]) for record in records if record is not None]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([("create", 7)], [("import", 7, None)]),
        ([("edit", 8)], [("import", 8, None)]),
        ([("edit", 8), ("edit", 9), ("edit", 11)], [("import", 8, None), ("diff", 9, 8), ("diff", 11, 9)]),
        (
            [("edit", 8), ("delete", 8), ("undelete", 8)],
            [("import", 8, None), ("delete", 8, None), ("import", 8, None)],
        ),
        ([("delete", 7)], [("delete", 7, None)]),
        ([("edit", 8), ("visibility", 8), ("move", 9), ("edit", 10)], [("import", 8, None), ("diff", 10, 8)]),
    ],
)
def test_an_operation_follows_from_the_one_before_it(
    changes: list[tuple[str, int]], expected: list[tuple[str, int, int | None]]
) -> None:
    made = operations(*changes)
    assert [(operation["op"], operation["rev"], operation.get("from_rev")) for operation in made] == expected
    assert [operation["seq"] for operation in made] == list(range(1, len(expected) + 1))


def test_its_time_is_that_of_the_change() -> None:
    times = [operation["dt"] for operation in operations(("edit", 8), ("delete", 8), ("undelete", 8))]
    assert times == ["2026-03-02T09:00:00.000Z", "2026-03-02T09:30:00.250Z", "2026-03-02T09:30:00.250Z"]


@pytest.mark.parametrize(
    ("title", "model", "key"),
    [
        ("Property:P31", "wikibase-property", b"P31"),
        ("Lexeme:L7", "wikibase-lexeme", b"L7"),
        ("Main_Page", "wikitext", None),
    ],
)
def test_only_entities_have_operations(title: str, model: str, key: bytes | None) -> None:
    record = EntityOperations().record_of("feed", entry(1, "edit", 8, title=title, model=model))
    assert (record and record[0]) == key


@given(
    changes=st.lists(st.tuples(st.sampled_from(("Q1", "Q2")), st.sampled_from(KINDS)), max_size=12),
    restart=st.integers(0, 12),
)
def test_a_restart_changes_no_record_and_each_is_an_operation(changes: list[tuple[str, str]], restart: int) -> None:
    entries = [entry(n, kind, 4096 + n, title=title) for n, (title, kind) in enumerate(changes, 1)]
    whole, resumed = EntityOperations(), EntityOperations()
    records, topic = [whole.record_of("feed", one) for one in entries], list[bytes]()
    for n, one in enumerate(entries):
        if n == restart:
            resumed = EntityOperations()
            resumed.resume([b"not an operation", *topic])
        record = resumed.record_of("feed", one)
        topic += [] if record is None else [record[1]]
    expected = [record[1] for record in records if record is not None]
    assert topic == expected
    for value in topic:
        assert parse_operation(value).value() == value
