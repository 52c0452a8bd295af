"""Renders a run as one HTML file that needs nothing else: style, script and drawings are in it, the network is not.

Everything that was written by others (titles, logs, messages) is escaped by the template engine; the page's own
policy also forbids any script or style but the two whose hashes it names, and any request.
"""

import base64
import hashlib
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from devkit.observe.arm_role import TWO_ARMS
from devkit.observe.changed_value import not_as_shipped
from devkit.observe.setting_text import setting_text
from devkit.report.explanation import examples
from devkit.report.page.excerpts import excerpts
from devkit.report.page.numbers import duration, number
from devkit.report.page.panels import PANELS
from devkit.report.page.plot import HEIGHT, WIDE, panel_plots
from devkit.report.page.shown_proof import proof
from devkit.report.page.story import paragraph, verdict
from devkit.report.page.strip import strips
from devkit.report.page.tables import delivery, measured, programs
from devkit.report.run_record import RunRecord
from devkit.report.source_link import source_link

_HERE = Path(__file__).parent
_LONGEST_TEXT = 2000
_MOST_ITEMS = 40
_WORD_ENDS = re.compile(r"(?<=\w[._/])(?=[A-Za-z])|(?<=[a-z])(?=[A-Z])")


def render_page(run: RunRecord) -> str:
    """The whole document."""
    style, script = ((_HERE / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    duration_s = max((arm.duration_s for arm in run.arms.values()), default=0.0) or 1.0
    panels = [panel_plots(panel, run.arms, duration_s) for panel in PANELS]
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            run=run,
            about=run.about,
            not_as_shipped=not_as_shipped(run.about.changes),
            result=run.result,
            verdict=verdict(run),
            paragraph=paragraph(run),
            style=Markup(style),  # the kit's own file, as its hash in the policy shows
            script=Markup(script),
            policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
            "base-uri 'none'; form-action 'none'",
            strips=strips(run.arms, duration_s),
            panels=[panel for panel in panels if panel],
            duration_s=duration_s,
            height=HEIGHT,
            wide=WIDE,
            examples=_examples(run),
            measured=measured(run),
            delivery=delivery(run),
            programs=programs(run),
            every="both" if len(run.about.roles) == len(TWO_ARMS) else "all",
            proof=proof(run.result) if run.result else None,
            excerpts={name: excerpts(run.directory, arm) for name, arm in run.arms.items()},
            reference_link=source_link(run.about.reference),
            most_items=_MOST_ITEMS,
        )
    )


def _examples(run: RunRecord) -> dict[str, tuple[str, ...]]:
    """By arm; those without any are left out."""
    found = {name: examples(arm) for name, arm in run.result.arms.items()} if run.result else {}
    return {name: of_arm for name, of_arm in found.items() if of_arm}


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "cut": _cut,
        "setting": _setting,
        "breakable": _breakable,
        "number": number,
        "duration": duration,
    }
    return environment


def _cut(value: object) -> str:
    """Long texts would bury the rest; the whole is in the run's files."""
    text = str(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _breakable(text: str) -> Markup:
    """Text that a narrow column may break where the words end that long names are made of."""
    return Markup("<wbr>").join(escape(part) for part in _WORD_ENDS.split(text))


def _setting(value: object) -> str:
    return _cut(setting_text(value))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
