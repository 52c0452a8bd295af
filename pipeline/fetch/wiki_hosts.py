"""Which host answers for a wiki: a table of the configuration, or a file that is read again when it has changed.

A new wiki is a line in that file, and no restart. A file that is replaced by renaming is never seen half written. One
that is rewritten in place is, so a changed file counts when it has stood still for a second. Until then, and when it is
no table, the table before it stays effective, with the wikis that the changed file adds. What came of a change is said.
"""

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from located_config.place import position
from located_config.problem import problems
from located_config.yaml_file import UnfitError, parse_yaml, read_yaml
from pipeline.config.endpoint_sections import MediaWiki
from pipeline.config.section import Host
from pipeline.errors import RefusedError
from pipeline.events import Event, WikisFileRead, WikisFileUnusable

_WIKIS = Annotated[dict[str, Host], Field(min_length=1)]
_TABLE: TypeAdapter[dict[str, str]] = TypeAdapter(_WIKIS)
_Version = tuple[int, int, int] | None
"""By what a file's content is known; None of one that is not there."""

# What writes a file in place may pause between two pieces, but not for long.
_STILL_S = 1.0
_LONGEST_WAIT_S = 10.0
_LOOK_S = 0.05


class WikiHosts:
    """Any thread may call it. Raises RefusedError when there is no table to begin with. `now` is the time of day, which
    the file's is compared with; `clock` counts seconds and never goes back. `emit` gets an event for each change.
    """

    def __init__(
        self,
        config: MediaWiki,
        *,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        emit: Callable[[Event], None] = lambda _event: None,
    ) -> None:
        self._file = None if config.wikis_file is None else Path(config.wikis_file)
        self._now, self._clock, self._emit = now, clock, emit
        self._looking = threading.Lock()
        self._version: _Version = None
        self._changing: tuple[_Version, float] | None = None
        self._problem: str | None = None
        self._added: Mapping[str, str] = {}
        self._hosts: Mapping[str, str] = config.wikis
        if self._file is not None:
            self._hosts = self._first(self._file, sleep)

    def host_of(self, wiki_id: str) -> str | None:
        """None for a wiki that the table does not have."""
        self.look()
        return self._hosts.get(wiki_id) or self._added.get(wiki_id)

    def look(self) -> None:
        """Reads the file again when it has changed, also while no host is asked for."""
        if self._file is None or (self._changing is None and _version(self._file) == self._version):
            return
        with self._looking:
            self._look(self._file)

    def is_another(self, wiki_id: str, host: str) -> bool:
        """Whether the host is in the table, and not that of this wiki."""
        name, table = host.lower(), {**self._added, **self._hosts}
        return name != table.get(wiki_id, "").lower() and name in {host_name.lower() for host_name in table.values()}

    def _first(self, file: Path, sleep: Callable[[float], None]) -> Mapping[str, str]:
        """There is no table before it, so one that is being written is waited for; not for ever."""
        started = since = self._clock()
        while self._clock() - started < _LONGEST_WAIT_S:
            version = _version(file)
            if version != self._version:
                self._version, since = version, self._clock()
            if version is None or self._is_still(version, since):
                return _read(file)
            sleep(_LOOK_S)
        raise RefusedError(
            f"mediawiki.wikis_file: {file} does not stop changing",
            hint="write another file, and rename it when it is complete",
        )

    def _look(self, file: Path) -> None:
        version = _version(file)
        if version == self._version:
            self._added, self._changing = {}, None
            return
        if self._changing is None or self._changing[0] != version:
            self._changing = version, self._clock()
            if not self._is_still(*self._changing):
                self._added = _whole_lines(file)
        if not self._is_still(*self._changing):
            return
        hosts, error = self._hosts, None
        try:
            hosts = _read(file)
        except RefusedError as refused:
            error = refused
        if _version(file) == version:
            self._hosts, self._added, self._version, self._changing = hosts, {}, version, None
            self._log_change(file, error)

    def _log_change(self, file: Path, error: RefusedError | None) -> None:
        if error is None:
            self._emit(WikisFileRead(file=str(file), wikis=len(self._hosts)))
        elif str(error) != self._problem:
            wikis = len(self._hosts)
            self._emit(WikisFileUnusable(file=str(file), reason=str(error), hint=error.hint or "", wikis=wikis))
        self._problem = None if error is None else str(error)

    def _is_still(self, version: _Version, since: float) -> bool:
        """Whether the file has stood still, by its own time or by ours: those of two machines may differ."""
        if version is not None and self._now() - version[0] / 1e9 >= _STILL_S:
            return True
        return self._clock() - since >= _STILL_S


def _version(file: Path) -> _Version:
    try:
        status = file.stat()
    except OSError:
        return None
    # A copy may carry over when the original was modified; when the file itself was changed is set by the system alone.
    return status.st_ctime_ns, status.st_size, status.st_ino


def _read(file: Path) -> Mapping[str, str]:
    try:
        document = read_yaml(file)
    except OSError as error:
        raise RefusedError(
            f"mediawiki.wikis_file: {file} cannot be read: {error.strerror}",
            hint="it has to be at that path, where every executor can read it",
        ) from error
    except UnfitError as error:
        raise _no_table(file, (error.line, error.column), str(error)) from error
    try:
        return _TABLE.validate_python(document)
    except RecursionError as error:
        raise _no_table(file, (1, 1), "nested too deeply") from error
    except ValidationError as error:
        problem = problems(error, _WIKIS, document)[0]
        raise _no_table(file, position(document, problem.location), str(problem)) from error


def _no_table(file: Path, place: tuple[int, int], problem: str) -> RefusedError:
    line, column = place
    return RefusedError(
        f"mediawiki.wikis_file: {file}:{line}:{column} is no table of wikis: {problem}",
        hint="write a line `enwiki: en.wikipedia.org` for each wiki",
    )


def _whole_lines(file: Path) -> Mapping[str, str]:
    """The complete lines of a file that is being written."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        return _TABLE.validate_python(parse_yaml("".join(line for line in lines if line.endswith("\n"))))
    except (OSError, UnicodeDecodeError, UnfitError, ValidationError, RecursionError):
        return {}
