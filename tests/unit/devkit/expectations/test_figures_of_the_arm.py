"""Figures of an arm and the ratio of two arms: both ways, and where nothing is known."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from devkit.expectations import Expectation, Finding
from devkit.headroom.shortage import Window
from devkit.headroom.stretched_model import stretched
from devkit.observe.arm_observation import ArmObservation, ComparedArm
from devkit.observe.figures import CheckpointSize
from devkit.observe.latency import EventLatency, Latencies
from tests.unit.devkit.expectations.test_needs import HIDDEN, HIDING
from tests.unit.devkit.observed import A_SAMPLE, an_observation, some_figures

BATCHES = {"batches": ((3.0, 9.5), (5.0, 1.25), (6.0, 1.0))}
SLOWER = {"warm_batches": tuple((at, took) for at, took in enumerate((2.0, 1.0, 2.0, 3.0, 90.0, 4.0, 5.0, 5.0, 7.0)))}
COMMITS = {"commits": ((3.0, 0.2), (5.0, 6.5))}
WATERMARKS = {"watermarks": ((1.0, 0.0), (2.0, 1000.0), (3.0, 1045.0), (4.0, 1045.0))}
SKEW = {"samples": tuple(A_SAMPLE.model_copy(update={"event_time_skew_s": one}) for one in (None, 480.5, 0.0))}
CHECKPOINT = {"checkpoint": CheckpointSize(bytes=3_000_000, files=40)}
THREE_OF_FOUR = {"last_sample": A_SAMPLE.model_copy(update={"partitions": 4, "partitions_read": 3})}

WITHIN = "2 restarts within 10m"
OPENED = "26 connections, 6 of them refused, for 260 requests"
CONNECTED = {"figures": some_figures(connections=26, connections_refused=6)}


def leaving(*, waits: bool = False) -> dict[str, Any]:
    """Of a sick page and healthy ones: 40 events within 4 s, and the last of the sick page after 10 s, or never."""
    healthy = [EventLatency(("enwiki", 1), 100 * n, 0.1, is_emitted=True) for n in range(39)]
    slow = EventLatency(("enwiki", 2), 0, 10.0, is_emitted=not waits)
    return {"latencies": Latencies((*healthy, slow), frozenset({("enwiki", 2)}))}


def written(*batches: int) -> dict[str, Any]:
    """By one process after the other."""
    return {"written_by_process": tuple((9.0 + number, float(count)) for number, count in enumerate(batches))}


def judge(name: str, argument: Any, **changes: Any) -> Finding:
    return Expectation.model_validate({name: argument}).judge(an_observation(**changes))


@pytest.mark.parametrize(
    ("name", "argument", "changes", "measured", "holds"),
    [
        ("batch_time", {"at_most": "6s"}, BATCHES, "9.50s (of 3 batches)", False),
        ("batch_time", {"of": "lowest", "at_most": "1s"}, BATCHES, "1.00s (of 3 batches)", True),
        ("batch_time", {"at_most": "6s"}, {}, "n/a: no batch was written", None),
        ("batch_growth", {"at_least": 4}, SLOWER, "4.00 (of 9 batches)", True),
        ("batch_growth", {"at_least": 5}, SLOWER, "4.00 (of 9 batches)", False),
        ("batch_growth", {"at_least": 2}, BATCHES, "n/a: fewer than 4 batches came after", None),
        ("restart_progress", {"at_most": 0.5}, written(9, 1), "0.11 (1 of 9 batches)", True),
        ("restart_progress", {"at_most": 0.5}, written(10, 0), "0.00 (0 of 10 batches)", True),
        ("restart_progress", {"at_most": 0.5}, written(4, 3, 9), "0.75 (3 of 4 batches)", False),
        ("restart_progress", {"at_most": 0.5}, written(9), "n/a: fewer than two processes", None),
        ("restart_progress", {"at_most": 0.5}, written(0, 3), "n/a: fewer than two processes", None),
        ("commit_time", {"at_least": "6s"}, COMMITS, "6.50s (of 2 commits)", True),
        ("commit_time", {"at_most": "6s"}, COMMITS, "6.50s (of 2 commits)", False),
        ("commit_time", {"of": "lowest", "at_most": "1s"}, COMMITS, "0.20s (of 2 commits)", True),
        ("commit_time", {"at_most": "1s"}, {}, "n/a: no commit was reported", None),
        ("watermark_step", {"at_most": "1m"}, WATERMARKS, "45.0s (of 2 steps)", True),
        ("watermark_step", {"at_least": "1m"}, WATERMARKS, "45.0s (of 2 steps)", False),
        ("watermark_step", {"at_most": "1m"}, {}, "n/a: the main program reported no watermark", None),
        ("watermark_stood", {"at_least": "9s"}, WATERMARKS | {"duration_s": 12.0}, "9.0s (of 3 times)", True),
        ("watermark_stood", {"at_most": "1s", "of": "lowest"}, WATERMARKS, "1.0s (of 3 times)", True),
        ("watermark_stood", {"at_most": "1m"}, {}, "n/a: the main program reported no watermark", None),
        ("late_dropped", {"at_least": 1}, {"late_dropped": 4331}, "4331", True),
        ("late_dropped", 0, {"late_dropped": 4331}, "4331", False),
        ("late_dropped", 0, {}, "n/a: the main program reported no state", None),
        ("event_time_skew", {"at_least": "2m"}, SKEW, "480.5s (of 2 looks)", True),
        ("event_time_skew", {"at_most": "2m"}, SKEW, "480.5s (of 2 looks)", False),
        ("event_time_skew", {"of": "last", "at_most": "2m"}, SKEW, "0.0s (of 2 looks)", True),
        ("event_time_skew", {"at_most": "2m"}, {}, "n/a: it was not looked at", None),
        ("checkpoint_size", {"at_least": "2MiB"}, CHECKPOINT, "3,000,000 bytes in 40 files", True),
        ("checkpoint_size", {"at_most": "2MiB"}, CHECKPOINT, "3,000,000 bytes in 40 files", False),
        ("checkpoint_size", {"at_most": "2MiB"}, {}, "n/a: no checkpoint was looked at", None),
        ("checkpoint_files", {"at_least": 40}, CHECKPOINT, "40", True),
        ("checkpoint_files", {"at_most": 39}, CHECKPOINT | BATCHES, "40, of 3 batches", False),
        ("checkpoint_files", {"at_most": 39}, {}, "n/a: no checkpoint was looked at", None),
        ("partitions_read", "100%", THREE_OF_FOUR, "3 of 4 partitions", False),
        ("partitions_read", {"at_least": "75%"}, THREE_OF_FOUR, "3 of 4 partitions", True),
        ("partitions_read", "100%", {}, "n/a: no source partition has an event", None),
        ("rate", {"at_most": "5/s"}, leaving(), "4.0/s (40 events)", True),
        ("rate", {"at_least": "5/s"}, leaving(waits=True), "3.9/s (39 events, 1 wait)", False),
        ("rate", {"of": "healthy", "at_least": "9/s"}, leaving(), "10.0/s (39 events)", True),
        ("rate", {"at_least": "1/s"}, {"latencies": Latencies()}, "n/a: no event had to leave, or none is known", None),
        ("rate", {"of": "healthy", "at_least": "1/s"}, {"latencies": Latencies()}, "n/a: no event had to leave", None),
        ("connections", {"at_most": 60}, CONNECTED, f"26 ({OPENED})", True),
        ("connections", {"of": "refused", "at_most": 0}, CONNECTED, f"6 ({OPENED})", False),
        ("connections", {"of": "per_request", "at_most": 0.1}, CONNECTED, f"0.1 ({OPENED})", True),
        ("connections", {"of": "per_request", "at_least": 0.9}, CONNECTED, f"0.1 ({OPENED})", False),
        ("connections", {"at_most": 60}, {"figures": some_figures(requests=0)}, "no request came", False),
        ("gave_up", True, {"gave_up": True, "restarts": 3}, "gave up after 3 restarts", True),
        (
            "gave_up",
            True,
            {"gave_up": True, "gave_up_after": "2 restarts within 1m"},
            "gave up after 2 restarts w",
            True,
        ),
        ("gave_up", True, {"restarts": 3}, "not given up after 3 restarts", False),
        ("gave_up", False, {}, "not given up after 0 restarts", True),
        ("gave_up", {"it_did": False}, {"gave_up": True}, "gave up after 0 restarts", False),
    ],
)
def test_measured(name: str, argument: Any, changes: dict[str, Any], measured: str, holds: bool | None) -> None:
    finding = judge(name, argument, **changes)
    assert (finding.measured.startswith(measured), finding.holds) == (True, holds), finding


def test_times_and_rates_are_stretched() -> None:
    slow = stretched(Expectation.model_validate({"commit_time": {"at_least": "6s"}}), 3)
    assert str(slow.argument) == "highest at least 18s"
    rate = stretched(Expectation.model_validate({"rate": {"at_least": "30/s", "of": "healthy"}}), 3)
    assert str(rate.argument) == "at least 10/s (events of healthy pages)"


def delivering(events: int, seconds: float) -> ArmObservation:
    each = tuple(EventLatency(("enwiki", 1), 0, seconds, is_emitted=True) for _ in range(events))
    figures = some_figures(amplification=events / 10, peak_queue=events)
    return an_observation(latencies=Latencies(each, frozenset()), figures=figures, restarts=0)


SLOW, FAST = delivering(40, 20.0), delivering(40, 2.0)


def judge_ratio(argument: dict[str, Any], **short: str) -> Finding:
    arms = {"incident": SLOW, "fixed": FAST, "idle": an_observation(latencies=Latencies(), restarts=2)}
    compared = {name: ComparedArm(one, short.get(name, "")) for name, one in arms.items()}
    return Expectation.model_validate({"compare": argument}).judge(an_observation(arms=compared))


BOTH = ["fixed", "incident"]
RATES = "rate of fixed / rate of incident at least 8"
EIGHTFOLD = Expectation.model_validate({"compare": {"rate": {"arms": BOTH, "at_least": 8}}})


@pytest.mark.parametrize(
    ("argument", "expected", "measured", "holds"),
    [
        ({"rate": {"of": "healthy", "arms": BOTH, "at_least": 8}}, RATES, "10.00 (20 / 2)", True),
        ({"rate": {"arms": BOTH, "at_least": 11}}, None, "10.00 (20 / 2)", False),
        ({"latency": {"percentile": 50, "arms": ["incident", "fixed"], "at_least": 10}}, None, "10.00 (20 / 2)", True),
        ({"amplification": {"arms": BOTH, "at_most": 1}}, None, "1.00 (4 / 4)", True),
        ({"restarts": {"arms": ["idle", "fixed"], "at_least": 2}}, None, "inf (2 / 0)", True),
        ({"restarts": {"arms": ["fixed", "idle"], "at_least": 2}}, None, "0.00 (0 / 2)", False),
        ({"restarts": {"arms": BOTH, "at_least": 2}}, None, "n/a: it is 0 in both arms", None),
        ({"rate": {"arms": ["fixed", "idle"], "at_least": 2}}, None, "n/a: arm idle has no rate", None),
        ({"rate": {"arms": ["fixed", "other"], "at_least": 2}}, None, "n/a: arm other was not played", None),
        ({"memory": {"kind": "JVM", "arms": BOTH, "at_most": 2}}, None, "n/a: arm fixed has no memory", None),
    ],
)
def test_ratio(argument: dict[str, Any], expected: str | None, measured: str, holds: bool | None) -> None:
    finding = judge_ratio(argument)
    assert (finding.measured, finding.holds) == (measured, holds)
    assert expected in (None, finding.expected)


def test_a_figure_of_an_arm_that_was_short_of_time_says_nothing_where_it_depends_on_it() -> None:
    rate = judge_ratio({"rate": {"arms": BOTH, "at_least": 8}}, incident="the machine was short of time")
    assert (rate.measured, rate.holds, rate.short) == ("n/a in arm incident", None, "the machine was short of time")
    claims = judge_ratio({"claim_checks": {"arms": BOTH, "at_least": 8}}, incident="the machine was short of time")
    assert claims.measured == "n/a: it is 0 in both arms"


def test_what_is_not_observable_of_an_arm_is_not_compared() -> None:
    blind = an_observation(not_observable=frozenset({"sources"}))
    arms = {"incident": ComparedArm(blind), "fixed": ComparedArm(FAST)}
    assert EIGHTFOLD.judge(an_observation(arms=arms)).holds is None
    assert EIGHTFOLD.depends_on_time(an_observation(arms=arms)) == "arm"


@pytest.mark.parametrize(
    ("figure", "window"),
    [
        ({"latency": {"percentile": 95, "arms": BOTH, "at_least": 2}}, "arm"),
        ({"rate": {"arms": BOTH, "at_least": 2}}, "arm"),
        ({"claim_checks": {"arms": BOTH, "at_least": 2}}, None),
    ],
)
def test_it_depends_on_time_where_its_figure_does(figure: dict[str, Any], window: Window | None) -> None:
    arms = {"incident": ComparedArm(SLOW), "fixed": ComparedArm(FAST)}
    assert Expectation.model_validate({"compare": figure}).depends_on_time(an_observation(arms=arms)) == window


def test_a_ratio_is_not_stretched() -> None:
    assert str(stretched(EIGHTFOLD, 3).argument) == str(EIGHTFOLD.argument)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"rat": {"arms": BOTH, "at_least": 8}}, "'rat' has no figure to compare; did you mean 'rate'"),
        ({"audit": {"arms": BOTH, "at_least": 8}}, "'audit' has no figure to compare"),
        ({"rate": {"arms": BOTH}}, "rate: write at_least, at_most"),
        ({"rate": {"arms": ["fixed", "fixed"], "at_least": 8}}, "an arm is not compared with itself: fixed"),
        ({"rate": {"at_least": 8}}, "rate.arms: Field required"),
        ({"rate": {"arms": BOTH, "off": "healthy", "at_least": 8}}, "rate.off: Extra inputs are not permitted"),
        ({"rate": {"arms": BOTH, "of": "helthy", "at_least": 8}}, "rate.of: Input should be 'all' or 'healthy'"),
        ({}, "write one figure and the arms"),
    ],
)
def test_refused(argument: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Expectation.model_validate({"compare": argument})


def test_not_where_a_fault_took_records_away() -> None:
    arms = {"incident": ComparedArm(replace(SLOW, evidence=(HIDING,))), "fixed": ComparedArm(FAST)}
    finding = EIGHTFOLD.judge(an_observation(arms=arms))
    assert (finding.holds, finding.measured) == (None, f"n/a: of arm incident: {HIDDEN}")
