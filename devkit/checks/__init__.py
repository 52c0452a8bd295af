"""The expectations a scenario can state, a file each, and the registry that a scenario file is checked against.

An expectation is a mapping with one key, the name of the check: `{restarts: {at_least: 2}}`, `{audit: clean}`.
"""

from devkit.checks.base import Check, Finding
from devkit.checks.bounds import Bound
from devkit.checks.expectation import Expectation
from devkit.checks.registry import CHECKS

__all__ = ["CHECKS", "Bound", "Check", "Expectation", "Finding"]
