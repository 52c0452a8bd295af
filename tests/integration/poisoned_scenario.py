"""Scenarios of a program that ends at one event: quick to play, as nothing of them needs Spark."""

import json
import shlex
import sys
from pathlib import Path

HERE = Path(__file__).parent
RUN = shlex.join(["command", sys.executable, str(HERE / "poisoned_pipeline.py")])


def write_scenario(name: str, directory: Path) -> str:
    """The file of that name, with the command of this checkout in it; returns where it is."""
    scenario = directory / f"{name}.yaml"
    text = (HERE / "scenarios" / scenario.name).read_text()
    assert "run: RUN" in text
    scenario.write_text(text.replace("run: RUN", f"run: {json.dumps(RUN)}"))
    return str(scenario)
