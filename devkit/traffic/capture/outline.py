"""What a scenario has to know of a capture before it is played: how many events, over which time, of which wikis."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from devkit.traffic.canary import CANARY_DOMAIN
from devkit.traffic.capture.capture_file import Capture, read_capture
from devkit.traffic.capture.id_map import IdMap, page_of
from devkit.traffic.capture.pacing import in_time

_WIKI = re.compile(r"[a-z][a-z0-9_]*")
_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


@dataclass(frozen=True)
class Outline:
    """`length` is the time from the first event to the last; `titles` are those that pages have in the end.

    `topics` has the numbers of partitions, the topic that is the first source's first; `largest` by topic the number of
    bytes of the largest value; `crowded` tells of pages with more revisions than can be played.
    """

    count: int
    length: timedelta
    wikis: Mapping[str, str]
    titles: tuple[str, ...]
    topics: Mapping[str, int]
    largest: Mapping[str, int]
    crowded: tuple[str, ...]


def capture_at(path: Path) -> Capture:
    """The file, read once as long as it stays as it is. Raises UsageError, InvalidFileError."""
    return _capture(path, *_version(path))


def outline_at(path: Path) -> Outline:
    """Raises UsageError, InvalidFileError."""
    return _outline(path, *_version(path))


def _version(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0  # which reading it tells
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=1)
def _capture(path: Path, _changed: int, _bytes: int) -> Capture:
    return read_capture(path)


@lru_cache(maxsize=4)
def _outline(path: Path, changed: int, size: int) -> Outline:
    capture = _capture(path, changed, size)
    arrivals = in_time(capture.records)
    events = [record.event for _, record in arrivals]
    wikis = _wikis(events)
    ids = IdMap(iter(events), wikis or {"enwiki": ""})
    largest: dict[str, int] = {}
    for record in capture.records:
        largest[record.topic] = max(largest.get(record.topic, 0), record.bytes)
    return Outline(
        count=len(arrivals),
        length=arrivals[-1][0] if arrivals else timedelta(0),
        wikis=wikis,
        titles=tuple(dict.fromkeys(page.title for page in ids.pages())),
        topics=capture.header.source.topics,
        largest=largest,
        crowded=tuple(f"page {page} of {wiki} has {count} revisions" for (wiki, page), count in ids.crowded),
    )


def _wikis(events: Iterable[Any]) -> dict[str, str]:
    """The captured wikis with a domain each, of which no two share one; without those of no usual name."""
    found: dict[str, str] = {}
    for event in events:
        if (place := page_of(event)) is None or place[0] in found or not _WIKI.fullmatch(place[0]):
            continue
        domain = event["meta"].get("domain") if isinstance(event.get("meta"), dict) else None
        fits = isinstance(domain, str) and _DOMAIN.fullmatch(domain) and domain not in (CANARY_DOMAIN, *found.values())
        found[place[0]] = str(domain) if fits else f"{place[0].replace('_', '-').strip('-')}.example.org"
    return found
