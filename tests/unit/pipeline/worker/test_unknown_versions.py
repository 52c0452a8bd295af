from collections.abc import Iterable
from datetime import UTC, datetime

import orjson
import pytest

from pipeline.errors import UnreadableSourceError
from pipeline.jobs.message import SourceMessage
from pipeline.records.record import Position
from pipeline.worker.unknown_versions import VersionsSeen, require_readable, versions_of

VERSION_1, VERSION_2 = "/mediawiki/page/change/1.2.0", "/mediawiki/page/change/2.0.0"


def messages(*values: bytes | None, topic: str = "source") -> list[SourceMessage]:
    when = datetime(2026, 1, 1, tzinfo=UTC)
    return [SourceMessage(Position(topic, 0, at), b"p", value, when) for at, value in enumerate(values)]


def of(schema: object) -> bytes:
    return orjson.dumps({"$schema": schema})


def seen_among(given: Iterable[SourceMessage]) -> tuple[VersionsSeen, list[SourceMessage]]:
    """With a job that reads version 1, and asks for what it was given."""
    asked: list[SourceMessage] = []

    def unreadable_version(message: SourceMessage) -> str | None:
        asked.append(message)
        return VERSION_2 if message.value == of(VERSION_2) or message.position.topic == "moved" else None

    return versions_of(given, unreadable_version), asked


def test_a_task_counts_its_events_and_those_that_it_cannot_read() -> None:
    given = messages(of(VERSION_1), of(VERSION_2), of(VERSION_1), of(VERSION_2), of("/other/1.0.0"))
    found, asked = seen_among(given)
    readable = {("source", VERSION_1), ("source", "/other/1.0.0")}
    assert found == VersionsSeen(5, 2, VERSION_2, frozenset(readable))
    assert [one.position.offset for one in asked] == [0, 1, 4], "one of each schema is parsed"


@pytest.mark.parametrize("value", [None, b"no JSON", b"[]", b"{}", of(7)])
def test_an_event_that_names_no_schema_is_the_jobs_to_judge(value: bytes | None) -> None:
    found, asked = seen_among(messages(value, value))
    assert found == VersionsSeen(2), "and of none is anything known"
    assert len(asked) == 2
    assert seen_among(messages(value, topic="moved"))[0] == VersionsSeen(1, 1, VERSION_2)


def test_each_topic_may_have_versions_of_its_own() -> None:
    assert seen_among([*messages(of(VERSION_1)), *messages(of(VERSION_1), topic="moved")])[0].unknown == 1


@pytest.mark.parametrize(
    ("events", "unknown"),
    [
        pytest.param((99,), (99,), id="a small batch"),
        pytest.param((100,), (1,), id="one in a hundred"),
        pytest.param((150, 150), (1, 2), id="one in a hundred, of two tasks"),
        pytest.param((), (), id="no task"),
    ],
)
def test_a_few_events_that_cannot_be_read_are_errors(events: tuple[int, ...], unknown: tuple[int, ...]) -> None:
    seen = [VersionsSeen(*one, VERSION_2) for one in zip(events, unknown, strict=True)]
    require_readable(seen, 7)


@pytest.mark.parametrize(("events", "unknown"), [((100,), (2,)), ((50, 50), (0, 2)), ((1000,), (1000,))])
def test_many_events_that_cannot_be_read_stop_the_job(events: tuple[int, ...], unknown: tuple[int, ...]) -> None:
    seen = [VersionsSeen(many, few, VERSION_2 if few else "") for many, few in zip(events, unknown, strict=True)]
    with pytest.raises(
        UnreadableSourceError, match=rf"{sum(unknown)} of {sum(events)} events of batch 7 .*{VERSION_2}"
    ):
        require_readable(seen, 7)
