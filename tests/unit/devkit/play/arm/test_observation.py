"""What the phases of an arm share, what its observation says besides figures, and what is written down of it."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from devkit.debug.pause_point import PausePoint, Pauses
from devkit.observe.kafka.deferrals import Deferrals
from devkit.observe.latency import EventLatency, Latencies
from devkit.observe.observable import UPSTREAM
from devkit.play.arm.arm_faults import ArmFaults
from devkit.play.arm.clock import ArmClock
from devkit.play.arm.collect import jobs_beside, log_latencies
from devkit.play.arm.collection import Collection
from devkit.play.arm.observation import manual_changes, not_observable_of
from devkit.stack.parts.mock_api import MockChange
from tests.unit.devkit.conftest import Load
from tests.unit.devkit.faults.fakes import Clock
from tests.unit.devkit.play.arm.stage import DIRECT, TOLD, Stage, set_up

AT = datetime(2026, 11, 22, 12, 30, 15, tzinfo=UTC)
HTML_ERRORS = "mw_page_html_content_change_enrich.error"


@pytest.mark.parametrize(
    ("action", "rules", "text"),
    [
        ("added", ("status-504",), "fault 'status-504' was put in by hand"),
        ("removed", ("huge page",), "fault 'huge page' was removed by hand"),
        ("replaced", ("huge page",), "fault 'huge page' was replaced by hand"),
        ("switched off", ("huge page",), "fault 'huge page' was switched off by hand"),
        ("replaced", (), "the mock's rules were replaced by hand"),
        ("populated", (), "the mock got other pages and rules by hand"),
        ("reset", (), "the mock was reset by hand"),
        ("emptied the journal", (), "the mock's journal was emptied by hand"),
    ],
)
def test_what_another_client_changed_of_the_mock_is_told(
    stage: Stage, action: str, rules: tuple[str, ...], text: str
) -> None:
    stage.sample()
    assert manual_changes(stage.arm) == ()
    stage.changes.append(MockChange(n=3, at=AT, action=action, rules=rules, client="127.0.0.1", author="curl/8.5"))
    stage.sample(last=True)
    assert manual_changes(stage.arm) == (f"{text} (12:30:15, curl/8.5 at 127.0.0.1)",)


def test_a_rule_that_was_removed_and_put_back_is_told_though_the_mock_has_forgotten_it(stage: Stage) -> None:
    stage.counts.revision = 3
    stage.changes += [
        MockChange(n=2, at=AT, action="removed", rules=("huge page",)),
        MockChange(n=3, at=AT, action="added", rules=("huge page",)),
    ]
    stage.sample()
    # It was started again and populated.
    stage.changes.clear()
    stage.counts.revision = 1
    stage.sample()
    stage.sample(last=True)
    assert manual_changes(stage.arm) == (
        "fault 'huge page' was removed by hand (12:30:15)",
        "fault 'huge page' was put in by hand (12:30:15)",
    )


def test_what_a_fault_took_from_sight_is_not_seen(stage: Stage) -> None:
    stage.arm.deferrals = cast(Deferrals, SimpleNamespace())
    assert not_observable_of(stage.arm) == frozenset()
    assert stage.timeline() == []
    stage.arm.faults = cast(ArmFaults, SimpleNamespace(not_observable=UPSTREAM))
    assert not_observable_of(stage.arm) == UPSTREAM
    assert [line["observables"] for line in stage.timeline()] == [["upstream"]]


def test_the_arms_clock_stands_still_while_it_is_paused(stage: Stage) -> None:
    time = Clock()
    asked: list[tuple[str, float]] = []

    def gate(name: str) -> None:
        time.now += 1000
        asked.append((name, stage.arm.clock.now_s()))

    stage.arm.context = replace(stage.arm.context, pauses=Pauses((PausePoint("traffic"),), gate, time))
    stage.arm.clock = ArmClock(monotonic=time)
    time.now = 5.0
    assert stage.arm.pause("arm-end") is None
    assert stage.arm.pause("traffic") == 1000.0
    assert asked == [("incident:traffic", 5.0)]  # also who asks during the pause, as a timeline does
    time.now += 2
    assert stage.arm.clock.now_s() == 7.0


def test_what_runs_is_ended_before_what_is_open_is_closed(stage: Stage) -> None:
    ended: list[str] = []
    with stage.arm as arm:
        arm.stopping.callback(ended.append, "program")
        arm.closing.callback(ended.append, "topics")
    assert ended == ["program", "topics"]


def test_the_kit_goes_past_the_proxy_that_leads_programs(stage: Stage) -> None:
    config = stage.main.configured.effective()
    assert (config["source"]["bootstrap_servers"], config["sink"]["bootstrap_servers"]) == (TOLD, TOLD)
    assert stage.arm.bootstrap == DIRECT


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
