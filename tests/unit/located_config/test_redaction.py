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
    assert redacted_text(shown) == shown, "it goes through several hands: the job's log, the timeline, the report"


@given(st.sampled_from(PLAIN), st.from_regex(r"\AS3cr[A-Za-z0-9+._~-]{3,20}eT9\Z"))
def test_no_url_or_header_keeps_a_secret(template: str, secret: str) -> None:
    assert "eT9" not in redacted_text(template.format(secret))


def test_a_private_key_goes_as_a_whole() -> None:
    key = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\nEEI=\n-----END EC PRIVATE KEY-----"
    assert redacted_text(f"cannot load {key}: no curve") == f"cannot load {REDACTED}: no curve"
    assert redacted_text(f"cannot load {key[:40]}") == f"cannot load {REDACTED}"


# Forms in which a bare value ends at a blank, a quote or the end of the line.
FORMS = [
    "password: {} # of the bot",
    "sasl:\n  password: {} # of the bot\n  mechanism: PLAIN\n",
    "{{user: me, password: {}, host: h}}",
    "{{user: me, password: {}}}",
    "tokens: [{}, other]",
    "api-key: |\n  {}\n",
    "login:\n  - password: >-\n      {}\n    user: me\n",
    "curl -H 'X-Api-Key: {}' http://h",
    "login with password: {} failed",
    "run --token {} --port 1",
    "run --api-key '{}' x",
    "run -password {}",
    "['run', '--token', '{}']",
    "SASL_PASS={} run",
    "export db.pass={}",
    "dbPass={}",
    "MW_PW={}",
    "SLACK_PWD={}",
    "pwd: {}",
    "  pass: {}",
    "Cookie: session={}; other=1",
    "curl -b x -H 'Cookie: a=1; session={}'",
    "Set-Cookie: session={}; HttpOnly",
    "GET https://store/blob?sv=1&sig={}&x=1",
    "GET https://store/blob?sig={}",
    "GET https://store/blob?X-Amz-Signature={} 403",
    "Authorization: token {}",
    "Authorization: Digest username=me, response={}",
    "refused sasl password {}; exit 1",
    "user bob password {}",
    "the password {} is wrong",
    "spark.hadoop.fs.s3a.secret.key  {}",
    "api key {} is over",
    "<db><password>{}</password></db>",
    "<name>fs.s3a.secret.key</name><value>{}</value>",
    '{{\\"password\\": \\"{}\\", \\"topic\\": \\"t\\"}}',
    'log.line="token=\\"{}\\""',
]
AROUND = ["{}", "ERROR 12:00 {}", '  said "x" then\n{}\nand more', "# comment\n{}"]


@given(st.sampled_from(FORMS), st.sampled_from(AROUND), st.from_regex(r"\AS3cr[A-Za-z0-9+_~!%@-]{0,20}eT9\Z"))
def test_no_form_in_any_place_keeps_a_secret(form: str, around: str, secret: str) -> None:
    if "\n" in form or form.startswith((" ", "pwd:", "spark.")):
        around = around if around.startswith("{") or "\n{}" in around else "{}"
    text = around.format(form.format(secret))
    shown = redacted_text(text)
    assert "S3cr" not in shown
    assert "eT9" not in shown
    assert redacted_text(shown) == shown


@pytest.mark.parametrize("text", ["refused sasl password swordfish; exit 1", "--password swordfish", "pw=swordfish"])
def test_a_secret_of_letters_alone_goes_where_the_form_says_what_it_is(text: str) -> None:
    assert "swordfish" not in redacted_text(text)


def test_what_stands_beside_a_secret_stays() -> None:
    text = "sasl:\n  password: {} # of the bot\n  mechanism: PLAIN"
    assert redacted_text(text.format("S3cr")) == text.format(REDACTED)
    assert redacted_text("run --token S3cr --port 1") == f"run --token {REDACTED} --port 1"
    assert redacted(["run", "--token", "S3cr", "--port", "token"]) == ["run", "--token", REDACTED, "--port", "token"]
    environment = redacted({"SLACK_PWD": "S3cr", "PWD": "/work", "pw": "S3cr"})
    assert environment == {"SLACK_PWD": REDACTED, "PWD": "/work", "pw": REDACTED}


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
        "a token bucket of 50 requests/s",
        "pass 3 tests",
        "tests pass: 12 of 12",
        "--- PASS: TestX (0.1s)",
        "second pass: done",
        "the password policy asks for 12 characters",
        "the password file /etc/kafka/password cannot be read",
        "use --password and --token to log in",
        "pass_headers=true",
        "source.pass_headers: false",
        "bypass=1",
        "PWD=/work/here",
        "next token 3 of 17",
        "the secret of success is to try",
        "a cookie is sent with each request",
        "cookies: are not sent",
        "signatures of 3 functions differ",
        "TopicAuthorizationException: Not authorized to access topics: [page_change]",
        "token bucket: 3 of 5 left",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redacted_text(text) == text


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
        "token" * 50_000,
        "://" * 300_000,
        'password="' * 2000,
        "LoginModule required " * 2000,
        "token: " * 25_000,
        "token:" * 25_000,
        "--token" * 25_000,
        "sasl password " * 12_500,
        "password: |\n" * 5_000,
        "user " * 25_000,
        "<password>" * 12_500,
        "cookie: " * 12_500,
        "api key " + "a" * 125_000,
        "secret [" * 12_500 + "token: [" * 12_500,
    ):
        redacted_text(text)
    assert time.process_time() - began < 60
