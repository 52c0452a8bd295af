"""How often the supervisor restarted the pipeline."""

from devkit.expectations.base import Measure

RESTARTS = Measure("restarts", lambda observation: observation.restarts)
