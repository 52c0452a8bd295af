"""A request to an object store, and which requests are meant.

A request is known by its method, its bucket and its key (path style: `/bucket/key`); a listing's key is the prefix that
it asks for.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import BaseModel, Field

Method = Literal["GET", "HEAD", "PUT", "POST", "DELETE"]


@dataclass(frozen=True)
class StoreRequest:
    """A request as toxics see it. `connection` is its client's, `target` is as it was sent."""

    connection: int
    method: str
    target: str

    @property
    def bucket(self) -> str:
        """Empty for a request about the store itself, as a listing of its buckets."""
        return self._path[0]

    @property
    def key(self) -> str:
        """Of a listing the prefix that it asks for; empty where it asks for the whole bucket."""
        if key := self._path[1]:
            return key
        return parse_qs(urlsplit(self.target).query).get("prefix", [""])[0]

    @property
    def path(self) -> str:
        """Without what a client escapes in it."""
        return unquote(urlsplit(self.target).path)

    @property
    def _path(self) -> tuple[str, str]:
        bucket, _, key = self.path.lstrip("/").partition("/")
        return bucket, key


class RequestPattern(BaseModel):
    """Which requests are meant: those that all of it fits."""

    methods: tuple[Method, ...] = Field(
        default=(), description="HTTP methods of the requests that are meant; an empty list means all."
    )
    bucket: str | None = Field(
        default=None, description="Bucket of the requests that are meant. Default: every bucket."
    )
    prefix: str = Field(default="", description="What the keys of the requests that are meant begin with.")
    path: str = Field(
        default="*",
        description="Paths (`/bucket/key`) of the requests that are meant: `*` stands for any characters, "
        "slashes too, `?` for one.",
    )

    def matches(self, request: StoreRequest) -> bool:
        """Case counts in all of it; keys and paths are compared unescaped."""
        return (
            (not self.methods or request.method in self.methods)
            and self.bucket in (None, request.bucket)
            and request.key.startswith(self.prefix)
            and fnmatchcase(request.path, self.path)
        )
