"""PySpark's daemon, with a debugger in the workers it forks: Spark starts this module in its place.

A worker is a fork of the daemon, so debugpy is begun in the worker, before anything of the job runs there. Who finds
the port taken goes on: another worker listens already.
"""

import os
import signal
import socket
import sys

from pyspark import daemon

from devkit.debug.debugger import PORT_VARIABLE
from devkit.stack.ports import LOOPBACK

_begin = daemon.worker


def worker(sock: socket.socket, authenticated: bool) -> int:
    """A worker's whole life; returns its exit code."""
    port = int(os.environ[PORT_VARIABLE])
    if _is_free(port):
        # The daemon's handler would take the exit codes of debugpy's own processes.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        import debugpy  # noqa: T100 — what this module is for

        # Standard output is the daemon's line to Spark.
        debugpy.listen((LOOPBACK, port))  # noqa: T100
        sys.stderr.write(f"worker {os.getpid()} waits for a debugger at {LOOPBACK}:{port}\n")
        sys.stderr.flush()
        debugpy.wait_for_client()  # noqa: T100
    return _begin(sock, authenticated)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


if __name__ == "__main__":
    daemon.worker = worker
    daemon.manager()
