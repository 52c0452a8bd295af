import pytest

from benchmarks.verdicts.machine import Machine
from benchmarks.verdicts.table import Run, is_as_it_should_be, table
from devkit.headroom.calibration import Calibration
from devkit.headroom.headroom_figures import ArmHeadroom, RunHeadroom
from devkit.observe.figures import FlatCommit
from devkit.report.result import Result
from tests.unit.devkit.observed import some_figures
from tests.unit.devkit.report import storm

IDLE = Calibration(quantum_s=0.004, baseline="measured", measured_s=0.004, slowdown=1.1)
FLAT = FlatCommit(duration_s=3, from_s=8, committed=0, source_end=9, median_cpu_cores=None, mean_cpu_cores=None)


def a_result(stretch: int) -> Result:
    result = storm.result()
    slowdowns = {"slowdown": 2.0, "worst_slowdown": 3.5, "worst_from_s": 4, "limit": 5, "core_slowdown": 1}
    headroom = ArmHeadroom.model_validate({**slowdowns, "others_cores": None, "pressure": None})
    figures = some_figures(flat_commit=FLAT)
    fixed = result.arms["fixed"].model_copy(update={"headroom": headroom, "duration_s": 20.0, "figures": figures})
    run = RunHeadroom(margin=5, stretch=stretch, stretch_by="calibration", calibration=IDLE)
    return result.model_copy(update={"arms": {**result.arms, "fixed": fixed}, "headroom": run})


@pytest.mark.parametrize(
    ("machine", "codes", "good"),
    [
        ("busy", [0, 0, 0], True),
        ("busy", [0, 3, 0], True),
        ("busy", [3, 3, 0], False),
        ("busy", [0, 1, 0], False),
        ("busy", [0, 2], False),
        ("alone", [0, 0], True),
        ("alone", [0, 3], False),
        ("one core", [0, 3], False),
    ],
)
def test_what_the_exit_codes_may_be(machine: Machine, codes: list[int], good: bool) -> None:
    assert is_as_it_should_be(machine, codes) == good


def test_a_row_for_each_scenario_on_each_machine() -> None:
    runs = [
        Run("a-storm", "busy", 0, 61.2, a_result(1), 60, 12),
        Run("a-storm", "busy", 0, 122.0, a_result(2), 60, 12),
        Run("a-storm", "alone", 3, 50.0, None, 60, 12),
    ]
    header, _, busy, alone = table(runs).splitlines()
    cells = dict(zip(header.split("|"), busy.split("|"), strict=True))
    found = {name.strip(): cell.strip() for name, cell in cells.items()}
    assert (found["runs"], found["exit 0"], found["3"], found["stretch"]) == ("2", "2", "0", "1…2")
    assert (found["deadline / arm"], found["stall / flat"], found["worst 10 s"]) == ("3…6", "4…8", "3.5")
    assert alone.endswith("| **NOT AS IT SHOULD BE** |")
