"""Checks of this machine for what a run needs: `run_checks`."""

from devkit.doctor.finding import MachineFinding, Status
from devkit.doctor.registry import CHECKS, run_checks

__all__ = ["CHECKS", "MachineFinding", "Status", "run_checks"]
