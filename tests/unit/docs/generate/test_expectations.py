"""Every expectation says what it measures, with an example that a scenario may state."""

import pytest
from ruamel.yaml import YAML

from devkit.expectations import Expectation
from devkit.expectations.registry import EXPECTATIONS
from docs.generate.expectations import expectations

PAGE = expectations()


@pytest.mark.parametrize("name", EXPECTATIONS)
def test_an_expectation_is_described_and_its_example_is_one(name: str) -> None:
    kind = EXPECTATIONS[name]
    assert kind.summary.endswith(".")
    Expectation.model_validate(YAML(typ="safe", pure=True).load(f"{name}: {kind.example}"))
    assert f"| `{name}: {kind.example}` |" in PAGE


def test_a_default_is_said() -> None:
    assert "`of`: `all` or `after fault` (default: `all`)" in PAGE
    assert "`of`: `all` or `healthy` (default: `all`)" in PAGE
