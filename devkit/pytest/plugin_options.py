"""The plugin's options, and what they say."""

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devkit.cli.options import STACKS, require_addresses_fit
from devkit.headroom.calibration import MOST
from devkit.stack.stack import StackRequest

_STACK, _ADDRESSES, _RUNS, _SCENARIOS = "devkit_stack", "devkit_addresses", "devkit_runs", "devkit_scenarios"
_STRETCH = "devkit_stretch"


_STACK_OPTION: dict[str, Any] = {
    "dest": _STACK,
    "choices": STACKS,
    "default": STACKS[0],
    "help": f"what runs Kafka, object store and mock API: {', '.join(STACKS)} (default: {STACKS[0]})",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options `--devkit-…`, and the key for which files are scenarios."""
    group = parser.getgroup("devkit", "enrichment devkit")
    group.addoption("--devkit-stack", **_STACK_OPTION)
    group.addoption(
        "--devkit-addresses",
        dest=_ADDRESSES,
        type=Path,
        metavar="FILE",
        help="YAML file with the addresses of the external stack (default: the DEVKIT_* variables)",
    )
    group.addoption(
        "--devkit-runs",
        dest=_RUNS,
        type=Path,
        default=Path("runs"),
        metavar="DIR",
        help="where scenarios leave their evidence (default: runs)",
    )
    group.addoption(
        "--devkit-stretch",
        dest=_STRETCH,
        type=int,
        choices=range(1, MOST + 1),
        metavar="N",
        help="multiply every duration of each scenario by N and divide every rate by it (default: what a short "
        "calibration of the machine asks for; a run that was short of time is then played again)",
    )
    parser.addini(
        _SCENARIOS, "which files below the root directory are scenarios", type="args", default=["scenarios/*.yaml"]
    )


@pytest.hookimpl(trylast=True)
def pytest_load_initial_conftests(parser: pytest.Parser) -> None:
    """`--stack` for short, unless the suite's own plugins and conftest files, which are loaded by now, have one."""
    with contextlib.suppress(ValueError, argparse.ArgumentError):
        parser.getgroup("devkit").addoption("--stack", **_STACK_OPTION)


def backend(config: pytest.Config) -> str:
    """The name of the stack that was asked for."""
    return str(config.getoption(_STACK))


def stack_request(config: pytest.Config) -> StackRequest:
    """What was asked of it. Raises pytest.UsageError for options that do not fit together."""
    addresses = config.getoption(_ADDRESSES)
    with usage_errors():
        require_addresses_fit(backend(config), addresses)
    return StackRequest(addresses=addresses)


def runs_directory(config: pytest.Config) -> Path:
    """The directory for the evidence of runs."""
    return Path(config.getoption(_RUNS))


def stretch(config: pytest.Config) -> int | None:
    """None leaves it to the calibration of the machine."""
    chosen = config.getoption(_STRETCH)
    return None if chosen is None else int(chosen)


def is_scenario(config: pytest.Config, path: Path) -> bool:
    """Whether a file is one of those that the ini option names."""
    return any(path.match(pattern) and path.is_relative_to(config.rootpath) for pattern in config.getini(_SCENARIOS))


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
    """Turns the kit's usage errors into those of pytest."""
    from devkit.errors import UsageError

    try:
        yield
    except UsageError as error:
        raise pytest.UsageError(error.render()) from error
