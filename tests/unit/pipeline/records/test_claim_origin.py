"""What an object says of the event that stored it, and which of two events is the later one."""

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.claim_origin import ClaimOrigin, origin_of
from pipeline.records.record import Position

positions = st.builds(Position, st.sampled_from(["mediawiki.page_change.v1", "b_1"]), st.integers(0, 3), st.integers(0))
origins = st.builds(ClaimOrigin, positions, st.integers())


@given(origins)
def test_the_metadata_say_it_whatever_case_a_store_gives_their_names(origin: ClaimOrigin) -> None:
    metadata = origin.metadata()
    assert ClaimOrigin.of_metadata(metadata) == origin
    assert ClaimOrigin.of_metadata({name.title(): value for name, value in metadata.items()}) == origin
    assert all(value.isascii() for value in metadata.values()), "others no store takes"


@pytest.mark.parametrize(
    "metadata",
    [{}, {"source": "a/0/1"}, {"source": "a/0", "source-time-ms": "1"}, {"source": "a/0/1", "source-time-ms": "x"}],
)
def test_what_does_not_say_it(metadata: dict[str, str]) -> None:
    assert ClaimOrigin.of_metadata(metadata) is None


@given(origins, origins, origins)
def test_no_two_are_behind_each_other(one: ClaimOrigin, other: ClaimOrigin, third: ClaimOrigin) -> None:
    assert not (one.is_behind(other) and other.is_behind(one))
    assert not one.is_behind(one)
    assert not (one.is_behind(other) and other.is_behind(third)) or one.is_behind(third)


def test_its_time_is_that_of_the_record() -> None:
    when = datetime(2026, 3, 2, 9, 0, 0, 123_456, tzinfo=UTC)
    assert ClaimOrigin.of(Position("a", 0, 1), when).at_ms == 1_772_442_000_123


class Refusing:
    def __init__(self, status: int) -> None:
        self.status = status

    def head_object(self, **_: Any) -> dict[str, Any]:
        raise ClientError({"ResponseMetadata": {"HTTPStatusCode": self.status}}, "HeadObject")  # type: ignore[typeddict-item]


@pytest.mark.parametrize("status", [403, 404])
def test_what_may_not_be_asked_or_is_gone_does_not_say_it(status: int) -> None:
    client: Any = Refusing(status)
    assert origin_of(client, "bucket", "key") is None


def test_a_store_that_fails_has_said_nothing() -> None:
    client: Any = Refusing(503)
    with pytest.raises(ClientError):
        origin_of(client, "bucket", "key")
