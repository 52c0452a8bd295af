"""What is written down of an arm that has ended."""

from types import SimpleNamespace
from typing import cast

from devkit.observe.latency import EventLatency, Latencies
from devkit.scenario.arm.clock import ArmClock
from devkit.scenario.arm.collect import log_latencies
from devkit.scenario.arm.collection import Collection
from tests.unit.devkit.scenario.arm.stage import Stage


def test_latencies_are_told_by_the_second_of_publishing(stage: Stage) -> None:
    events = (
        EventLatency(None, 10_900, 0.5, is_emitted=True),
        EventLatency(None, 12_100, 2.0, is_emitted=True),
        EventLatency(None, 12_999, 1.0, is_emitted=False),
    )
    stage.arm.clock = ArmClock(wall=lambda: 9_500)
    stage.arm.state.paused_before_traffic_s = 0.5
    log_latencies(stage.arm, cast(Collection, SimpleNamespace(latencies=Latencies(events))))
    assert [{key: line[key] for key in line if key != "t_s"} for line in stage.timeline()] == [
        {"kind": "latency", "arm": "incident", "at_s": 0, "count": 1, "waiting": 0, "p50_s": 0.5, "p95_s": 0.5,
         "p99_s": 0.5},
        {"kind": "latency", "arm": "incident", "at_s": 2, "count": 2, "waiting": 1, "p50_s": 2.0, "p95_s": None,
         "p99_s": None},
    ]  # fmt: skip
