"""Secrets out of what is written down: by the key that a value stands under, and by what a text looks like.

Whatever leaves a process (a log, a report, an error message, an error event) goes through here. What looks like a
secret and is none is hidden as well.

    names    `_WORDS` anywhere in a key, `_ENDS` as its last word
    forms    `_FORMS`, how a text gives a value to a name
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

REDACTED = "(redacted)"

# Spark's `spark.redaction.regex` and what it leaves out: Kafka's JAAS, TLS keys in PEM, S3's signatures, what else
# Hadoop counts as sensitive, as the key by which S3 encrypts for its customer, and cookies.
_WORDS = (
    r"secret|passw(?:or)?d|passphrase|passcode|token|credential(?!s\.provider)|access[._-]?key|api[._-]?key"
    r"|private[._-]?key|jaas|keystore[._-](?:key|pass)(?!\w)|x-amz-signature|encryption[._-]key(?!\w)"
    r"|account[._-]key(?!\w)|auth[._-]user[._-]info|cookie"
)
# These are parts of other words too: pass_headers, bypass. In camel case a name ends in `Pass`.
_ENDS = (
    r"(?:(?<![^\W_])(?:pass|pwd?|sig|signature)|(?-i:(?<=[a-z0-9])P(?:ass|wd?)))(?:[._-]?\d{1,3})?(?![\w.-]{0,60}\w)"
)
_KEY = re.compile(rf"(?i){_WORDS}|{_ENDS}|authorization")
_DIRECTORIES = ("PWD", "OLDPWD")
"""A shell's variables for where it is."""

_NOT_YET = r"(?!\(redacted\))"
_LONG_NAME = rf"(?:{_WORDS})[\w.-]{{0,60}}"
_NAME = rf"(?:{_LONG_NAME}|{_ENDS})"
# Quotes are escaped in a text within a text; where one is not closed, the rest of the line is the value.
_QUOTED = r"""(?P<quote>\\*["'])(?:(?!(?P=quote))(?:\\.|[^\\]))*(?P=quote)|\\*["'][^\r\n]*"""
_LIST = r"[\[{][^\]}\r\n]*[\]}]?"
# `pwd=/home/me` is no password, and `pass: 3` counts tests.
_NO_COUNT = r"(?!/|\d{1,5}\b)"
_SMALL_WORD = (
    r"(?:a|an|and|are|as|at|be|but|by|can|for|from|has|if|in|into|is|it|its|may|must|no|not|of|on|or|so|than|that|the"
    r"|then|this|to|was|were|when|where|which|will|with)\b"
)
# What ends a value that is not quoted, in a line of YAML, of JSON or of prose.
_VALUE_END = re.compile(r"\\*[\"',;)}\]]+(?=[\s,;)}\]]|$)")

_SIGN = re.compile(r"[\d@!#$%^&*+~=]")
_LETTER = re.compile(r"[A-Za-z]")
_SHORTEST = 4

_Shown = str | Callable[[re.Match[str]], str]


def _after_colon(found: re.Match[str]) -> str:
    """`password: p` where the line, a quote, a bracket or a comment ends the value, or it looks like a secret; else it
    is a sentence about a key.
    """
    head, value, end = found[1], found[2], found[3]
    if end is not None:
        closed = re.search(r"\\*[\"',;)}\]]+$", value)
        return f"{head}{REDACTED}{closed[0] if closed else ''}{end}"
    if closed := _VALUE_END.search(value):
        return f"{head}{REDACTED}{value[closed.start() :]}"
    return f"{head}{REDACTED}" if _is_secret_word(value) else found[0]


def _in_sentence(found: re.Match[str]) -> str:
    return f"{found[1]}{REDACTED}" if _is_secret_word(found[2]) else found[0]


def _is_secret_word(word: str) -> bool:
    """Whether digits and signs tell it from the words around it, as in "password policy" and "token bucket"."""
    word = word.rstrip(".:?!")
    is_mixed = _SIGN.search(word) is not None and _LETTER.search(word) is not None
    return (
        len(word) >= _SHORTEST
        and not word.startswith(("/", "("))
        and (is_mixed or re.search(r"\d{6}", word) is not None)
    )


