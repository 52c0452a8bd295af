"""The same questions to a directory and to an object store."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from pipeline.config.pipeline_config import ClaimCheck
from pipeline.errors import PipelineError, RefusedError
from pipeline.ops.files import CheckpointFiles, LocalFiles, ObjectFiles, open_files


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    with mock_aws():
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="bucket")
        yield "bucket"


@pytest.fixture(params=["local", "file", "object", "object at the root"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> CheckpointFiles:
    if request.param.startswith("object"):
        bucket = request.getfixturevalue("store")
        return open_files(f"s3a://{bucket}" + ("" if "root" in request.param else "/a/job/"), ClaimCheck())
    place = tmp_path / "a b" / "job"
    return open_files(place.as_uri() if request.param == "file" else str(place), ClaimCheck())


def test_what_is_written_is_listed_and_read(files: CheckpointFiles) -> None:
    assert files.names() == {}
    assert files.names("offsets") == {}
    for name in ("offsets/0", "offsets/10", "commits/0", "metadata"):
        files.write(name, name.encode())
    assert set(files.names()) == {"offsets/0", "offsets/10", "commits/0", "metadata"}
    assert set(files.names("offsets")) == {"offsets/0", "offsets/10"}
    assert files.read("offsets/10") == b"offsets/10"
    assert abs(files.names()["metadata"] - datetime.now(UTC)) < timedelta(hours=1)


def test_nothing_is_overwritten(files: CheckpointFiles) -> None:
    files.write("offsets/1", b"a driver's")
    with pytest.raises(RefusedError, match=r"offsets/1 is there already") as caught:
        files.write("offsets/1", b"mine")
    assert "is the job running?" in str(caught.value.hint)
    assert files.read("offsets/1") == b"a driver's"
    assert set(files.names()) == {"offsets/1"}


def test_a_driver_that_wrote_between_look_and_write_is_noticed(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = open_files(f"s3a://{store}/job", ClaimCheck())
    files.write("offsets/1", b"a driver's")
    monkeypatch.setattr(ObjectFiles, "names", lambda *_: {})
    with pytest.raises(RefusedError, match="is there already"):
        files.write("offsets/1", b"mine")


def test_a_file_that_is_not_there_is_named(files: CheckpointFiles) -> None:
    with pytest.raises(PipelineError, match="offsets/7 cannot be read"):
        files.read("offsets/7")


def test_hadoops_checksums_are_no_files(tmp_path: Path) -> None:
    for name in ("0", ".0.crc", ".0.123.tmp"):
        (tmp_path / name).write_bytes(b"")
    assert set(LocalFiles("here", tmp_path).names()) == {"0"}


def test_a_bucket_that_is_not_there_is_refused(store: str) -> None:
    with pytest.raises(RefusedError, match="there is no bucket elsewhere"):
        open_files("s3a://elsewhere/job", ClaimCheck()).names()


def test_a_place_of_another_kind_is_refused() -> None:
    with pytest.raises(RefusedError, match="hdfs:// cannot be read from here"):
        open_files("hdfs://namenode/job", ClaimCheck())


@pytest.mark.parametrize(
    ("given", "environment", "reached"),
    [
        (None, {}, "http://claims:1"),
        ("http://given:2", {"AWS_ENDPOINT_URL": "http://environment:3"}, "http://given:2"),
        (None, {"AWS_ENDPOINT_URL_S3": "http://environment:3"}, "http://environment:3"),
    ],
)
def test_store_asked(
    given: str | None, environment: dict[str, str], reached: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    files = open_files("s3a://bucket/job", ClaimCheck(endpoint="http://claims:1"), endpoint=given)
    assert isinstance(files, ObjectFiles)
    assert files._client.meta.endpoint_url == reached


def test_what_stands_at_the_top(files: CheckpointFiles) -> None:
    assert files.entries() == set()
    for name in ("offsets/0", "offsets/10", "sub/offsets/0", "metadata"):
        files.write(name, b"")
    assert files.entries() == {"offsets", "sub", "metadata"}


def test_an_empty_directory_stands_there_too(store: str, tmp_path: Path) -> None:
    (tmp_path / "job" / "sub").mkdir(parents=True)
    assert LocalFiles("here", tmp_path / "job").entries() == {"sub"}
    for key in ("job/", "job/sub/"):
        boto3.client("s3", region_name="us-east-1").put_object(Bucket=store, Key=key, Body=b"")
    assert open_files(f"s3a://{store}/job", ClaimCheck()).entries() == {"sub"}


def test_parts_say_which_place_lies_within_which(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "job")

    def parts(place: str) -> tuple[str, ...]:
        return open_files(place, ClaimCheck()).parts

    job = parts(str(tmp_path / "job"))
    assert parts(f"{tmp_path}/job/../job/") == parts((tmp_path / "job").as_uri()) == parts(f"{tmp_path}/link") == job
    assert parts(f"{tmp_path}/link/sub") == (*job, "sub")
    assert parts("s3a://b/a//job/") == parts("s3://b/a/job") == ("s3", "b", "a", "job")
    assert parts("s3a://b/a/jobs")[:4] != parts("s3a://b/a/job")


@pytest.mark.parametrize(
    ("place", "endpoint", "region", "why"),
    [
        ("s3a://[x/y", None, "us-east-1", r"s3a://\[x/y is no place"),
        ("s3a://b/job", "foo", "us-east-1", "its store cannot be asked: Invalid endpoint: foo"),
        ("s3a://b/job", None, "eu west", "its store cannot be asked: .*'eu west'"),
    ],
)
def test_a_place_that_cannot_be_asked_is_refused(place: str, endpoint: str | None, region: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        open_files(place, ClaimCheck(region=region), endpoint=endpoint)


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(PipelineError, match="offsets/0 cannot be written"):
        LocalFiles("here", tmp_path / "file").write("offsets/0", b"")
