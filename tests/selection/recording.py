"""A pytest plugin, `-p tests.selection.recording`: writes down what each unit test file reads, runs and starts."""

import functools
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import coverage
import pytest

_PREFIX: Final = os.environ.get("TEST_RECORD_TOP", "") + "/"
_NO_DATA: Final = ("/.git/", "/.venv/", "/__pycache__/", "/.hypothesis/", "/.pytest_cache/", "/.selection/")
_DIRECTORY: Final = os.environ.get("TEST_RECORD", "")
_SETTINGS: Final = os.environ.get("COVERAGE_PROCESS_START", "")


class Recorder:
    """What the tests of one process read and start; what they run, coverage writes down, by test file."""

    def __init__(self) -> None:
        self.file = ""
        self.is_complete = True
        self.read: dict[str, set[str]] = defaultdict(set)
        self.started: dict[str, set[str]] = defaultdict(set)
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()
        self.cpu: dict[str, float] = defaultdict(float)
        sys.addaudithook(self.audit)

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir"):
            if isinstance(args[0], str | bytes | os.PathLike) and (event != "open" or args[1] in ("r", None)):
                self.add_read(absolute(args[0]) + ("" if event == "open" else "/"))
        elif event in ("subprocess.Popen", "os.posix_spawn") and self.file:
            for argument in args[1] or ():
                self.add_read(absolute(argument))
            self.started[self.file].add(" ".join(map(str, args[1]))[:300])

    def add_read(self, path: str) -> None:
        caller = sys._getframe(2)
        opener = caller.f_code.co_filename
        if not path.startswith(_PREFIX) or opener.startswith("<frozen importlib") or any(it in path for it in _NO_DATA):
            return
        # Tracebacks, pytest and coverage open sources too, which says nothing.
        if (
            path.endswith(".py")
            and not opener.endswith("/pathlib.py")
            and not (opener.startswith(_PREFIX) and "/.venv/" not in opener)
        ):
            return
        if reader := self.file or importing(caller):
            self.read[reader].add(path.removeprefix(_PREFIX))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        file = item.nodeid.partition("::")[0]
        if file != self.file:
            clear_caches()
            self.switch(file)
        before = sum(os.times()[:4])
        try:
            return (yield)
        finally:
            self.cpu[file] += sum(os.times()[:4]) - before

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """No fixture lives on into the next file, which would not run it then."""
        if nextitem is not None and nextitem.path != item.path and item.nodeid.startswith("tests/unit/"):
            item.session._setupstate.teardown_exact(None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        self.seconds[file] += report.duration
        if report.failed:
            self.failed.add(file)

    def switch(self, file: str) -> None:
        self.file = os.environ["TEST_RECORD_FILE"] = file
        os.environ["COVERAGE_PROCESS_START"] = _SETTINGS if file.startswith("tests/unit/") else ""
        if measured := coverage.Coverage.current():
            measured.switch_context(file)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self) -> None:
        """What that process ran is lost."""
        self.is_complete = False

    def pytest_sessionfinish(self) -> None:
        self.switch("")
        if measured := coverage.Coverage.current():
            measured.stop()
            measured.save()
        name = os.environ.get("PYTEST_XDIST_WORKER", "main")
        record = {
            "name": name, "cpu": self.cpu,
            "read": self.read,
            "started": self.started,
            "seconds": self.seconds,
            "failed": self.failed,
        }
        if self.is_complete:
            Path(_DIRECTORY, f"{name}.json").write_text(json.dumps(record, default=sorted))


def absolute(path: str | bytes | os.PathLike[str]) -> str:
    return os.path.normpath(Path(os.fsdecode(path)).absolute())


def importing(frame: Any) -> str:
    """The file of the repository that is being imported."""
    while frame:
        file = frame.f_code.co_filename
        if frame.f_code.co_name == "<module>" and file.startswith(_PREFIX) and "/.venv/" not in file:
            return file.removeprefix(_PREFIX)
        frame = frame.f_back
    return ""


def clear_caches() -> None:
    """Else what one test file filled, the next would not run."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if file.startswith(_PREFIX) and "/.venv/" not in file:
            for owner in (module, *(value for value in list(vars(module).values()) if isinstance(value, type))):
                for value in list(vars(owner).values()):
                    value = getattr(value, "__func__", value)
                    if isinstance(value, functools._lru_cache_wrapper):
                        value.cache_clear()


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder(), "recorder")
