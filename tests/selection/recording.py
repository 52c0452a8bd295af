"""A pytest plugin, `-p tests.selection.recording`: writes down what each unit test file runs and reads."""

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
from _pytest.assertion.rewrite import AssertionRewritingHook

from tests.selection.importing import PREFIX, current_file, switch, watch

_NO_DATA: Final = ("/.git/", "/.venv/", "/__pycache__/", "/.hypothesis/", "/.pytest_cache/", "/.selection/")
_DIRECTORY: Final = os.environ.get("TEST_RECORD", "")


class Recorder:
    """What the tests of one process read; coverage writes down what they run.

    Both by file: a test file, or the module that is being imported.
    """

    def __init__(self) -> None:
        self.is_complete = True
        self.read: dict[str, set[str]] = defaultdict(set)
        self.seconds: dict[str, float] = defaultdict(float)
        """Processor seconds of the tests in a file."""
        self.failed: set[str] = set()
        sys.addaudithook(self.audit)
        watch(AssertionRewritingHook)

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir"):
            if isinstance(args[0], str | bytes | os.PathLike) and (event != "open" or args[1] in ("r", None)):
                self.add_read(absolute(args[0]) + ("" if event == "open" else "/"))
        elif event in ("subprocess.Popen", "os.posix_spawn") and current_file():
            for argument in args[1] or ():
                self.add_read(absolute(argument))

    def add_read(self, path: str) -> None:
        opener = sys._getframe(2).f_code.co_filename
        if not path.startswith(PREFIX) or opener.startswith("<frozen importlib") or any(it in path for it in _NO_DATA):
            return
        # Tracebacks, pytest and coverage open sources too, which says nothing.
        if (
            path.endswith(".py")
            and not opener.endswith("/pathlib.py")
            and not (opener.startswith(PREFIX) and "/.venv/" not in opener)
        ):
            return
        if file := current_file():
            self.read[file].add(path.removeprefix(PREFIX))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        file = item.nodeid.partition("::")[0]
        if file != current_file():
            clear_caches()
            switch(file)
        before = sum(os.times()[:4])
        try:
            return (yield)
        finally:
            self.seconds[file] += sum(os.times()[:4]) - before

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """No fixture lives on into the next file, which would not run it then."""
        if nextitem is not None and nextitem.path != item.path and item.nodeid.startswith("tests/unit/"):
            item.session._setupstate.teardown_exact(None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid.partition("::")[0])

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self) -> None:
        """What that process ran is lost."""
        self.is_complete = False

    def pytest_sessionfinish(self) -> None:
        switch("")
        if measured := coverage.Coverage.current():
            measured.stop()
            measured.save()
        name = os.environ.get("PYTEST_XDIST_WORKER", "main")
        record = {
            "read": self.read,
            "seconds": self.seconds,
            "failed": self.failed,
        }
        if self.is_complete:
            Path(_DIRECTORY, f"{name}.json").write_text(json.dumps(record, default=sorted))


def absolute(path: str | bytes | os.PathLike[str]) -> str:
    return os.path.normpath(Path(os.fsdecode(path)).absolute())


def clear_caches() -> None:
    """Else what one test file filled, the next would not run."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if file.startswith(PREFIX) and "/.venv/" not in file:
            for owner in (module, *(value for value in list(vars(module).values()) if isinstance(value, type))):
                for value in list(vars(owner).values()):
                    value = getattr(value, "__func__", value)
                    if isinstance(value, functools._lru_cache_wrapper):
                        value.cache_clear()


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder(), "recorder")
