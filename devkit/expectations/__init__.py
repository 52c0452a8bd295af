"""The expectations a scenario can state, a file each, and the registry that a scenario file is checked against.

An expectation is a mapping with one key, its name: `{restarts: {at_least: 2}}`, `{audit: clean}`. Another package adds
one with `register`.
"""

from devkit.expectations.base import NOTHING, ExpectationKind, Finding
from devkit.expectations.bounds import Bound
from devkit.expectations.expectation import Expectation, StatedExpectation, register
from devkit.expectations.registry import EXPECTATIONS

__all__ = [
    "EXPECTATIONS",
    "NOTHING",
    "Bound",
    "Expectation",
    "ExpectationKind",
    "Finding",
    "StatedExpectation",
    "register",
]