_FORMS: tuple[tuple[re.Pattern[str], _Shown], ...] = tuple(
    (re.compile(form, re.MULTILINE), shown)
    for form, shown in (
        # A private key.
        (r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", REDACTED),
        # JAAS: `PlainLoginModule required username="u" password="p";`
        (rf"(LoginModule\s+\w+\s+){_NOT_YET}(?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[^;])*", rf"\1{REDACTED}"),
        # Headers: a scheme with parameters; a scheme with one word, or a word alone; all of a cookie.
        (
            rf"(?i)(authorization[\"']?\s*[:=]\s*[\"']?(?:digest|aws4-[\w-]+|oauth|hawk)\s+){_NOT_YET}[^\r\n]+",
            rf"\1{REDACTED}",
        ),
        (
            rf"(?i)(authorization[\"']?\s*[:=]\s*[\"']?(?>(?:[a-z][a-z-]*[ \t]+(?=[^\s\"',]))?)){_NOT_YET}[^\s\"',]+",
            rf"\1{REDACTED}",
        ),
        (rf"(?i)(\bcookie[\"']?\s*:\s*[\"']?){_NOT_YET}[^\s\"'=;]+=[^\r\n\"']*", rf"\1{REDACTED}"),
        (rf"(?i)(\bbearer\s+){_NOT_YET}[A-Za-z0-9+/=._~-]{{8,}}", rf"\1{REDACTED}"),
        # A user in a URL: the last @ before the path ends it, as a password may have one.
        (rf"(?<=://){_NOT_YET}[^\s/?#\"'<>]+@", f"{REDACTED}@"),
        # XML: `<password>p</password>`, and Hadoop's `<name>fs.s3a.secret.key</name><value>p</value>`.
        (rf"(?i)({_NAME}>(?:</name>\s*<value>)?){_NOT_YET}[^<>\s][^<]*(?=</)", rf"\1{REDACTED}"),
        (rf"(?i)({_NAME}</name>\s*<value>){_NOT_YET}[^<]+", rf"\1{REDACTED}"),
        # An option: `--token p`, `['--token', 'p']`.
        (
            rf"(?i)((?<![\w-])--?(?:[a-z]+[.-])*{_NAME}[\"']?,?[ \t]+)"
            rf"{_NOT_YET}(?!{_SMALL_WORD}|[-(|&])(?:{_QUOTED}|[^\s\"']+)",
            rf"\1{REDACTED}",
        ),
        # `-Djavax.net.ssl.trustStorePassword=p`, `password='p'`; where a bare value ends is not said, so the word goes.
        (rf"(?i)({_LONG_NAME}\\*[\"']?\s*=\s*){_NOT_YET}(?:{_QUOTED}|\S+)", rf"\1{REDACTED}"),
        (rf"(?i)({_ENDS}\\*[\"']?\s*=\s*){_NOT_YET}{_NO_COUNT}(?:{_QUOTED}|\S+)", rf"\1{REDACTED}"),
        # Spark's own files: `spark.hadoop.fs.s3a.secret.key p`.
        (rf"(?i)^([ \t]*[a-z][\w-]*\.(?:[\w-]+\.)*{_NAME}[ \t]+){_NOT_YET}[^\s=:]\S*(?=[ \t]*$)", rf"\1{REDACTED}"),
        # YAML's blocks: `password: |` and the lines below it.
        (
            rf"(?i)^([ \t]*)((?:- )?[\"']?(?:[a-z]+[._-])*{_NAME}[\"']?:[ \t]*[|>][-+\d]*[ \t]*(?:#.*)?\n)"
            rf"(?!\1[ \t]+\(redacted\))(?:(?:\1[ \t]+.*|[ \t]*)(?:\n|\Z))+",
            rf"\1\2\1  {REDACTED}\n",
        ),
        # `"ssl.key.password": "p"`, `password: [p, p]`.
        (rf"(?i)({_LONG_NAME}\\*[\"']?\s*:\s*){_NOT_YET}(?:{_QUOTED}|{_LIST})", rf"\1{REDACTED}"),
        (rf"(?i)({_ENDS}\\*[\"']?\s*:\s*){_NOT_YET}(?:{_QUOTED}|{_LIST})", rf"\1{REDACTED}"),
        (rf"(?i)({_LONG_NAME}\s*:[ \t]*){_NOT_YET}([^\s|>&*]\S*)([ \t]*$|[ \t]+(?=#))?", _after_colon),
        # Not `second pass: done`.
        (
            rf"(?i)((?:[a-z0-9][._-]|^[ \t]*|[{{,][ \t]*|- |[\"']){_ENDS}:[ \t]*)"
            rf"{_NOT_YET}{_NO_COUNT}([^\s|>&*]\S*)([ \t]*$|[ \t]+(?=#))?",
            _after_colon,
        ),
        # A program's own line: `refused sasl password p`, `the token p4ss is over`.
        (
            rf"(?i)((?:\bsasl|\buser(?:name)?[ =:]+\S{{1,99}})(?:,|\s+and)?\s+passw(?:or)?d\s+)"
            rf"{_NOT_YET}(?!{_SMALL_WORD})[^\s\"';,]+",
            rf"\1{REDACTED}",
        ),
        (
            r"(?i)(\b(?:secret|passw(?:or)?d|passphrase|pwd|token|(?:api|access|private|secret)[ _-]key)[ \t]+)"
            r"([^\s\"';,]+)",
            _in_sentence,
        ),
    )
)

# Most texts have none of it.
_HINT = re.compile(
    rf"(?i){_WORDS}|{_ENDS}|(?:api|access|private|secret)[ _-]key|authorization|bearer|loginmodule|://[^\s/]+@"
)


def is_secret(key: str) -> bool:
    """Whether what stands under a key of this name is a secret, by Kafka's, Spark's, Java's and S3's names."""
    return _KEY.search(key) is not None


def redacted_text(text: str) -> str:
    """A text without the values that `_FORMS` lists."""
    if _HINT.search(text) is None:
        return text
    for pattern, shown in _FORMS:
        text = pattern.sub(shown, text)
    return text


def redacted(value: Any, key: str = "") -> Any:
    """A value as JSON has it, without secrets: a text that stands under a secret's key goes as a whole, in lists and
    mappings below as well, and so does one behind an option of that name in a command line; all other texts as in
    `redacted_text`. Numbers stay, and so do empty texts.
    """
    if isinstance(value, str):
        is_directory = key in _DIRECTORIES and value.startswith("/")
        return REDACTED if value and is_secret(key) and not is_directory else redacted_text(value)
    if isinstance(value, Mapping):
        return {name: redacted(one, key if is_secret(key) else str(name)) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(one, key if is_secret(key) else _option(value, at)) for at, one in enumerate(value)]
    return value


def _option(words: Sequence[Any], at: int) -> str:
    """The option before a word of a command line, empty where there is none."""
    before, word = words[at - 1] if at else None, words[at]
    if not isinstance(before, str) or not isinstance(word, str) or word.startswith("-"):
        return ""
    return before if re.fullmatch(r"--?[\w.-]+", before) else ""
