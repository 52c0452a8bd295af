"""What a run needs of this machine, checked before it is missed: `run_checks`, one file a check."""

from devkit.doctor.finding import MachineFinding, Status
from devkit.doctor.registry import CHECKS, run_checks

__all__ = ["CHECKS", "MachineFinding", "Status", "run_checks"]
