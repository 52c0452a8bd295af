"""All generated pages by their place below `docs/`."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from reference.configuration import configuration
from reference.devkit_command import devkit_command
from reference.error_types import error_types
from reference.exit_codes import exit_codes
from reference.expectations import expectations
from reference.faults import faults
from reference.incidents import incident, names
from reference.log_events import log_events
from reference.metrics import metrics
from reference.mockapi_command import mockapi_command
from reference.pipeline_command import pipeline_command
from reference.recipes import recipes
from reference.run_events import run_events
from reference.scenario import scenario

DIRECTORY = Path(__file__).parents[1] / "docs"
GENERATED = ("incidents", "reference")
"""The directories below it in which no page is written by hand."""

PAGES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "reference/recipes.md": recipes,
        "reference/devkit.md": devkit_command,
        "reference/pipeline.md": pipeline_command,
        "reference/mockapi.md": mockapi_command,
        "reference/scenario.md": scenario,
        "reference/expectations.md": expectations,
        "reference/faults.md": faults,
        "reference/configuration.md": configuration,
        "reference/metrics.md": metrics,
        "reference/log-events.md": log_events,
        "reference/run-events.md": run_events,
        "reference/error-types.md": error_types,
        "reference/exit-codes.md": exit_codes,
        **{f"incidents/{name}.md": partial(incident, name) for name in names()},
    }
)
