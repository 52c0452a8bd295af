"""Fills the commented scenario for a capture: its pace, its topics and a sufficient deadline."""

import math
import os
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from devkit.errors import UsageError
from devkit.traffic.capture.outline import Outline, outline_at
from located_config.flow import flow
from pipeline.jobs.names import PAGE_CHANGE_TOPIC

_RATE = 40.0
"""Average events a second that a laptop plays easily."""
_SHORT = timedelta(seconds=20)
_TO_DRAIN = timedelta(seconds=90)
_DEFAULT_BYTES = 1_000_000
_MIB = 1024 * 1024
_SHARES = {100: ("share: 10%, ", "one page in ten"), 10: ("share: 50%, ", "every other page"), 0: ("", "every page")}
"""By the least number of pages: a share of them that is not empty, and its text."""


def with_capture(template: str, capture: Path, directory: Path) -> str:
    """The text of the template with that traffic, for a file in `directory`. Raises UsageError, InvalidFileError."""
    outline = outline_at(capture)
    if not outline.count:
        raise UsageError(f"{capture} has no event", hint="take one while events come")
    speed = _choose_speed(outline)
    played = outline.length / speed
    path = Path(os.path.relpath(capture.absolute(), directory.absolute())).as_posix()
    share, pages = next(texts for least, texts in _SHARES.items() if len(outline.titles) >= least)
    changes = {
        r"(# ---- What is replayed ----\n).*?(?=# ---- What goes wrong)": _traffic(outline, path, speed),
        r"share: 10%, ": share,
        r"one page in ten": pages,
        r"(# ---- The job ----\n)": _kafka(outline),
        r"(\npipeline:\n)": _sources(outline),
        r"deadline: 90s": f"deadline: {math.ceil((2 * played + _TO_DRAIN).total_seconds())}s",
    }
    before_it = r"(# ---- The job ----\n)"
    for pattern, text in changes.items():
        match = re.search(pattern, template, flags=re.DOTALL)
        assert match is not None, pattern
        kept = match[1] if match.re.groups else ""
        put = text + kept if pattern == before_it else kept + text
        template = template[: match.start()] + put + template[match.end() :]
    return template


def _choose_speed(outline: Outline) -> float:
    """The factor on the captured pace: a short run, but not faster than a laptop plays it."""
    seconds = max(outline.length.total_seconds(), 0.001)
    speed = min(max(1.0, seconds / _SHORT.total_seconds()), _RATE * seconds / outline.count)
    return max(math.floor(10 * speed) / 10, 0.1)


def _traffic(outline: Outline, path: str, speed: float) -> str:
    lines = (
        f"# {outline.count} events that were captured, with keys, partitions and intervals of their own.",
        f"# They came in {outline.length.total_seconds():.0f} s; x2 is twice that pace, 20/s has them evenly spaced.",
        "traffic:",
        f"  from: {flow(path)}",
        f"  rate: x{speed:g}",
        "  # Titles are those of the file; there a page can be found by its title for `when: { page: … }`.",
        "",
        "",
    )
    return "\n".join(lines)


def _kafka(outline: Outline) -> str:
    """The `kafka` section, if the source topic needs other settings than the defaults."""
    settings = dict(_source_settings(outline))
    if not settings:
        return ""
    source = ", ".join(f"{key}: {value}" for key, value in settings.items())
    largest = _output_limit(settings)
    return (
        "# ---- The topics ----\n# As the captured topic was: its partitions, and room for its largest event.\n"
        f"kafka:\n  topics:\n    source: {{ {source} }}\n{largest}\n"
    )


def _source_settings(outline: Outline) -> Iterator[tuple[str, str]]:
    partitions = max(outline.topics.values())
    if partitions > 1:
        yield "partitions", str(partitions)
    if outline.largest_bytes > _DEFAULT_BYTES:
        yield "max.message.bytes", f"{math.ceil(outline.largest_bytes / _MIB) + 1}MiB"


def _output_limit(settings: Mapping[str, str]) -> str:
    limit = settings.get("max.message.bytes")
    return f"    output: {{ max.message.bytes: {limit} }}\n" if limit else ""


def _sources(outline: Outline) -> str:
    """Of several captured topics, the first is the job's own."""
    further = list(outline.topics)[1:]
    return f"  source: {{ topics: [{', '.join(map(flow, [PAGE_CHANGE_TOPIC, *further]))}] }}\n" if further else ""
