"""The command line of a pipeline process, for whoever starts one."""

import sys
from pathlib import Path


def pipeline_command(job: str, config_file: Path, *options: str) -> list[str]:
    """Runs `job` with the configuration in a file; `options` say where it begins and what it accepts."""
    return [sys.executable, "-m", "pipeline", "run", job, "--config", str(config_file), *options]
