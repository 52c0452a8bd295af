"""How often the supervisor restarted the pipeline."""

from devkit.checks.base import Measure

RESTARTS = Measure("restarts", lambda observation: observation.restarts)
