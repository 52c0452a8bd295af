"""What a request is about, as far as rules and journal look at it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that a request is about; what it does not name, or what is not known, is None. `revision` is also
    there for a revision that does not exist.
    """

    wiki: str | None = None
    page: str | None = None
    page_id: int | None = None
    revision: int | None = None
