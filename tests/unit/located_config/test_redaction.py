"""What looks like a secret leaves no process, wherever in a text or a document it stands; all else does."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from located_config.redaction import REDACTED, is_secret, redacted, redacted_text

# Recognisable in what remains, and with what a shell, JSON or a URL would end a value at.
_INNER = st.text(st.sampled_from("abcXYZ019;,&=@:!?$%^*+~|<>#()[]{}"), max_size=12)
SECRETS = st.builds("S3cr{}eT9".format, _INNER)
QUOTED = [
    'sasl.password="{}"',
    "password='{}', user='me'",
    '{{"ssl.key.password": "{}", "topic": "a"}}',
    'org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="{}";',
    'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="{}";',
]
BARE = [
    "-Djavax.net.ssl.trustStorePassword={} -Xmx1g",
    "spark.hadoop.fs.s3a.secret.key={}",
    "sasl.password: {}",
    "AWS_SECRET_ACCESS_KEY={} python -m pipeline",
    "the option is --token={}",
]
PLAIN = ["https://me:{}@example.org/w/rest.php", "GET http://{}@proxy:3128 failed", "Authorization: Bearer {}"]


@given(st.sampled_from(QUOTED + BARE), SECRETS)
def test_no_text_keeps_a_secret(template: str, secret: str) -> None:
    shown = redacted_text(template.format(secret))
    assert "S3cr" not in shown
    assert "eT9" not in shown
    assert REDACTED in shown


@given(st.sampled_from(PLAIN), st.from_regex(r"\AS3cr[A-Za-z0-9+._~-]{3,20}eT9\Z"))
def test_no_url_or_header_keeps_a_secret(template: str, secret: str) -> None:
    assert "eT9" not in redacted_text(template.format(secret))


def test_a_private_key_goes_as_a_whole() -> None:
    key = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\nEEI=\n-----END EC PRIVATE KEY-----"
    assert redacted_text(f"cannot load {key}: no curve") == f"cannot load {REDACTED}: no curve"
    assert redacted_text(f"cannot load {key[:40]}") == f"cannot load {REDACTED}"


@pytest.mark.parametrize(
    "text",
    [
        "sasl.password: is not used with the security.protocol PLAINTEXT; leave it out",
        "the password of the key is wrong",
        "s3a://bucket/a@b",
        "https://en.wikipedia.org/wiki/User:A@b",
        "mail ops@example.org",
        "fs.s3a.aws.credentials.provider=org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
        "fetch.retry_budget: unknown key; did you mean 'x'?",
        "source page_change/0/17, key=b'page'",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redacted_text(text) == text


@given(st.sampled_from(QUOTED + BARE), SECRETS)
def test_what_is_redacted_stays_as_it_is(template: str, secret: str) -> None:
    """It goes through several hands: the job's log, the timeline, the report."""
    once = redacted_text(template.format(secret))
    assert redacted_text(once) == once


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | SECRETS,
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["sasl.jaas.config", "secretKey", "AUTHORIZATION"]), below)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["password", "api_key", "spark.x.token"]), JSON))
def test_nothing_that_stands_under_a_key_of_a_secret_stays(document: dict[str, Any]) -> None:
    shown = redacted(document)
    assert "eT9" not in json.dumps(shown)
    assert shown.keys() == document.keys()
    assert redacted(shown) == shown


@pytest.mark.parametrize(
    "key",
    [
        "spark.hadoop.fs.s3a.encryption.key",
        "spark.hadoop.fs.s3a.bucket.checkpoints.encryption.key",
        "spark.hadoop.fs.s3a.server-side-encryption.key",
        "spark.hadoop.fs.azure.account.key.mine.blob.core.windows.net",
        "hadoop.ssl.keystore.pass",
        "basic.auth.user.info",
    ],
)
def test_what_hadoop_and_kafka_keep_to_themselves_by_other_names(key: str) -> None:
    assert is_secret(key)
    assert redacted_text(f"{key}=c2VjcmV0") == f"{key}={REDACTED}"


@pytest.mark.parametrize("key", ["spark.io.encryption.keySizeBits", "fs.s3a.encryption.algorithm", "ssl.keystore.type"])
def test_what_is_said_of_a_key_is_none(key: str) -> None:
    assert not is_secret(key)


def test_everything_else_stays() -> None:
    document = {"fetch": {"deadline": "60s", "statuses": [408, 429]}, "password": None, "secret": "", "tokens": 7}
    assert redacted(document) == document
    assert not is_secret("fs.s3a.aws.credentials.provider")


def test_a_long_text_takes_no_long_time() -> None:
    """Of a record or a log that is quoted. A pattern that tries again at each character would take hours."""
    began = time.process_time()
    for text in (
        "a" * 1_000_000,
        "token" * 200_000,
        "://" * 300_000,
        'password="' * 2000,
        "LoginModule required " * 2000,
    ):
        redacted_text(text)
    assert time.process_time() - began < 60
