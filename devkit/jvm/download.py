"""Fetching one pinned jar from a Maven repository, so that a wrong or half file never gets its final name.

Bytes go to a file of their own in the cache's ``partial`` directory and are hashed on the way; only a file whose size
and SHA-256 are those of the pin is moved into place, in one step. Two processes that fetch the same jar at once do
the work twice and both end with the right file.
"""

import errno
import hashlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, TextIO
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from devkit.errors import SetupError
from devkit.jvm.pins import Pin
from devkit.network_cause import network_cause

MIRROR_VARIABLE = "DEVKIT_MAVEN_URL"
CONNECT_TIMEOUT = timedelta(seconds=15)
READ_TIMEOUT = timedelta(seconds=60)
PARTIAL_IS_STALE = timedelta(days=1)
_CHUNK_BYTES = 256 * 1024
_MB = 1_000_000
_NETWORK_HINT = (
    f"the first run downloads; {MIRROR_VARIABLE} names a mirror, SSL_CERT_FILE a certificate bundle, "
    "HTTPS_PROXY a proxy"
)


def repository_url() -> str:
    """``$DEVKIT_MAVEN_URL`` or Maven Central, without a trailing slash; `SetupError` if it is no http(s) address."""
    chosen = os.environ.get(MIRROR_VARIABLE)
    if not chosen:
        # jgo knows the public repository's address; importing it takes a third of a second, so only when needed.
        from jgo.constants import MAVEN_CENTRAL_URL

        return str(MAVEN_CENTRAL_URL)
    if urlsplit(chosen).scheme not in {"http", "https"} or not urlsplit(chosen).hostname:
        raise SetupError(f"{MIRROR_VARIABLE}={chosen!r} is not an http(s) address", hint="unset it or correct it")
    return chosen.rstrip("/")


def open_session(connections: int) -> requests.Session:
    """A session for ``connections`` threads: tries again on 429 and 5xx, honours proxies and certificate variables."""
    session = requests.Session()
    retry = Retry(total=3, connect=1, backoff_factor=0.5, status_forcelist=(429, 500, 502, 503, 504))
    session.mount("https://", HTTPAdapter(max_retries=retry, pool_maxsize=connections))
    session.mount("http://", HTTPAdapter(max_retries=retry, pool_maxsize=connections))
    # requests itself reads REQUESTS_CA_BUNDLE, which wins over this.
    session.verify = os.environ.get("SSL_CERT_FILE") or True
    return session


@dataclass(frozen=True)
class Download:
    """One jar on its way: from where, to where, and the directory on the same disk for its unfinished file."""

    url: str
    pin: Pin
    target: Path
    partials: Path


def fetch(session: requests.Session, download: Download, report: Callable[[int], None]) -> None:
    """Put the jar in its place; a second try if the first ends early or is a different file.

    ``report`` gets the bytes as they come, negative when a try is thrown away. `SetupError` when it cannot be had.
    """
    try:
        _fetch_once(session, download, report)
    except _WorthAnotherTryError as first:
        report(-first.received_bytes)
        _fetch_once(session, download, report)


