"""`python -m devkit.stack.parts.moto_store --port N --data DIRECTORY`: moto's S3 server, which outlives its process.

moto keeps objects in memory. Here each request that may have changed a bucket is answered only when the bucket's
objects are in files, and a process that is started with the same directory begins with them: so the store can be killed
and started again. Not kept are uploads in parts that were not completed, as a client would have to begin them again.
"""

import argparse
import hashlib
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.models import FakeKey, S3Backend, s3_backends
from werkzeug.serving import run_simple

from devkit.stack.ports import LOOPBACK

REGION = "us-east-1"
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_PARTIAL = ".partial"

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
"""As in PEP 3333."""


class KeptObjects:
    """A directory for each bucket, and in it a file for each object."""

    def __init__(self, backend: S3Backend, directory: Path) -> None:
        self._backend, self._directory = backend, directory
        self._lock = threading.Lock()
        self._kept: dict[str, dict[str, FakeKey]] = {}

    def load(self) -> None:
        """Give the backend what the process before it had."""
        for bucket_directory in sorted(self._directory.iterdir()):
            bucket = self._backend.create_bucket(bucket_directory.name, REGION)
            kept = self._kept[bucket_directory.name] = {}
            for file in bucket_directory.iterdir():
                if file.suffix != _PARTIAL:
                    entry: FakeKey = pickle.loads(file.read_bytes())
                    bucket.keys[entry.name] = kept[entry.name] = entry

    def keep(self, name: str) -> None:
        """Have the files say what a bucket holds now."""
        with self._lock:
            directory, kept = self._directory / name, self._kept.setdefault(name, {})
            bucket = self._backend.buckets.get(name)
            if bucket is not None:
                directory.mkdir(exist_ok=True)
            # The names at once: other requests change the bucket meanwhile, and then keep it again.
            names = list(dict.keys(bucket.keys)) if bucket is not None else []
            for key in {*kept, *names}:
                entry = bucket.keys.get(key) if bucket is not None else None
                if entry is None:
                    _file(directory, key).unlink(missing_ok=True)
                    del kept[key]
                elif kept.get(key) is not entry:
                    _write(_file(directory, key), pickle.dumps(entry))
                    kept[key] = entry
            if bucket is None and directory.is_dir():
                directory.rmdir()


def _file(directory: Path, key: str) -> Path:
    # A key may be longer than a file's name.
    return directory / hashlib.sha256(key.encode()).hexdigest()


def _write(path: Path, content: bytes) -> None:
    partial = path.with_suffix(_PARTIAL)
    partial.write_bytes(content)
    partial.replace(path)


def keeping(application: Application, kept: KeptObjects) -> Application:
    """The application, which answers when what it changed is kept."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        answered = application(environ, start_response)
        bucket = environ["PATH_INFO"].strip("/").partition("/")[0]
        if bucket and environ["REQUEST_METHOD"] not in _READS:
            kept.keep(bucket)
        return answered

    return answer


class OneContinue(MotoRequestHandler):
    """Werkzeug answers `Expect: 100-continue`, and so does the class of Python's that it extends; the client of S3A's
    transfer manager takes the second status 100 for the answer to its request.
    """

    def handle_expect_100(self) -> bool:
        """Leaves it to Werkzeug."""
        return True


def main() -> None:
    """Serve the object store until SIGTERM, with the objects that its directory has."""
    parser = argparse.ArgumentParser(prog="python -m devkit.stack.parts.moto_store", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True, help="Where the objects are kept.")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _end)
    options.data.mkdir(exist_ok=True)
    kept = KeptObjects(s3_backends[DEFAULT_ACCOUNT_ID]["aws"], options.data)
    kept.load()
    application = keeping(DomainDispatcherApplication(create_backend_app), kept)
    run_simple(LOOPBACK, options.port, application, threaded=True, request_handler=OneContinue)


def _end(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
