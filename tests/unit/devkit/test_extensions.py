"""What the kit asks of extensions besides loading them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from devkit.errors import UsageError
from devkit.extensions import GROUPS, load_extensions_of, require_here
from located_config import extension, registry
from located_config.registry import Addition
from mockapi import inputs as of_mock
from pipeline.jobs import extensions as of_pipeline

BODY = Addition("fault of the mock", "body", "my_fault", "/home/me/my_fault.py:7")


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the fault `body` were of an extension."""
    monkeypatch.setattr(registry, "_additions", [BODY])
    monkeypatch.setattr(extension, "_loaded", {})


def test_the_kit_loads_what_each_of_the_other_two_loads() -> None:
    assert {of_mock.GROUP, of_pipeline.GROUP} < set(GROUPS)


def test_what_an_image_does_not_have_is_refused_with_its_place() -> None:
    with pytest.raises(UsageError, match=r"fault of the mock 'body' is added at /home/me/my_fault.py:7, and the image"):
        require_here("fault of the mock", ["latency", "body"], where="the image")


def test_what_it_has_is_not() -> None:
    require_here("fault of the mock", ["latency"], where="the image")
    require_here("job", ["body"], where="the image")


@pytest.mark.parametrize("written", ["./my_fault.py", None, {"a": 1}])
def test_what_is_no_list_is_left_to_the_model(written: Any) -> None:
    document: Any = SimpleNamespace(get=lambda _key: written)
    load_extensions_of(Path("scenario.yaml"), document)
    assert extension._loaded == {}
