import json
from dataclasses import asdict
from pathlib import Path

import pytest

from pipeline.capacity.costs import MEASURED, MIB, Costs

REPOSITORY = Path(__file__).parents[4]
IN_THE_PIPELINE = ("worker_s", "worker_s_per_mib", "jvm_s", "jvm_s_per_mib", "batch_s")


@pytest.mark.parametrize("name", IN_THE_PIPELINE)
def test_what_is_reckoned_with_is_what_was_measured(name: str) -> None:
    measured = json.loads((REPOSITORY / MEASURED).read_text())["costs"]
    assert asdict(Costs())[name] == pytest.approx(measured[name], rel=0.25)


def test_nobody_else_is_on_the_cores_in_production() -> None:
    assert Costs().elsewhere_s == Costs().elsewhere_s_per_mib == 0


def test_an_event_costs_what_it_is_and_what_it_weighs() -> None:
    costs = Costs(worker_s=1, worker_s_per_mib=2, jvm_s=4, jvm_s_per_mib=8, elsewhere_s=16, elsewhere_s_per_mib=32)
    assert costs.worker(MIB // 2) == 2
    assert costs.everything(MIB // 2) == 1 + 4 + 16 + (2 + 8 + 32) / 2
