"""The errors that a rule can want of both APIs: the key and the English text of MediaWiki 1.43's message, by code."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ErrorWords:
    """A message by its `key`; `english` is its first sentence where times and addresses would follow."""

    key: str
    english: str


ERROR_WORDS: Final[Mapping[str, ErrorWords]] = {
    "ratelimited": ErrorWords(
        "apierror-ratelimited", "You've exceeded your rate limit. Please wait some time and try again."
    ),
    "readonly": ErrorWords("apierror-readonly", "The wiki is currently in read-only mode."),
    "blocked": ErrorWords("blockedtext", "Your username or IP address has been blocked."),
    "autoblocked": ErrorWords(
        "autoblockedtext",
        "Your IP address has been automatically blocked because it was used by another user, who was blocked by Admin.",
    ),
    "protectedpage": ErrorWords(
        "protectedpagetext", "This page has been protected to prevent editing or other actions."
    ),
    "editconflict": ErrorWords("edit-conflict", "Edit conflict."),
}
