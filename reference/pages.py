"""All reference pages by file name."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from reference.configuration import configuration
from reference.devkit_command import devkit_command
from reference.error_types import error_types
from reference.exit_codes import exit_codes
from reference.expectations import expectations
from reference.faults import faults
from reference.log_events import log_events
from reference.metrics import metrics
from reference.mockapi_command import mockapi_command
from reference.pipeline_command import pipeline_command
from reference.recipes import recipes
from reference.scenario import scenario

DIRECTORY = Path(__file__).parents[1] / "docs" / "reference"

PAGES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "recipes.md": recipes,
        "devkit.md": devkit_command,
        "pipeline.md": pipeline_command,
        "mockapi.md": mockapi_command,
        "scenario.md": scenario,
        "expectations.md": expectations,
        "faults.md": faults,
        "configuration.md": configuration,
        "metrics.md": metrics,
        "log-events.md": log_events,
        "error-types.md": error_types,
        "exit-codes.md": exit_codes,
    }
)
