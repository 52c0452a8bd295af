from dataclasses import replace

import pytest

from pipeline.apply.first_offset import KeptOffset, choose_offset
from pipeline.errors import RefusedError

KEPT = KeptOffset("mutations", "store", 5, first=3, end=9)
ANOTHER = replace(KEPT, topic_id="a", kept_ids=frozenset("b"))


@pytest.mark.parametrize(
    ("kept", "new_offset", "offset"),
    [
        (KEPT, None, 5),
        (replace(KEPT, offset=3), None, 3),
        (replace(KEPT, offset=9), None, 9),
        (replace(KEPT, offset=None), 7, 7),
        (replace(KEPT, keeper="kafka"), None, 5),
        (replace(KEPT, topic_id="a"), None, 5),
        (replace(KEPT, topic_id="a", kept_ids=frozenset("a")), None, 5),
        (replace(KEPT, kept_ids=frozenset("a")), None, 5),
        (ANOTHER, 3, 3),
        (replace(ANOTHER, offset=None), 7, 7),
    ],
)
def test_where_it_begins(kept: KeptOffset, new_offset: int | None, offset: int) -> None:
    new = None if new_offset is None else "earliest"
    assert choose_offset(kept, new=new, new_offset=new_offset) == offset


@pytest.mark.parametrize(
    ("kept", "new_offset", "message", "hint"),
    [
        (replace(KEPT, offset=None), None, "the store has no offset of topic mutations", "--new earliest, latest or"),
        (KEPT, 3, "has offset 5 of topic mutations, and --new earliest would not be obeyed", "DELETE WHERE { <urn:"),
        (replace(KEPT, keeper="kafka"), 3, "the consumer group has offset 5", "name another source.group"),
        (ANOTHER, None, "with id b, and the id is a now", "topic-id> ?any }"),
        (replace(ANOTHER, kept_ids=frozenset("ab")), None, "with id a, b, and the id is a now", "--new earliest"),
        (replace(KEPT, offset=1), None, "offset 1 of topic mutations, which now begins at 3: 2 records", "from a dump"),
        (replace(KEPT, offset=10), None, "offset 10 of topic mutations, which ends at 9: the topic was", "from a dump"),
    ],
)
def test_what_is_refused(kept: KeptOffset, new_offset: int | None, message: str, hint: str) -> None:
    new = None if new_offset is None else "earliest"
    with pytest.raises(RefusedError) as caught:
        choose_offset(kept, new=new, new_offset=new_offset)
    assert message in str(caught.value)
    assert hint in str(caught.value.hint)
