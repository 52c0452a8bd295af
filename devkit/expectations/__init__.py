"""The expectations a scenario can state, a file each, and the registry that a scenario file is checked against.

An expectation is a mapping with one key, the name of the check: `{restarts: {at_least: 2}}`, `{audit: clean}`.
"""

from devkit.expectations.base import Check, Finding
from devkit.expectations.bounds import Bound
from devkit.expectations.expectation import Expectation
from devkit.expectations.registry import CHECKS

__all__ = ["CHECKS", "Bound", "Check", "Expectation", "Finding"]
