"""The copy is what runs, and its edits are undone."""

from pathlib import Path

import pytest

from tests.mutants.model import Process
from tests.mutants.tree import process_kind

TOP = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (["python", "-m", "pytest", "-q"], "test"),
        (["python", "-m", "pipeline.worker.daemon", "pyspark.worker"], "worker"),
        (["python", "/tree/tests/integration/crash/launcher.py", "run"], "driver"),
        (["python", "-m", "pipeline", "run"], "driver"),
    ],
)
def test_a_process_is_known_by_its_command_line(argv: list[str], kind: Process) -> None:
    assert process_kind(argv) == kind
