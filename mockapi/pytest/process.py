"""The mock as a child of the test session."""

import subprocess
import sys
import threading
from pathlib import Path

_START_S = 60.0
_STOP_S = 10.0
_READY = "mockapi ready on "


class MockStartError(Exception):
    """The mock ended, or was not ready in time; the message has the end of its log."""


class MockProcess:
    """`python -m mockapi` on a free port of loopback. It ends with this process, also after SIGKILL."""

    def __init__(self, log: Path) -> None:
        """Starts it; `log` gets its standard error."""
        self._log = log
        argv = [sys.executable, "-m", "mockapi", "--port", "0", "--exit-with-stdin"]
        with log.open("wb") as stderr:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True
            )

    def await_endpoint(self) -> str:
        """Waits until it is ready, at most a minute. Raises MockStartError."""
        # The end of the process ends the wait for its line.
        deadline = threading.Timer(_START_S, self._process.kill)
        deadline.start()
        try:
            assert self._process.stdout is not None
            line = self._process.stdout.readline()
        finally:
            deadline.cancel()
            deadline.join()
        if not line.startswith(_READY):
            words = self._log.read_text(errors="replace")[-2000:].strip() or "it logged nothing"
            raise MockStartError(f"the mock API was not ready within {_START_S:g} s; its log {self._log}: {words}")
        return line.removeprefix(_READY).strip()

    def stop(self) -> None:
        """Ends it, and returns when it has ended."""
        self._process.terminate()
        try:
            self._process.communicate(timeout=_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