class _WorthAnotherTryError(SetupError):
    """The connection broke, or the bytes are not the pinned ones."""

    def __init__(self, message: str, received_bytes: int, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.received_bytes = received_bytes


def _fetch_once(session: requests.Session, download: Download, report: Callable[[int], None]) -> None:
    pin, target = download.pin, download.target
    try:
        descriptor, name = tempfile.mkstemp(dir=download.partials, suffix=".part")
        partial = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file, _get(session, download.url) as response:
                size, sha256 = _receive(response, file, download, report)
            if (size, sha256) != (pin.size, pin.sha256):
                raise _WorthAnotherTryError(
                    f"{download.url}: not the file pinned in jars.lock: expected {pin.size} bytes, "
                    f"sha256 {pin.sha256}; got {size} bytes, sha256 {sha256}",
                    size,
                    hint=f"the repository or a proxy on the way serves another file; {MIRROR_VARIABLE} names another",
                )
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.chmod(0o644)  # mkstemp's 0600 would shut out the other users of a shared cache
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise disk_error(target, error) from error


def _receive(
    response: requests.Response, file: BinaryIO, download: Download, report: Callable[[int], None]
) -> tuple[int, str]:
    """Size in bytes and SHA-256 of what came."""
    digest = hashlib.sha256()
    size = 0
    try:
        for chunk in response.iter_content(_CHUNK_BYTES):
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
            report(len(chunk))
    except requests.RequestException as error:
        raise _WorthAnotherTryError(
            f"{download.url}: the transfer broke off after {size} of {download.pin.size} bytes: {network_cause(error)}",
            size,
            hint=_NETWORK_HINT,
        ) from error
    return size, digest.hexdigest()


def _get(session: requests.Session, url: str) -> requests.Response:
    timeout = (CONNECT_TIMEOUT.total_seconds(), READ_TIMEOUT.total_seconds())
    try:
        response = session.get(url, stream=True, timeout=timeout)
    except requests.exceptions.SSLError as error:
        raise SetupError(
            f"{url}: the server's certificate was not accepted: {network_cause(error)}",
            hint="behind a TLS proxy, SSL_CERT_FILE or REQUESTS_CA_BUNDLE names its certificates",
        ) from error
    except (requests.RequestException, OSError) as error:
        # OSError: requests reports a certificate bundle that is not there so
        raise SetupError(f"{url}: not reachable: {network_cause(error)}", hint=_NETWORK_HINT) from error
    if response.status_code != requests.codes.ok:
        response.close()
        raise SetupError(
            f"{url}: the repository answered {response.status_code} {response.reason}",
            hint=f"{MIRROR_VARIABLE} names another Maven repository"
            if response.status_code in {401, 403, 404}
            else _NETWORK_HINT,
        )
    return response


def make_partials(directory: Path) -> Path:
    """``directory`` for unfinished downloads, made if missing, and swept of what killed processes left there."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(directory, error) from error
    oldest = time.time() - PARTIAL_IS_STALE.total_seconds()
    for leftover in directory.glob("*.part"):
        try:
            if leftover.stat().st_mtime < oldest:
                leftover.unlink()
        except FileNotFoundError:
            continue  # its owner finished meanwhile
    return directory


def disk_error(target: Path, error: OSError) -> SetupError:
    """The error for a cache that cannot be written."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        hint = "free some space, or let DEVKIT_CACHE name a directory on another disk"
    else:
        hint = "make it writable, or let DEVKIT_CACHE name another directory"
    return SetupError(f"cannot write {error.filename or target}: {error.strerror}", hint=hint)


class DownloadProgress:
    """One line that says how far a download is: rewritten on a terminal, a line every quarter elsewhere.

    It counts bytes of a known total from several threads and writes to ``out`` (default: standard error).
    """

    def __init__(self, label: str, total_bytes: int, out: TextIO | None = None) -> None:
        self._label, self._total = label, total_bytes
        self._out = sys.stderr if out is None else out
        self._terminal = self._out.isatty()
        self._lock = threading.Lock()
        self._done = 0
        self._shown = -1
        self.add(0)

    def add(self, size_bytes: int) -> None:
        """Count ``size_bytes`` more; negative when bytes turned out to be of no use."""
        with self._lock:
            self._done += size_bytes
            percent = 100 * self._done // self._total
            step = percent if self._terminal else percent - percent % 25
            if step > self._shown:
                self._shown = step
                self._out.write(self._line(percent) if self._terminal else f"{self._line(percent)}\n")
                self._out.flush()

    def close(self) -> None:
        """End the line of a terminal."""
        if self._terminal:
            self._out.write("\n")
            self._out.flush()

    def _line(self, percent: int) -> str:
        start = "\r" if self._terminal else ""
        return f"{start}{self._label}: {self._done / _MB:.1f} of {self._total / _MB:.1f} MB, {percent} %"
