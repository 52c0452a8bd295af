"""Secrets out of what is written down: by the key that a value stands under, and by what a text looks like.

Whatever leaves a process (a log, a report, an error message, an error event) goes through here. What looks like a
secret and is none is hidden as well.
"""

import re
from collections.abc import Mapping
from typing import Any

REDACTED = "(redacted)"

# Spark's `spark.redaction.regex` and what it leaves out: Kafka's JAAS, TLS keys in PEM, S3's signatures, and what else
# Hadoop counts as sensitive, as the key by which S3 encrypts for its customer.
_NAMES = (
    r"secret|passw(?:or)?d|passphrase|token|credential(?!s\.provider)|access[._-]?key|api[._-]?key|private[._-]?key"
    r"|jaas|keystore[._-](?:key|pass)(?!\w)|x-amz-signature|encryption[._-]key(?!\w)|account[._-]key(?!\w)"
    r"|auth[._-]user[._-]info"
)
_KEY = re.compile(rf"(?i){_NAMES}|authorization")
_NAME = rf"(?:{_NAMES})[\w.-]{{0,60}}[\"']?\s*"
_QUOTED = r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
_NOT_YET = r"(?!\(redacted\))"
_AUTHORIZATION = (
    rf"(?i)(authorization[\"']?\s*[:=]\s*[\"']?(?:(?:basic|bearer|digest|negotiate)\s+)?){_NOT_YET}[^\s\"',]+"
)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), REDACTED),
    (re.compile(rf"(LoginModule\s+\w+\s+){_NOT_YET}(?:{_QUOTED}|[^;])*"), rf"\1{REDACTED}"),
    (
        re.compile(
            rf"(?i)(authorization[\"']?\s*[:=]\s*[\"']?(?:(?:basic|bearer|digest|negotiate)\s+)?){_NOT_YET}[^\s\"',]+"
        ),
        rf"\1{REDACTED}",
    ),
    (re.compile(rf"(?i)(\bbearer\s+){_NOT_YET}[A-Za-z0-9+/=._~-]{{8,}}"), rf"\1{REDACTED}"),
    # The last @ before the path ends the user: a password may have one.
    (re.compile(rf"(?<=://){_NOT_YET}[^\s/?#\"'<>]+@"), f"{REDACTED}@"),
    # `-Djavax.net.ssl.trustStorePassword=…`, `password='…'`; where a bare value ends is not said, so the word goes.
    (re.compile(rf"(?i)({_NAME}=\s*){_NOT_YET}(?:{_QUOTED}|\S+)"), rf"\1{REDACTED}"),
    # `"ssl.key.password": "…"`, and `password: …` at the end of a line; elsewhere it is a sentence about a key.
    (re.compile(rf"(?i)({_NAME}:\s*){_NOT_YET}(?:{_QUOTED}|\S+(?=\s*$))", re.MULTILINE), rf"\1{REDACTED}"),
)


def is_secret(key: str) -> bool:
    """Whether what stands under a key of this name is a secret, by Kafka's, Spark's, Java's and S3's names."""
    return _KEY.search(key) is not None


def redacted_text(text: str) -> str:
    """A text without passwords given as `name=value`, JAAS logins, users in URLs, bearer tokens and private keys."""
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return text


def redacted(value: Any, key: str = "") -> Any:
    """A value as JSON has it, without secrets: a text that stands under a secret's key goes as a whole, in lists and
    mappings below as well; all other texts as in `redacted_text`. Numbers stay, and so do empty texts.
    """
    if isinstance(value, str):
        return REDACTED if value and is_secret(key) else redacted_text(value)
    if isinstance(value, Mapping):
        return {name: redacted(one, key if is_secret(key) else str(name)) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(one, key) for one in value]
    return value
