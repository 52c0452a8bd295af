"""What the HTML pages have in common: their templates, style, policy and links.

Everything that was written by others (titles, logs, messages) is escaped by the template engine; a page's own policy
also forbids any script or style but those whose hashes it names, and any request.
"""

import base64
import hashlib
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from devkit.observe.settings import setting_text
from devkit.report.page.numbers import duration, number
from devkit.short_text import shorten

_HERE = Path(__file__).parent
_LONGEST_TEXT = 2000
_TASK = re.compile(r"T\d+")
_CODE = re.compile(r"`([^`\n]+)`")
_WORD_ENDS = re.compile(r"(?<=\w[._/])(?=[A-Za-z])|(?<=[a-z])(?=[A-Z])")


def part(name: str) -> Markup:
    """Style or script: the kit's own file, as its hash in the policy shows."""
    return Markup((_HERE / name).read_text(encoding="utf-8"))


def policy(style: Markup, script: Markup | None = None) -> str:
    """Content-Security-Policy of a page that has these alone."""
    scripts = f" script-src {_hash(script)};" if script else ""
    return f"default-src 'none'; style-src {_hash(style)};{scripts} base-uri 'none'; form-action 'none'"


def environment() -> Environment:
    """The templates of this directory, with the filters that they use."""
    templates = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    templates.filters |= {
        "cut": _cut,
        "prose": _prose,
        "setting": _setting,
        "breakable": _breakable,
        "number": number,
        "duration": duration,
    }
    return templates


def source_link(reference: str) -> str | None:
    """Where an incident is described: its reference if that is a URL, the page of a Wikimedia task, else None."""
    if reference.startswith(("https://", "http://")):
        return reference
    return f"https://phabricator.wikimedia.org/{reference}" if _TASK.fullmatch(reference) else None


def _cut(value: object) -> str:
    """The run's files have the whole text."""
    return shorten(str(value), _LONGEST_TEXT)


def _prose(value: object) -> Markup:
    """A sentence of the kit's, in which commands and settings stand between backticks."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(_cut(value)))))


def _breakable(text: str) -> Markup:
    """Text that a narrow column may break where the words end that long names are made of."""
    return Markup("<wbr>").join(escape(part) for part in _WORD_ENDS.split(text))


def _setting(value: object) -> str:
    return _cut(setting_text(value))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
