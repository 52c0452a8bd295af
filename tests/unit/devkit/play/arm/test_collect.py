"""What is written down of an arm that has ended."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from devkit.observe.latency import EventLatency, Latencies
from devkit.play.arm.clock import ArmClock
from devkit.play.arm.collect import jobs_beside, log_latencies
from devkit.play.arm.collection import Collection
from tests.unit.devkit.conftest import Load
from tests.unit.devkit.play.arm.stage import Stage, set_up

HTML_ERRORS = "mw_page_html_content_change_enrich.error"


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


def test_a_long_phase_is_told_again_while_it_lasts(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def beat(write_line: Callable[[str], None], text: str) -> AbstractContextManager[None]:
        write_line(f"{text}, 20 s so far")
        return nullcontext()

    monkeypatch.setattr("devkit.play.arm.log.heartbeat", beat)
    with stage.arm.log.during("audit", "every input"):
        pass
    lines = [line.split("s incident ")[1] for line in stage.output.getvalue().splitlines()]
    assert lines == ["audit: every input", "audit: every input, 20 s so far"]
    assert [line["phase"] for line in stage.timeline()] == ["audit"]


@pytest.mark.parametrize(
    ("run", "configuration", "found"),
    [
        ("pipeline content-enrichment", f"{{ sink: {{ error_topic: {HTML_ERRORS} }} }}", {"content-enrichment"}),
        ("pipeline content-enrichment", "{}", set()),
        # Nothing tells whose an error event is.
        ("pipeline html-enrichment", "{ sink: { topic: other.v1 } }", set()),
        ("consumer html-enrichment", "{}", set()),
    ],
)
def test_jobs_beside_are_those_that_share_its_error_topic(
    tmp_path: Path, load: Load, run: str, configuration: str, found: set[str]
) -> None:
    beside = f"beside: {{ run: {run}, configuration: {configuration} }}"
    programs = f"programs: {{ html: {{ run: pipeline html-enrichment }}, {beside} }}\nuntil:"
    with set_up(load(("until:", programs)), tmp_path) as stage:
        assert jobs_beside(stage.arm) == found
