"""What the output of an event must be, from the source event and the mock's truth."""

import hashlib
from collections.abc import Callable
from typing import Any

import orjson

from devkit.observe.audit.patch import PatchError, apply_patch
from devkit.traffic.records import Expected

Truth = Callable[[str, int], str]
"""From wiki and revision id to the HTML that a successful fetch brings."""


class ExpectedOutput:
    """One event's output as it must be: its canonical hash, and the two documents its diff must connect."""

    def __init__(self, source_value: bytes, expected: Expected, *, stream: str, truth: Truth) -> None:
        event = orjson.loads(source_value)
        event["meta"]["stream"] = stream
        event["meta"].setdefault("dt", event["dt"])
        # Which id the pipeline derives is its own affair; that it is always the same shows in the repeats.
        event["meta"].pop("id", None)
        self.without_body = payload_hash(event)
        self._parent: tuple[int, str] | None = None
        self._html: str | None = None
        if expected.page is not None and expected.latest_revision is not None:
            self._html = truth(expected.page.wiki, expected.latest_revision)
            event["revision"]["content_slots"]["main"]["content_body"] = self._html
            if expected.parent_revision is not None:
                self._parent = expected.parent_revision, truth(expected.page.wiki, expected.parent_revision)
        self.with_body = payload_hash(event)

    def difference(self, value: bytes, *, body_removed: bool) -> str | None:
        """What is wrong with an output's value; None when it is as it must be.

        `body_removed` is for the record of a claim check, which has everything but the bodies.
        """
        try:
            event = orjson.loads(value)
            event["meta"].pop("id")
        except (orjson.JSONDecodeError, AttributeError, TypeError, KeyError) as error:
            return f"not an event: {error!r}"
        diff = event.pop("html_diff", None)
        wanted = self.without_body if body_removed else self.with_body
        if payload_hash(event) != wanted:
            return "payload hash differs from the expected one"
        return None if body_removed and diff is None else self._wrong_diff(diff)

    def _wrong_diff(self, diff: Any) -> str | None:
        if self._parent is None:
            return None if diff is None else "a diff where none is expected"
        parent_id, parent_html = self._parent
        if not isinstance(diff, dict) or diff.get("base_rev_id") != parent_id or diff.get("format") != "unified":
            return f"no unified diff to revision {parent_id}"
        try:
            patched = apply_patch(parent_html, diff["body"])
        except (PatchError, AttributeError, KeyError) as error:
            return f"diff to revision {parent_id} does not apply: {error}"
        return None if patched == self._html else f"diff to revision {parent_id} does not give the latest HTML"


def payload_hash(event: Any) -> str:
    """SHA-256 of the canonical form: sorted keys, compact, UTF-8."""
    return hashlib.sha256(orjson.dumps(event, option=orjson.OPT_SORT_KEYS)).hexdigest()
