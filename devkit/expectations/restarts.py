"""How often the supervisor restarted the pipeline."""

from devkit.expectations.base import Measure
from devkit.expectations.timing import of_restarts

RESTARTS = Measure("restarts", lambda observation: observation.restarts, timing=of_restarts)
