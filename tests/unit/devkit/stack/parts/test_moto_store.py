"""How an object store is started, and moto's objects on disk: what a second process with the same directory has."""

import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.s3.models import S3Backend, s3_backends
from werkzeug.serving import make_server

from devkit.errors import StackError
from devkit.stack.parts.moto_store import REGION, KeptObjects, OneContinue, keeping
from devkit.stack.parts.object_store import credentials, s3_client, start_object_store
from devkit.stack.parts.part import LEVERS, NOT_COPIED
from devkit.stack.ports import LOOPBACK, free_port
from tests.unit.devkit.stack.fakes import FakeGuardian

BUCKET = "checkpoints"
LONG = "é/" + "x" * 900


class Store:
    """A process of the store, and the next one with the same directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.client: Any = boto3.client("s3", region_name=REGION)
        self.start()

    @property
    def backend(self) -> S3Backend:
        return s3_backends[DEFAULT_ACCOUNT_ID]["aws"]

    def start(self) -> None:
        self.kept = KeptObjects(self.backend, self.directory)
        self.kept.load()

    def start_again(self) -> None:
        self.backend.reset()
        assert not self.backend.buckets
        self.start()

    def body(self, key: str) -> bytes:
        return self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def names(self) -> list[str]:
        return [entry["Key"] for entry in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", ())]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        started = Store(tmp_path)
        started.client.create_bucket(Bucket=BUCKET)
        yield started


def test_objects_are_there_again(store: Store) -> None:
    store.client.put_object(Bucket=BUCKET, Key=LONG, Body=b"one", ContentType="text/x", Metadata={"sha": "1"})
    store.client.copy_object(Bucket=BUCKET, Key="copy", CopySource={"Bucket": BUCKET, "Key": LONG})
    before = store.client.head_object(Bucket=BUCKET, Key=LONG)
    store.kept.keep(BUCKET)
    store.start_again()
    assert (store.body(LONG), store.body("copy")) == (b"one", b"one")
    after = store.client.head_object(Bucket=BUCKET, Key=LONG)
    for name in ("ETag", "LastModified", "ContentType", "Metadata", "ContentLength"):
        assert after[name] == before[name]


def test_what_was_deleted_or_written_anew_is_so_again(store: Store) -> None:
    for key in "abcd":
        store.client.put_object(Bucket=BUCKET, Key=key, Body=b"old")
    store.kept.keep(BUCKET)
    store.start_again()
    store.client.put_object(Bucket=BUCKET, Key="a", Body=b"new")
    store.client.delete_object(Bucket=BUCKET, Key="b")
    store.client.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": "c"}]})
    store.kept.keep(BUCKET)
    store.start_again()
    assert {key: store.body(key) for key in store.names()} == {"a": b"new", "d": b"old"}


def test_an_upload_in_parts_is_there_when_it_was_completed(store: Store) -> None:
    sent = b"x" * (5 << 20), b"end"
    upload = store.client.create_multipart_upload(Bucket=BUCKET, Key="large")["UploadId"]
    place = {"Bucket": BUCKET, "Key": "large", "UploadId": upload}
    tags = [store.client.upload_part(**place, PartNumber=n, Body=body)["ETag"] for n, body in enumerate(sent, 1)]
    store.kept.keep(BUCKET)
    assert store.names() == []
    parts = [{"PartNumber": n, "ETag": tag} for n, tag in enumerate(tags, 1)]
    store.client.complete_multipart_upload(**place, MultipartUpload={"Parts": parts})
    store.kept.keep(BUCKET)
    store.start_again()
    assert store.body("large") == b"".join(sent)


def test_a_bucket_that_is_gone_stays_so(store: Store) -> None:
    store.client.put_object(Bucket=BUCKET, Key="a", Body=b"old")
    store.kept.keep(BUCKET)
    store.client.delete_object(Bucket=BUCKET, Key="a")
    store.client.delete_bucket(Bucket=BUCKET)
    store.kept.keep(BUCKET)
    store.start_again()
    with pytest.raises(ClientError, match="NoSuchBucket"):
        store.client.list_objects_v2(Bucket=BUCKET)


def test_a_file_that_was_being_written_is_no_object(store: Store) -> None:
    store.client.put_object(Bucket=BUCKET, Key="a", Body=b"old")
    store.kept.keep(BUCKET)
    (store.directory / BUCKET / "0123.partial").write_bytes(b"half of")
    store.start_again()
    assert store.names() == ["a"]


@pytest.mark.parametrize(
    ("method", "path", "kept"),
    [
        ("PUT", "/checkpoints/a/b", ["checkpoints"]),
        ("POST", "/checkpoints", ["checkpoints"]),
        ("DELETE", "/checkpoints/a", ["checkpoints"]),
        ("GET", "/checkpoints/a", []),
        ("HEAD", "/checkpoints/a", []),
        ("POST", "/", []),
    ],
)
def test_what_may_have_changed_is_kept_before_it_is_answered(method: str, path: str, kept: list[str]) -> None:
    happened: list[str] = []

    class Kept(KeptObjects):
        def __init__(self) -> None:
            """Keeps nothing."""

        def keep(self, name: str) -> None:
            happened.append(name)

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        happened.append("changed")
        return [b"ok"]

    answer = keeping(application, Kept())({"REQUEST_METHOD": method, "PATH_INFO": path}, lambda *_: None)
    assert (list(answer), happened) == ([b"ok"], ["changed", *kept])


def test_a_client_that_waits_for_it_gets_one_status_100() -> None:
    """Two are one too many for the client that has S3A upload a file."""

    def application(_environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    with make_server(LOOPBACK, 0, application, threaded=True, request_handler=OneContinue) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with socket.create_connection((LOOPBACK, server.port), timeout=10) as connection:
                head = b"PUT /b/k HTTP/1.1\r\nHost: s\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 1"
                connection.sendall(head + b"\r\n\r\na")
                received = b"".join(iter(lambda: connection.recv(4096), b""))
        finally:
            server.shutdown()
            thread.join()
    statuses = [line.split()[1] for line in received.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
    assert statuses == [b"100", b"200"]


def test_moto_where_there_is_no_minio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    guardian, port = FakeGuardian(tmp_path), free_port()
    store, part = start_object_store(guardian.real(), tmp_path, (), port=port)
    assert (store.kind, store.endpoint) == ("moto", f"http://127.0.0.1:{port}")
    module = ["-m", "devkit.stack.parts.moto_store"]
    assert guardian.started == [
        ("object-store", [sys.executable, *module, "--port", str(port), "--data", str(tmp_path / "moto")], {})
    ]
    assert part.levers == set(LEVERS) - set(NOT_COPIED)


def test_minio_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    guardian = FakeGuardian(tmp_path)
    store, part = start_object_store(guardian.real(), tmp_path, ())
    ((name, argv, env),) = guardian.started
    assert (store.kind, name, argv[:3]) == ("minio", "object-store", ["/bin/minio", "server", str(tmp_path / "minio")])
    assert (tmp_path / "minio").is_dir()
    # Neither the store nor its console may be reached from elsewhere.
    addresses = [argv[argv.index(flag) + 1] for flag in ("--address", "--console-address")]
    assert all(address.startswith("127.0.0.1:") for address in addresses)
    assert len(set(addresses)) == 2
    assert store.endpoint == f"http://{addresses[0]}"
    assert [env["MINIO_ROOT_USER"], env["MINIO_ROOT_PASSWORD"]] == list(credentials().values())[:2]
    assert part.levers == set(LEVERS) - set(NOT_COPIED)


def test_the_client_asks_this_store_and_gives_up_soon() -> None:
    client = s3_client("http://127.0.0.1:9")
    assert client.meta.endpoint_url == "http://127.0.0.1:9"
    config: Any = client.meta.config
    assert config.connect_timeout == 2
    assert config.s3["addressing_style"] == "path"
    client.close()


def test_a_store_that_ended_is_not_waited_for(tmp_path: Path) -> None:
    guardian = FakeGuardian(tmp_path)
    _, part = start_object_store(guardian.real(), tmp_path, ("claims",))
    guardian.processes[0].exit_code = 1
    with pytest.raises(StackError, match=r"^object-store ended with exit code 1"):
        part.await_ready()
