"""Which host answers for a wiki: a table of the configuration, or a file that is read again when it has changed.

A new wiki is a line in that file, and no restart. A file that cannot be read while the job runs changes nothing.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from located_config.yaml_file import UnfitError, read_yaml
from pipeline.config.places import MediaWiki
from pipeline.config.section import Host
from pipeline.errors import RefusedError

_TABLE: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, Host])
_Version = tuple[int, int, int]


class WikiHosts:
    """Raises RefusedError when there is no table to begin with."""

    def __init__(self, config: MediaWiki) -> None:
        self._file = None if config.wikis_file is None else Path(config.wikis_file)
        self._version: _Version | None = None
        self._hosts: Mapping[str, str] = config.wikis
        if self._file is not None:
            self._version = _version(self._file)
            self._hosts = _read(self._file)

    def host_of(self, wiki_id: str) -> str | None:
        """None for a wiki that the table does not have."""
        if self._file is not None and (version := _version(self._file)) not in (None, self._version):
            self._version = version
            try:
                self._hosts = _read(self._file)
            except RefusedError:
                return self._hosts.get(wiki_id)  # it may be half written: its next version is read again
        return self._hosts.get(wiki_id)

    def is_another(self, wiki_id: str, host: str) -> bool:
        """Whether the host is in the table, and not that of this wiki."""
        named = host.lower()
        return named != self._hosts.get(wiki_id, "").lower() and named in {one.lower() for one in self._hosts.values()}


def _version(file: Path) -> _Version | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read(file: Path) -> Mapping[str, str]:
    try:
        return _TABLE.validate_python(read_yaml(file))
    except OSError as error:
        raise RefusedError(f"mediawiki.wikis_file: {file} cannot be read: {error.strerror}") from error
    except (UnfitError, ValidationError, RecursionError) as error:
        text = f"mediawiki.wikis_file: {file} is no table of wikis"
        raise RefusedError(text, hint="write a line `enwiki: en.wikipedia.org` for each wiki") from error
