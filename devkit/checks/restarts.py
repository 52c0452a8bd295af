"""How often the supervisor restarted the pipeline."""

from devkit.checks.base import Count

RESTARTS = Count("restarts", lambda observation: observation.restarts)
