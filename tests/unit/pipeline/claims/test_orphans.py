"""What is taken for an orphan, and above all what is not."""

from datetime import timedelta
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mypy_boto3_s3 import S3Client

from pipeline.claims.orphans import ClaimShelf, Stored, unnamed
from pipeline.config.pipeline_config import ClaimCheck
from pipeline.errors import PipelineError, RefusedError
from pipeline.ops.source import SourceTopic
from pipeline.records.claim_key import is_claim, key_of, mark_of
from pipeline.records.record import Headers
from tests.unit.pipeline.claims.conftest import BUCKET, LONG_AGO, PREFIX, Bucket, Topic, naming

SHA256 = "ab" * 32


def shelf(bucket: Bucket, prefix: str = PREFIX) -> ClaimShelf:
    return ClaimShelf(cast(S3Client, bucket), ClaimCheck(bucket=BUCKET, prefix=prefix))


def left(candidates: list[Stored], *topics: Topic) -> list[str]:
    found, _ = unnamed(candidates, [cast(SourceTopic, topic) for topic in topics], BUCKET, say=lambda _: None)
    return [stored.key for stored in found]


def stored(*keys: str) -> list[Stored]:
    return [Stored(key, 1, LONG_AGO) for key in keys]


@pytest.mark.parametrize("prefix", ["", "a", "/a/b/"])
@given(payload=st.binary(max_size=20))
def test_what_the_pipeline_stores_is_known_again(prefix: str, payload: bytes) -> None:
    assert is_claim(Bucket().put(payload, prefix=prefix), prefix)


@pytest.mark.parametrize(
    "key",
    [
        f"{PREFIX}/cd/{SHA256}",
        f"{PREFIX}/{SHA256}",
        f"{PREFIX}-2/ab/{SHA256}",
        f"{PREFIX}/deeper/ab/{SHA256}",
        f"ab/{SHA256}",
        f"{PREFIX}/ab/{SHA256}.tmp",
        f"{PREFIX}/AB/{SHA256.upper()}",
        f"{PREFIX}/ab/",
    ],
)
def test_other_objects_are_not_its_business(bucket: Bucket, key: str) -> None:
    assert not is_claim(key, PREFIX)
    bucket.objects[key] = b"", LONG_AGO
    assert shelf(bucket).look().claims == ()


@pytest.mark.parametrize("prefix", [PREFIX, ""])
def test_the_shelf_is_read_to_its_end_oldest_first(bucket: Bucket, prefix: str) -> None:
    """The prefix may be empty."""
    written = [LONG_AGO + timedelta(days=9 - number) for number in range(5)]
    keys = [bucket.put(bytes([number]), at, prefix=prefix) for number, at in enumerate(written)]
    bucket.objects[f"{PREFIX}/README"] = b"", LONG_AGO
    found = shelf(bucket, prefix).look()
    assert [one.key for one in found.claims] == keys[::-1]
    assert found.others == 1


def test_what_a_record_of_any_topic_names_stays() -> None:
    keys = [key_of(PREFIX, f"{number:064x}") for number in range(4)]
    first, second = Topic("out", [(), naming(keys[0]), ()]), Topic("copy", [naming(keys[2])])
    assert left(stored(*keys), first, second) == [keys[1], keys[3]]


def test_what_stands_in_the_place_of_a_removed_claim_check_goes_with_it(bucket: Bucket) -> None:
    named, orphan = (mark_of(key_of(PREFIX, f"{number:064x}")) for number in range(2))
    bucket.objects[named] = bucket.objects[orphan] = b"{}", LONG_AGO
    found = shelf(bucket).look()
    assert ({one.key for one in found.claims}, found.others) == ({named, orphan}, 0)
    assert left(list(found.claims), Topic("out", [naming(key_of(PREFIX, f"{0:064x}"))])) == [orphan]


@pytest.mark.parametrize(
    "headers",
    [naming("k", "elsewhere"), (("claim-check-bucket", BUCKET.encode()), ("claim-check-key", b"\xff"))],
    ids=["the same key in another bucket", "headers that are no text"],
)
def test_what_a_record_does_not_name_is_an_orphan(headers: Headers) -> None:
    assert left(stored("k"), Topic("out", [headers])) == ["k"]


def test_an_empty_topic_makes_no_orphans() -> None:
    with pytest.raises(RefusedError, match="topic out is empty") as refused:
        left(stored("k"), Topic("copy", [()]), Topic("out"))
    assert "lifecycle" in str(refused.value.hint)


def test_an_orphan_is_removed_unless_it_was_written_again_meanwhile(bucket: Bucket) -> None:
    keys = [bucket.put(bytes([number])) for number in range(3)]
    claims = shelf(bucket).look().claims
    bucket.put(bytes([1]), LONG_AGO + timedelta(days=1))
    del bucket.objects[keys[2]]
    removed = {one.key: shelf(bucket).remove(one) for one in claims}
    assert removed == dict(zip(keys, (True, False, True), strict=True)), "one that is gone ends no sweep"
    assert list(bucket.objects) == [keys[1]]
    bucket.may_read = False
    with pytest.raises(PipelineError, match="does not answer"):
        shelf(bucket).remove(claims[0])


def test_a_store_that_does_not_answer(bucket: Bucket) -> None:
    bucket.down = True
    with pytest.raises(PipelineError, match=f"bucket {BUCKET} at the default S3 endpoint does not answer"):
        shelf(bucket).look()
