"""What a batch's look at its versions gets to know of a job."""

from datetime import UTC, datetime

import pytest

from pipeline.jobs.message import SourceMessage
from pipeline.records.page_change import InvalidEventError
from pipeline.records.record import Position
from pipeline.worker.unknown_versions import VersionsSeen, versions_of
from tests.unit.pipeline.jobs.conftest import MakeBench

NEWER = b'{"$schema":"/mediawiki/page/change/2.0.0"}'
# What can be read, and not be passed on.
TOO_DEEP = NEWER[:-1] + b',"a":' + b"[" * 400 + b"]" * 400 + b"}"


def messages(*values: bytes) -> list[SourceMessage]:
    when = datetime(2026, 3, 2, 9, tzinfo=UTC)
    return [SourceMessage(Position("source", 0, at), b"page", value, when) for at, value in enumerate(values)]


def test_the_schema_of_another_major_version(bench: MakeBench) -> None:
    (newer,) = messages(NEWER)
    assert bench().job().unreadable_version(newer) == "/mediawiki/page/change/2.0.0"


@pytest.mark.parametrize("value", [TOO_DEEP, b"no JSON", b"{}", b'{"$schema":"/another/2.0.0"}'])
def test_what_is_no_event_says_nothing_of_its_version(bench: MakeBench, value: bytes) -> None:
    (message,) = messages(value)
    with pytest.raises(InvalidEventError):
        bench().job().unreadable_version(message)


def test_what_is_no_event_hides_no_version_that_comes_behind_it(bench: MakeBench) -> None:
    """Those events would become final errors, one by one, instead of stopping the job."""
    given = messages(TOO_DEEP, NEWER, NEWER)
    assert versions_of(given, bench().job().unreadable_version) == VersionsSeen(3, 2, "/mediawiki/page/change/2.0.0")
