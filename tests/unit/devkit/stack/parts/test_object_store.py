"""The kit's own S3 client, in a process of which the kit does not choose the environment: a user's pytest."""

import io
from pathlib import Path

import pytest
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.loaders import Loader

from devkit.stack.parts import object_store
from devkit.stack.parts.object_store import s3_client

LOADER = Loader()  # the models of S3 take most of a second to read
ENDPOINT = "http://127.0.0.1:1"
USER_SETTINGS = """
[default]
region = eu-north-1
use_dualstack_endpoint = true
ca_bundle = /nowhere.pem
s3 =
    payload_signing_enabled = true
    use_accelerate_endpoint = true
[profile other]
"""


def requests_of_a_listing() -> list[AWSRequest]:
    sent: list[AWSRequest] = []

    def answer(request: AWSRequest, **_: object) -> AWSResponse:
        sent.append(request)
        body = io.BytesIO(b"<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>")
        body.stream = lambda **_: [body.getvalue()]  # type: ignore[attr-defined]
        return AWSResponse(request.url, 200, {}, body)

    client = s3_client(ENDPOINT)
    client.meta.events.register("before-send.s3", answer)
    assert client.list_buckets()["Buckets"] == []
    return sent


@pytest.fixture(autouse=True)
def fresh_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """No client of an earlier test has read the environment."""
    monkeypatch.setattr("botocore.loaders.create_loader", lambda _path: LOADER)
    object_store._session.cache_clear()


@pytest.mark.parametrize(
    "variables",
    [
        {"AWS_PROFILE": "nobody"},
        {"AWS_DEFAULT_PROFILE": "nobody"},
        {"AWS_PROFILE": "other"},
        {"AWS_CONFIG_FILE": "DIRECTORY/config"},
        {"AWS_SHARED_CREDENTIALS_FILE": "DIRECTORY/config"},
        {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"},
        {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9"},
        {"AWS_USE_DUALSTACK_ENDPOINT": "true"},
        {"AWS_USE_FIPS_ENDPOINT": "true"},
        {"AWS_CA_BUNDLE": "/nowhere.pem"},
        {"AWS_MAX_ATTEMPTS": "many"},
        {"AWS_RETRY_MODE": "none"},
        {"AWS_DEFAULTS_MODE": "none"},
        {"AWS_REGION": "eu-north-1", "AWS_DEFAULT_REGION": "eu-north-1"},
        {"AWS_ACCESS_KEY_ID": "theirs", "AWS_SECRET_ACCESS_KEY": "theirs", "AWS_SESSION_TOKEN": "theirs"},
        {"AWS_S3_US_EAST_1_REGIONAL_ENDPOINT": "none"},
        {"AWS_REQUEST_CHECKSUM_CALCULATION": "none"},
        {"AWS_RESPONSE_CHECKSUM_VALIDATION": "none"},
        {"AWS_ACCOUNT_ID_ENDPOINT_MODE": "none"},
        {"AWS_SDK_UA_APP_ID": "theirs"},
        {"http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "socks5://127.0.0.1:9"},
        {"SSL_CERT_FILE": "/nowhere.pem", "REQUESTS_CA_BUNDLE": "/nowhere.pem"},
        {"HOME": "DIRECTORY"},
        {"HOME": "/proc/1"},
    ],
    ids=lambda variables: ",".join(variables),
)
def test_nothing_of_the_users_aws_reaches_the_store(
    variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in (tmp_path / "config", tmp_path / ".aws" / "config"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(USER_SETTINGS)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.replace("DIRECTORY", str(tmp_path)))
    (sent,) = requests_of_a_listing()
    assert sent.url == f"{ENDPOINT}/"
    signature = sent.headers["Authorization"]
    assert b"Credential=devkit-local/" in signature
    assert b"/us-east-1/s3/" in signature
    assert "X-Amz-Security-Token" not in sent.headers
    assert "theirs" not in str(sent.headers)
