"""How many source events ever stood in the deferral topic."""

from devkit.expectations.base import Measure

DEFERRED = Measure("deferred", lambda observation: observation.figures.deferred_ever)
