from pathlib import Path

import pytest

from devkit.cli.stack_options import STACKS, require_addresses_fit
from devkit.errors import UsageError
from devkit.stack.registry import BACKENDS, DEFAULT


def test_the_command_line_offers_what_there_is() -> None:
    assert tuple(BACKENDS) == STACKS
    assert STACKS[0] == DEFAULT


@pytest.mark.parametrize("backend", [name for name in STACKS if name != "external"])
def test_addresses_for_a_stack_that_starts_its_own(backend: str) -> None:
    with pytest.raises(UsageError, match=f"--stack {backend} starts its own") as caught:
        require_addresses_fit(backend, Path("x.yaml"))
    assert caught.value.exit_code == 2
    require_addresses_fit(backend, None)


def test_addresses_for_one_that_is_there() -> None:
    require_addresses_fit("external", Path("x.yaml"))
