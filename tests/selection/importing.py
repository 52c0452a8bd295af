"""A plugin of coverage, so that it is there before anything is imported: for which file what runs is recorded."""

import os
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any, Final

import coverage

PREFIX: Final = os.environ.get("TEST_RECORD_TOP", "") + "/"
SETTINGS: Final = os.environ.get("COVERAGE_PROCESS_START", "")
_file = ""


def current_file() -> str:
    """The module that is being imported, or else the test file that runs."""
    return _file


def switch(file: str) -> None:
    global _file
    if file == _file:
        return
    _file = os.environ["TEST_RECORD_FILE"] = file
    os.environ["COVERAGE_PROCESS_START"] = SETTINGS if file.startswith("tests/unit/") else ""
    if measured := coverage.Coverage.current():
        measured.switch_context(file)


def watch(loader: Any) -> None:
    """What runs while a module is imported is the module's, not the importer's."""
    exec_module: Callable[[Any, ModuleType], None] = loader.exec_module

    def measure(self: Any, module: ModuleType) -> None:
        file = str(module.__spec__ and module.__spec__.origin)
        if not file.startswith(PREFIX) or "/.venv/" in file:
            return exec_module(self, module)
        importer = _file
        switch(file.removeprefix(PREFIX))
        try:
            return exec_module(self, module)
        finally:
            switch(importer)

    loader.exec_module = measure


def coverage_init(registry: Any, options: Any) -> None:
    """In a process that a test started, everything is that test's."""
    if not os.environ.get("TEST_RECORD_FILE"):
        watch(SourceFileLoader)
