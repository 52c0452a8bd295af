"""What numbers and times one wiki gave to the pages that both have, under the same labels on both sides.

A revision's label is `Title:n`, n counting the edits that `pages.yaml` makes under this title; a page's is its title.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Ids:
    """Filled while the edits are played."""

    revisions: dict[str, int] = field(default_factory=dict)
    pages: dict[str, int] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)
    former_pages: dict[int, str] = field(default_factory=dict)

    def add_revision(self, title: str, revision: int, page: int, time: str) -> str:
        """Remembers the next revision of a title; returns its label. `time` is in ISO format."""
        number = 1 + sum(label.rpartition(":")[0] == title for label in self.revisions)
        label = f"{title}:{number}"
        self.revisions[label] = revision
        if (former := self.pages.get(title, page)) != page:
            self.former_pages[former] = title
        self.pages[title] = page
        self.times[label] = time
        return label

    def names(self) -> "Names":
        """The way back, from numbers to labels."""
        numbers = {number: f"page {title}" for title, number in self.pages.items()}
        numbers |= {number: f"former page {title}" for number, title in self.former_pages.items()}
        numbers |= {number: f"revision {label}" for label, number in self.revisions.items()}
        hashes = {
            hashlib.sha1(f"{number}{access}".encode(), usedforsecurity=False).hexdigest(): f"sha1 of {label} {access}"
            for label, number in self.revisions.items()
            for access in ("a1", "a0")
        }
        hashes[hashlib.sha1(b"e0", usedforsecurity=False).hexdigest()] = "sha1 of nothing"
        return Names(numbers, hashes, self.times)


@dataclass(frozen=True)
class Names:
    """Labels by page and revision number, by the hash that stands in an ETag; times by label."""

    numbers: Mapping[int, str]
    hashes: Mapping[str, str]
    times: Mapping[str, str]
