"""A real store behind the proxy, with boto3: each fault's effect, its proof, and its end.

moto does not look at signatures; MinIO refuses a request whose head or body is not what was signed.
"""

import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pyspark
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError, EndpointConnectionError

from devkit.guardian import Guardian
from devkit.jvm import jars
from devkit.jvm.runtime import java_command
from devkit.stack.front import Front
from devkit.stack.parts.object_store import ObjectStore, start_object_store
from tests.integration.proxy.fault import PlayedFault

ROOMS = ("devkit/faults", "devkit/proxy")
BUCKET = "proxied"


@dataclass
class Bench:
    fault: PlayedFault
    store: ObjectStore

    def client(self, **config: Any) -> Any:
        """A client that tries once, by way of the proxy."""
        return boto3.client(
            "s3",
            endpoint_url=self.store.endpoint,
            region_name=self.store.region,
            aws_access_key_id=self.store.access_key,
            aws_secret_access_key=config.pop("secret_key", self.store.secret_key),
            config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}, proxies={}, **config),
        )


@pytest.fixture(scope="module", params=["moto", "minio"])
def bench(
    request: pytest.FixtureRequest, guardian: Guardian, front: Front, tmp_path_factory: pytest.TempPathFactory
) -> Bench:
    if request.param == "minio" and shutil.which("minio") is None:
        pytest.skip("there is no minio on PATH")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "moto":
            patch.setattr(shutil, "which", lambda _name: None)
        logs = tmp_path_factory.mktemp(request.param)
        store, part = start_object_store(guardian, logs, (BUCKET,), lead=front.lead_requests)
        part.await_ready()
    return Bench(PlayedFault(front), store)


def put(client: Any, key: str, body: bytes = b"body") -> Any:
    return client.put_object(Bucket=BUCKET, Key=key, Body=body)


def get(client: Any, key: str) -> bytes:
    return bytes(client.get_object(Bucket=BUCKET, Key=key)["Body"].read())


def refused(error: pytest.ExceptionInfo[ClientError]) -> tuple[int, str]:
    response: Any = error.value.response
    return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]


def test_requests_pass_with_their_signature(bench: Bench) -> None:
    """Plain, signed-payload and trailing-checksum uploads of any size and odd keys, listings, copies, multipart."""
    direct = bench.store.client()
    for number, key in enumerate(["plain", "a b/ü+&=?.json", "deep/er/key%20"]):
        body = bytes([number]) * (3_000_000 if number else 3)
        client = bench.client(request_checksum_calculation="when_supported" if number % 2 else "when_required")
        put(client, key, body)
        assert get(direct, key) == get(client, key) == body
        assert client.head_object(Bucket=BUCKET, Key=key)["ContentLength"] == len(body)
    client = bench.client()
    assert {one["Key"] for one in client.list_objects_v2(Bucket=BUCKET, Prefix="deep/")["Contents"]} == {
        "deep/er/key%20"
    }
    client.copy_object(Bucket=BUCKET, Key="copy", CopySource={"Bucket": BUCKET, "Key": "plain"})
    upload = client.create_multipart_upload(Bucket=BUCKET, Key="parts")["UploadId"]
    part = client.upload_part(Bucket=BUCKET, Key="parts", UploadId=upload, PartNumber=1, Body=b"p" * (5 << 20))
    client.complete_multipart_upload(
        Bucket=BUCKET,
        Key="parts",
        UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]},
    )
    assert get(client, "parts") == b"p" * (5 << 20)
    client.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": "copy"}]})
    with pytest.raises(ClientError) as gone:
        get(client, "copy")
    assert refused(gone) == (404, "NoSuchKey")


def test_the_store_checks_what_was_signed(bench: Bench) -> None:
    if bench.store.kind != "minio":
        pytest.skip("moto does not look at signatures")
    with pytest.raises(ClientError) as wrong:
        put(bench.client(secret_key="wrong"), "k")
    assert refused(wrong) == (403, "SignatureDoesNotMatch")


