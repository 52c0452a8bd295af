"""Serves an installed MediaWiki with PHP's built-in server, on loopback, for as long as a `with` lasts."""

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from devkit.stack.ports import free_port
from tests.conformance.mediawiki.debian import FetchError
from tests.conformance.mediawiki.install import SECRET_KEY, Installed

WORKERS: Final = 4
_ROUTER: Final = Path(__file__).parent / "router.php"
_START_DEADLINE_S: Final = 60.0
_END_DEADLINE_S: Final = 10.0
_LOOK_EVERY_S: Final = 0.1


@contextmanager
def serve(wiki: Installed, *, domain: str | None = None, variants: bool = False) -> Iterator[int]:
    """Yields the port on 127.0.0.1. The wiki says of itself that it is `https://domain`, without one that it is where
    it is; `variants` turns English's Pig Latin on. Raises FetchError when the server does not answer.
    """
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "PHP_CLI_SERVER_WORKERS": str(WORKERS),
        "CONFORMANCE_SERVER": base if domain is None else f"https://{domain}",
        "CONFORMANCE_SECRET_KEY": SECRET_KEY,
        "CONFORMANCE_VARIANTS": "1" if variants else "0",
    }
    log = wiki.root / "server.log"
    with log.open("wb") as output:
        # A session of its own, so that the workers end with the server.
        process = subprocess.Popen(
            # MediaWiki sets Content-Length only where PHP has no buffer of its own.
            [
                *("php", "-d", "memory_limit=512M", "-d", "output_buffering=0"),
                *("-S", f"127.0.0.1:{port}", "-t", wiki.documents, _ROUTER),
            ],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _await_answer(process, f"{base}/w/rest.php/v1/page/Main_Page/bare", str(log))
            yield port
        finally:
            _end(process)


def _await_answer(process: subprocess.Popen[bytes], address: str, log: str) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + _START_DEADLINE_S
    last = "no answer"
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with opener.open(address, timeout=_START_DEADLINE_S):
                return
        except urllib.error.HTTPError as error:
            last = f"{error.code} {error.read()[:300]!r}"
            break
        except OSError as error:
            last = str(error)
        time.sleep(_LOOK_EVERY_S)
    raise FetchError(f"MediaWiki does not answer at {address}: {last}\nhint: see {log}")


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(_END_DEADLINE_S)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
