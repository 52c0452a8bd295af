"""The content language of a wiki, read off its domain."""

import re

_LANGUAGE_LABEL = re.compile(r"[a-z]{2,3}(-[a-z]+)*")
_NOT_A_LANGUAGE = frozenset({"www", "api", "wiki"})


def language_of(domain: str) -> str:
    """`de` for `de.wikipedia.org`; `en` for a domain that starts with no language code, such as a project's own."""
    label = domain.split(".", 1)[0]
    if "." not in domain or label in _NOT_A_LANGUAGE or not _LANGUAGE_LABEL.fullmatch(label):
        return "en"
    return label