@pytest.mark.parametrize(("status", "code"), [(503, "SlowDown"), (403, "AccessDenied"), (500, "InternalError")])
def test_an_error_is_for_a_method_and_a_prefix(bench: Bench, status: Any, code: str) -> None:
    client = bench.client()
    put(client, "logs/old")
    bench.fault.begin({"store_error": {"status": status, "methods": ["PUT"], "prefix": "logs/"}})
    with pytest.raises(ClientError) as error:
        put(client, f"logs/{status}", b"x" * 2_000_000)
    assert refused(error) == (status, code)
    put(client, "data/new")
    assert get(client, "logs/old") == b"body"
    counts = bench.fault.end()
    assert counts.requests == 1
    assert counts.first_at is not None
    with pytest.raises(ClientError) as missing:
        get(bench.store.client(), f"logs/{status}")
    assert refused(missing) == (404, "NoSuchKey")
    put(client, f"logs/{status}")
    assert get(client, f"logs/{status}") == b"body"


def test_a_client_that_tries_again_gets_past_a_share_of_errors(bench: Bench) -> None:
    bench.fault.begin({"store_error": {"methods": ["PUT"], "share": "50%"}})
    failed = 0
    for number in range(20):
        for _ in range(20):
            try:
                put(bench.client(), f"share/{number}")
            except ClientError:
                failed += 1
            else:
                break
        assert get(bench.client(), f"share/{number}") == b"body"
    assert bench.fault.end().requests == failed > 0


@pytest.mark.parametrize("slow", [{"before": "300ms"}, {"through": "300ms"}])
def test_a_slow_upload_succeeds_late(bench: Bench, slow: dict[str, object]) -> None:
    client = bench.client()
    body = b"s" * 500_000
    bench.fault.begin({"store_slow": slow})
    began = time.monotonic()
    put(client, "slow", body)
    assert time.monotonic() - began >= 0.3
    counts = bench.fault.end()
    assert counts.requests == 1
    assert counts.bytes_delayed >= len(body)
    assert get(client, "slow") == body


def test_network_faults_act_before_the_store_as_well(bench: Bench) -> None:
    client = bench.client()
    put(client, "front")
    bench.fault.begin({"network_cut": {"part": "object-store"}})
    with pytest.raises((EndpointConnectionError, ConnectionClosedError)):
        get(client, "front")
    assert get(bench.store.client(), "front") == b"body"
    bench.fault.end()
    assert get(client, "front") == b"body"


def s3a(bench: Bench, place: Path, *arguments: str) -> None:
    """Hadoop's file system shell, by way of the proxy; `place` is a directory for its configuration."""
    settings = {
        "endpoint": bench.store.endpoint,
        "endpoint.region": bench.store.region,
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "access.key": bench.store.access_key,
        "secret.key": bench.store.secret_key,
        "multipart.size": "5M",
        "buffer.dir": str(place),
    }
    properties = (
        f"<property><name>fs.s3a.{key}</name><value>{value}</value></property>" for key, value in settings.items()
    )
    (place / "core-site.xml").write_text(f"<configuration>{''.join(properties)}</configuration>")
    jar_files = [*sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar")), *jars.ensure(jars.SPARK)]
    command = java_command(
        "org.apache.hadoop.fs.FsShell", arguments, classpath=[place, *jar_files], heap_bytes=256 << 20
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_hadoop_s3a_uploads_with_signed_chunks_and_outlasts_errors(bench: Bench, tmp_path: Path) -> None:
    """An upload in parts of signed chunks (STREAMING-AWS4-HMAC-SHA256-PAYLOAD), while 30 % of the requests fail."""
    original, back = tmp_path / "original", tmp_path / "back"
    original.write_bytes(bytes(range(256)) * 50_000)
    bench.fault.begin({"store_error": {"share": "30%"}})
    s3a(bench, tmp_path, "-put", str(original), f"s3a://{BUCKET}/by-hadoop")
    assert bench.fault.end().requests > 0
    s3a(bench, tmp_path, "-get", f"s3a://{BUCKET}/by-hadoop", str(back))
    assert back.read_bytes() == original.read_bytes()
