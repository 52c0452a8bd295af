"""What extensions register stays in a process; here it is forgotten, so that a test can load some."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

from pydantic import BaseModel

from devkit.expectations.expectation import Expectation
from devkit.expectations.registry import EXPECTATIONS
from devkit.faults.registry import FAULTS as PART_FAULTS
from devkit.observe.expected_output.registry import TRUTHS
from devkit.programs.registry import KINDS
from devkit.traffic.registry import GENERATORS
from located_config import extension, registry
from located_config.registry import Registry
from mockapi.faults.registry import FAULTS as MOCK_FAULTS
from mockapi.rules.model import Do
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.jobs.registry import _makes

REGISTRIES: Final[tuple[Registry[Any], ...]] = (
    MOCK_FAULTS,
    PART_FAULTS,
    EXPECTATIONS,
    KINDS,
    JOB_DEFAULTS,
    TRUTHS,
    GENERATORS,
)
_MODELS: Final[tuple[tuple[Registry[Any], type[BaseModel]], ...]] = ((MOCK_FAULTS, Do), (EXPECTATIONS, Expectation))
"""Those that get a field for each thing that is registered."""


@contextmanager
def restored_registries(directory: Path) -> Iterator[None]:
    """Nothing is loaded at the beginning. At the end what was added is gone, and so are the modules below `directory`,
    which can be imported by name meanwhile.
    """
    with (
        mock.patch.object(extension, "_loaded", {}),
        mock.patch.object(registry, "_additions", []),
        mock.patch.object(sys, "path", [str(directory), *sys.path]),
        mock.patch.dict(_makes),
    ):
        before = [dict(one) for one in REGISTRIES]
        try:
            yield
        finally:
            for one, by_name in zip(REGISTRIES, before, strict=True):
                one._by_name = by_name
            for one, model in _MODELS:
                _forget_fields(model, set(model.__pydantic_fields__) - set(one))
            _forget_modules(directory)


def _forget_fields(model: type[BaseModel], added: set[str]) -> None:
    for name in added:
        del model.__pydantic_fields__[name]
    if added:
        model.model_rebuild(force=True)


def _forget_modules(directory: Path) -> None:
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is not None and Path(file).is_relative_to(directory):
            del sys.modules[name]
