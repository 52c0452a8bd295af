from datetime import timedelta
from pathlib import Path

import pytest

from devkit.scenario.load import load_file
from devkit.soak.document import soak_text
from devkit.soak.draw import draw_faults


@pytest.mark.parametrize("seed", range(20))
def test_what_is_drawn_is_a_scenario_that_check_accepts(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "soak.yaml"
    length = timedelta(minutes=2)
    file.write_text(soak_text(seed, length))
    scenario = load_file(file).scenario
    assert [item.name for item in scenario.timeline] == [one.name for one in draw_faults(seed, length)]
    assert scenario.kafka.brokers == 3
    assert scenario.traffic.seed == seed
    assert {expectation.kind for expectation in scenario.expected_of("fixed")} == {"drained", "audit"}
