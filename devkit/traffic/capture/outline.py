"""What a scenario has to know of a capture before it is played: how many events, over which time, of which wikis."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from devkit.traffic.canary import CANARY_DOMAIN
from devkit.traffic.capture.capture_index import CaptureIndex
from devkit.traffic.capture.capture_reader import CaptureReader
from devkit.traffic.capture.id_map import page_of

_WIKI = re.compile(r"[a-z][a-z0-9_]*")
_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


@dataclass(frozen=True)
class Outline:
    """`length` is the time from the first event to the last; `titles` are those that pages have in the end.

    `topics` has the numbers of partitions, the topic that is the first source's first; `largest_bytes` is the size of
    the largest value, and `largest_line` the number of its line; `crowded` tells of pages with more revisions than can
    be played.
    """

    count: int
    length: timedelta
    wikis: Mapping[str, str]
    titles: tuple[str, ...]
    topics: Mapping[str, int]
    largest_bytes: int
    largest_line: int
    crowded: tuple[str, ...]


def outline_at(path: Path) -> Outline:
    """Checks the whole file, once as long as it stays as it is. Raises UsageError, InvalidFileError."""
    return _outline(path, *_version(path))


def _version(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0  # which reading it tells
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4)
def _outline(path: Path, _changed: int, _bytes: int) -> Outline:
    reader, index, wikis = CaptureReader(path), CaptureIndex(), _Wikis()
    largest_bytes = largest_line = 0
    for number, place, record in reader.records():
        index.add(place, record)
        wikis.note(record.event)
        if record.bytes > largest_bytes:
            largest_bytes, largest_line = record.bytes, number
    index.arrivals.sort()
    return Outline(
        count=len(index.arrivals),
        length=index.arrivals.length,
        wikis=wikis.domains,
        titles=index.pages.titles,
        topics=reader.header.source.topics,
        largest_bytes=largest_bytes,
        largest_line=largest_line,
        crowded=tuple(f"page {page} of {wiki} has {count} revisions" for (wiki, page), count in index.pages.crowded),
    )


class _Wikis:
    """The captured wikis with a domain each, of which no two share one; without those of no usual name."""

    def __init__(self) -> None:
        self.domains: dict[str, str] = {}

    def note(self, event: Any) -> None:
        """The first event of a wiki says its domain."""
        domains = self.domains
        if (place := page_of(event)) is None or place[0] in domains or not _WIKI.fullmatch(place[0]):
            return
        domain = event["meta"].get("domain") if isinstance(event.get("meta"), dict) else None
        fits = (
            isinstance(domain, str) and _DOMAIN.fullmatch(domain) and domain not in (CANARY_DOMAIN, *domains.values())
        )
        domains[place[0]] = str(domain) if fits else f"{place[0].replace('_', '-').strip('-')}.example.org"
