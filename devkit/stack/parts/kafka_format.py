"""The files that formatting writes into a Kafka node's data directory, kept from run to run.

It is the same each time but for the ids of node, directory and cluster, and a Java process takes seconds for it, while
the broker waits.
"""

import contextlib
import hashlib
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Base64Bytes, BaseModel, ConfigDict, ValidationError

from devkit.jvm.cache import cached_file, write_cached

_META = "meta.properties"


class FormattedDirectory(BaseModel):
    """The files of a formatted directory, by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: dict[str, Base64Bytes]
    sha256: str

    @classmethod
    def of(cls, data: Path) -> "FormattedDirectory":
        """Raises OSError."""
        return cls._of({path.name: path.read_bytes() for path in data.iterdir()})

    @classmethod
    def _of(cls, files: Mapping[str, bytes]) -> "FormattedDirectory":
        return cls.model_construct(files=dict(files), sha256=_digest(files))

    @property
    def is_intact(self) -> bool:
        """False for files that were changed since, or that have no `meta.properties`."""
        return _META in self.files and _digest(self.files) == self.sha256

    def write(self, data: Path, node: int, cluster: str) -> None:
        """Make `data` the directory of the node of this number, in the cluster of this id. Raises OSError."""
        data.mkdir(exist_ok=True)
        own = {"node.id": str(node), "directory.id": new_id(), "cluster.id": cluster}
        for name, content in self.files.items():
            if name == _META:
                pairs = [line.partition("=") for line in content.decode().splitlines()]
                content = "".join(f"{key}{is_}{own.get(key, value)}\n" for key, is_, value in pairs).encode()
            (data / name).write_bytes(content)


class FormatCache:
    """In the user's cache, by what decides about it: Kafka's version, its configuration, the cluster's id."""

    def __init__(self, identity: Sequence[str]) -> None:
        self._file = cached_file("kafka", identity, ".json")

    def read(self) -> FormattedDirectory | None:
        """None where none is kept, or it is damaged."""
        try:
            formatted = FormattedDirectory.model_validate_json(self._file.read_bytes())
        except (OSError, ValidationError):
            return None
        return formatted if formatted.is_intact else None

    def keep(self, formatted: FormattedDirectory) -> None:
        """A cache that cannot be written costs only the formatting of the next run."""
        with contextlib.suppress(OSError):
            write_cached(self._file, formatted.model_dump_json())


def _digest(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name} {len(files[name])}\n".encode())
        digest.update(files[name])
    return digest.hexdigest()


def new_id() -> str:
    """An id in Kafka's own format."""
    return urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
