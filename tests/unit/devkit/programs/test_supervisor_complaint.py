"""What a program is quoted with that reported no error itself: by its processes' ends and logs."""

from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from devkit.guardian import Guardian
from devkit.programs.launch import Addition, Launch
from devkit.programs.program_state import ProgramState
from devkit.programs.spark.view import SparkView
from devkit.programs.supervisor import Supervisor
from devkit.programs.supervisor_policy import SupervisorPolicy
from tests.unit.devkit.programs.file_guardian import FileGuardian

PIPELINE = Launch(("python",), {}, first=Addition(()))


@pytest.mark.parametrize(
    ("code", "printed"),
    [(-9, "at offset 17\n"), (-9, ""), (-15, "at offset 17\n"), (1, "")],
    ids=["killed", "killed in silence", "terminated", "ended in silence"],
)
def test_a_process_that_has_nothing_to_say_of_its_end_is_not_quoted(tmp_path: Path, code: int, printed: str) -> None:
    """What one had printed that a fault killed names no problem; a later one may."""
    guardian = FileGuardian(tmp_path)
    supervisor = Supervisor(
        cast(Guardian, guardian),
        SparkView(ProgramState()),
        logs=tmp_path / "logs",
        policy=SupervisorPolicy(delay=timedelta(0)),
        may_never_run=True,
    )

    def ends(exit_code: int, printed: str) -> None:
        guardian.started[-1].stderr = tmp_path / f"{len(guardian.started)}.log"
        guardian.started[-1].stderr.write_text(printed)
        guardian.started[-1].exit_code = exit_code
        list(supervisor.poll())

    def complains() -> int | None:
        complaint = supervisor.last_complaint()
        return None if complaint is None else complaint.process

    supervisor.start(PIPELINE)
    ends(code, printed)
    assert complains() is None
    list(supervisor.poll())
    ends(1, "error: no such topic\n")
    assert complains() == 2
