"""What is taken for an orphan, and what `claims sweep` says and does, with a bucket and a topic in memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from mypy_boto3_s3 import S3Client

from pipeline.__main__ import main
from pipeline.claims import commands
from pipeline.claims.orphans import ClaimShelf, Stored, unnamed
from pipeline.config.pipeline_config import ClaimCheck
from pipeline.errors import PipelineError, RefusedError
from pipeline.ops.source import SourceTopic
from pipeline.records.claim_check import store_client
from pipeline.records.claim_key import is_claim, key_of, mark_of
from pipeline.records.record import Headers
from tests.unit.pipeline.claims.conftest import BUCKET, LONG_AGO, PREFIX, Bucket, Topic, naming
from tests.unit.pipeline.least_config import write_config

SHA256 = "ab" * 32
OUTPUT = "mediawiki.page_html_content_change.v1"
Sweep = Callable[..., Result]


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


@pytest.fixture
def topics() -> dict[str, Topic]:
    return {OUTPUT: Topic(OUTPUT, [()])}


@pytest.fixture
def sweep(tmp_path: Path, bucket: Bucket, topics: dict[str, Topic], monkeypatch: pytest.MonkeyPatch) -> Sweep:
    @contextmanager
    def opened(bootstrap: str, name: str, *, named_by: str, uncommitted: bool) -> Iterator[Topic]:
        assert (bootstrap, uncommitted) == ("sink:1", True)
        assert named_by == ("`sink` in the job's file" if name == OUTPUT else "--also")
        yield topics[name]

    monkeypatch.setattr(commands, "opened_topic", opened)
    monkeypatch.setattr(commands, "store_client", lambda _: bucket)
    file = write_config(tmp_path, sink={"bootstrap_servers": "sink:1"})

    def go(*arguments: str, age: str = "30d") -> Result:
        return CliRunner().invoke(main, ["claims", "sweep", "--config", str(file), "--older-than", age, *arguments])

    return go


def test_orphans_go_and_what_is_young_or_named_stays(sweep: Sweep, bucket: Bucket, topics: dict[str, Topic]) -> None:
    orphan, named, young = bucket.put(b"12"), bucket.put(b"345"), bucket.put(b"6", datetime.now(UTC))
    topics[OUTPUT].headers = [(), naming(named)]
    done = sweep()
    assert done.exit_code == 0, done.output
    assert set(bucket.objects) == {named, young}
    lines = done.output.splitlines()
    assert "claim-checks/html-enrichment: 3 claim checks of 6 bytes, of which 2 claim checks of 5 bytes" in lines[0]
    assert lines[1:] == [
        f"reading {OUTPUT}: 2 offsets in 1 partitions",
        f"{OUTPUT}: 2 records, of which 1 name a claim check",
        f"removing {orphan}, 2 bytes",
        "1 claim checks of 2 bytes removed, 1 older ones stay",
    ]


def test_a_dry_run_removes_nothing(sweep: Sweep, bucket: Bucket) -> None:
    orphan = bucket.put(b"12")
    done = sweep("--dry-run")
    assert done.exit_code == 0
    assert list(bucket.objects) == [orphan]
    assert f"would remove {orphan}, 2 bytes" in done.output
    assert "1 claim checks of 2 bytes would be removed" in done.output


def test_other_topics_count_when_they_are_named_and_the_output_once(
    sweep: Sweep, bucket: Bucket, topics: dict[str, Topic]
) -> None:
    key = bucket.put(b"12")
    topics["codfw.out"] = Topic("codfw.out", [naming(key)])
    done = sweep("--also", "codfw.out", "--also", OUTPUT)
    assert (done.exit_code, done.output.count(f"reading {OUTPUT}")) == (0, 1)
    assert list(bucket.objects) == [key]


def test_nothing_is_read_where_nothing_is_old(sweep: Sweep, bucket: Bucket, topics: dict[str, Topic]) -> None:
    bucket.put(b"1", datetime.now(UTC))
    bucket.objects["html-enrichment/README"] = b"", datetime.now(UTC)
    topics.clear()
    done = sweep()
    assert done.exit_code == 0
    assert "1 objects are no claim checks and stay" in done.output
    assert done.output.endswith("nothing to remove\n")


@pytest.mark.parametrize(
    ("age", "headers", "message"),
    [
        ("30", [()], "--older-than: no unit (got '30'); write 30s"),
        ("59m", [()], "--older-than 59m is less than 1h"),
        ("ages", [()], "not a duration (got 'ages')"),
        ("99999999d", [()], "--older-than 99999999d is longer than any store has been there"),
        ("30d", [], f"topic {OUTPUT} is empty"),
    ],
)
def test_a_sweep_that_could_remove_too_much_is_refused(
    sweep: Sweep, bucket: Bucket, topics: dict[str, Topic], age: str, headers: list[Headers], message: str
) -> None:
    key = bucket.put(b"12")
    topics[OUTPUT].headers = headers
    done = sweep(age=age)
    assert (done.exit_code, list(bucket.objects)) == (2, [key])
    assert message in done.stderr


def test_a_store_that_cannot_be_asked(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    unusable = ClaimCheck(region="eu west")
    monkeypatch.setattr(commands, "store_client", lambda _: store_client(unusable))
    done = sweep()
    assert done.exit_code == 2
    assert "error: bucket claim-checks: its store cannot be asked: " in done.stderr
    assert "'eu west'" in done.stderr


def test_a_store_that_is_down(sweep: Sweep, bucket: Bucket) -> None:
    bucket.down = True
    done = sweep()
    assert done.exit_code == 1
    assert "does not answer" in done.stderr
