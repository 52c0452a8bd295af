"""All generated pages by their place below `docs/`."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from docs.generate.apply_configuration import apply_configuration
from docs.generate.configuration import configuration
from docs.generate.devkit_command import devkit_command
from docs.generate.error_types import error_types
from docs.generate.exit_codes import exit_codes
from docs.generate.expectations import expectations
from docs.generate.faults import faults
from docs.generate.incidents import incident, names
from docs.generate.log_events import log_events
from docs.generate.metrics import metrics
from docs.generate.mockapi_command import mockapi_command
from docs.generate.pipeline_command import pipeline_command
from docs.generate.recipes import recipes
from docs.generate.run_events import run_events
from docs.generate.scenario import scenario

DIRECTORY = Path(__file__).parents[1]
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
        "reference/apply-configuration.md": apply_configuration,
        "reference/metrics.md": metrics,
        "reference/log-events.md": log_events,
        "reference/run-events.md": run_events,
        "reference/error-types.md": error_types,
        "reference/exit-codes.md": exit_codes,
        **{f"incidents/{name}.md": partial(incident, name) for name in names()},
    }
)
