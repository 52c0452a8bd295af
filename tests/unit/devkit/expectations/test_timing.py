"""Which findings depend on time, and on how much of it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from devkit.container.kill import ContainerFigures, ContainerKill
from devkit.container.memory import TreeMemory
from devkit.expectations import EXPECTATIONS, Expectation
from devkit.expectations.timing import end_window
from devkit.headroom.shortage import Window
from devkit.observe.arm_end import EndByCondition
from devkit.observe.figures import FlatCommit
from devkit.observe.logs.logs import LoggedException
from tests.unit.devkit.observed import an_audit, an_observation, observed_with, some_figures

STALLED = "no commit within 12 s: batch 0 is still at work"
FLAT = FlatCommit(duration_s=17.5, from_s=8, committed=0, source_end=500, median_cpu_cores=0.1, mean_cpu_cores=0.2)
OBSERVED = an_observation(figures=some_figures(flat_commit=FLAT))

EACH: tuple[tuple[str, object, Window | None], ...] = (
    ("restarts", 0, "commit"),
    ("replays", 0, "commit"),
    ("replayed_offsets", 0, "commit"),
    ("exception", {"class": "RecordTooLargeException"}, None),
    ("failure", {"message": "x"}, None),
    ("refused", {"message": "x"}, None),
    ("never_ran", True, "arm"),
    ("other_settings", 0, None),
    ("past_failed_batch", 0, None),
    ("flat_commit", {"at_least": "15s"}, timedelta(seconds=15)),
    ("idle_cpu", {"at_most": 1}, timedelta(seconds=17.5)),
    ("amplification", {"at_most": 2}, "arm"),
    ("requests", {"rule": "slow", "at_most": 2}, "arm"),
    ("abandoned", {"at_most": "50%"}, "arm"),
    ("success_rate", {"at_least": "50%"}, "arm"),
    ("peak_queue", {"at_least": 100}, "arm"),
    ("connections", {"at_most": 60}, "arm"),
    ("audit", "clean", None),
    ("error_events", {"type": "revision_not_found"}, None),
    ("drained", True, "arm"),
    ("deferred", {"at_least": 3}, "commit"),
    ("batch_budget", 0, "commit"),
    ("latency", {"percentile": 95, "at_most": "20s"}, timedelta(seconds=20)),
    ("claim_checks", 1, None),
    ("metric_exists", {"name": "lag", "above": 0.5}, "arm"),
    ("compare", {"rate": {"arms": ["fixed", "incident"], "at_least": 8}}, None),
    ("rate", {"at_most": "20/s"}, "arm"),
    ("partitions_read", "100%", None),
    ("batch_time", {"at_least": "6s"}, timedelta(seconds=6)),
    ("batch_growth", {"at_least": 2}, "arm"),
    ("restart_progress", {"at_most": 0.5}, "commit"),
    ("checkpoint_files", 9, None),
    ("commit_time", {"at_least": "6s"}, timedelta(seconds=6)),
    ("checkpoint_size", {"at_most": "1MiB"}, None),
    ("event_time_skew", {"at_most": "1m"}, "arm"),
    ("late_dropped", 0, None),
    ("watermark_step", {"at_most": "1m"}, "arm"),
    ("watermark_stood", {"at_most": "1m"}, "arm"),
    ("gave_up", True, "commit"),
    ("metric", {"name": "lag", "at_most": 3}, "arm"),
    ("memory", {"at_most": "2GiB"}, None),
    ("memory", {"of": "slope", "at_most": "2MiB"}, "arm"),
    ("lag", {"at_most": 3}, "arm"),
    ("metric_missing", {"name": "lag"}, None),
    ("container_kills", 1, None),
    ("peak_memory", {"at_most": "2GiB"}, None),
    ("store_matches", True, None),
    ("differing_entities", 0, None),
    ("divergence", 0, "arm"),
    ("log", {"event": "waiting"}, "arm"),
)


def expecting(name: str, argument: object) -> Expectation:
    return Expectation.model_validate({name: argument})


@pytest.mark.parametrize(("name", "argument", "window"), EACH)
def test_each_says_whether_it_depends_on_time(name: str, argument: object, window: Window | None) -> None:
    assert expecting(name, argument).depends_on_time(OBSERVED) == window


def test_none_is_left_out() -> None:
    assert {name for name, _, _ in EACH} == set(EXPECTATIONS)


TIMED_OUT = "query failed: org.apache.kafka.common.errors.TimeoutException: Expiring 3 record(s) for out-0"
RESTARTS: dict[str, tuple[dict[str, Any], Window | None]] = {
    "of which the process said something else": ({"restarts": 2, "failures": ("too large", "too large")}, None),
    "one of which was by a stall": (
        {"restarts": 2, "failures": ("too large", "too large"), "stalls": ("too large",)},
        "commit",
    ),
    "of the second of which nothing is known": ({"restarts": 2, "failures": ("too large",)}, "commit"),
    "by the timeout of a client": ({"restarts": 2, "failures": ("too large", TIMED_OUT)}, "commit"),
    "by a stall that names a timeout as well, which is one failure": (
        {"restarts": 1, "failures": (TIMED_OUT, "too large"), "stalls": (TIMED_OUT,)},
        None,
    ),
}


@pytest.mark.parametrize("name", ["restarts", "replays", "replayed_offsets"])
@pytest.mark.parametrize(("changes", "window"), RESTARTS.values(), ids=RESTARTS)
def test_a_count_of_restarts_does(name: str, changes: dict[str, Any], window: Window | None) -> None:
    expectation = expecting(name, {"at_least": changes["restarts"]})
    assert expectation.depends_on_time(observed_with(OBSERVED, **changes)) == window


def logged(name: str, *messages: str) -> dict[str, Any]:
    return {"exceptions": tuple(LoggedException(1, name, text) for text in messages)}


EXPIRED = logged("TimeoutException", "Expiring 3 record(s)")
STALL = {"failures": ("too large", STALLED), "stalls": (STALLED,)}
STALL_BEFORE = {"failures": (STALLED, "too large"), "stalls": (STALLED,)}
FETCH_TIMED_OUT = {"audit": an_audit(misrouted=1, timed_out=1)}
# An event that left otherwise for another reason shows what any machine would have.
LEFT_OTHERWISE = {"audit": an_audit(misrouted=1)}


@pytest.mark.parametrize(
    ("name", "argument", "changes", "window"),
    [
        ("failure", {"message": "Expiring"}, {"failures": ("too large", TIMED_OUT)}, "commit"),
        ("failure", {"message": "too large"}, {"failures": ("too large", TIMED_OUT)}, None),
        ("failure", {"message": "no commit within"}, STALL, "commit"),
        ("failure", {"message": "too large"}, STALL, None),
        ("exception", {"class": "KafkaException"}, logged("KafkaException", "code=_TIMED_OUT"), "commit"),
        ("exception", {"class": "KafkaException"}, logged("KafkaException", "code=_TIMED_OUT", "code=MSG_SIZE"), None),
        ("exception", {"class": "TimeoutException"}, EXPIRED, "commit"),
        ("exception", {"class": "TimeoutException", "message": "metadata"}, EXPIRED, None),
        # A metric that only has to be there.
        ("metric_exists", {"name": "lag"}, {}, None),
        ("metric_exists", {"name": "lag", "above": 0}, {}, None),
        # What did not come as a fetch timed out.
        ("claim_checks", 1, FETCH_TIMED_OUT, "commit"),
        ("claim_checks", 1, LEFT_OTHERWISE, None),
        ("past_failed_batch", 0, FETCH_TIMED_OUT, "commit"),
        ("past_failed_batch", 0, LEFT_OTHERWISE, None),
        ("failure", {"message": "too large"}, FETCH_TIMED_OUT, "commit"),
        ("failure", {"message": "too large"}, LEFT_OTHERWISE, None),
        ("exception", {"class": "RecordTooLargeException"}, FETCH_TIMED_OUT, "commit"),
        ("exception", {"class": "RecordTooLargeException"}, LEFT_OTHERWISE, None),
        # Which batch failed last, where it was by a stall.
        ("past_failed_batch", 0, STALL, "commit"),
        ("past_failed_batch", 0, STALL_BEFORE, None),
        # What a stall kept from coming came when its batch was done again.
        *(("failure", {"message": "another"}, changes, None) for changes in (STALL, STALL_BEFORE)),
        *(("claim_checks", 1, changes, None) for changes in (STALL, STALL_BEFORE)),
    ],
)
def test_what_was_observed_decides_whether_it_does(
    name: str, argument: object, changes: dict[str, Any], window: Window | None
) -> None:
    assert expecting(name, argument).depends_on_time(observed_with(OBSERVED, **changes)) == window


NEVER_TAKEN = {"outputs": 0, "errors": 0, "filtered": 0, "pending": 161}
REPLAYED = {"misrouted": 1, "timed_out": 1, "timed_out_conflicts": 1}


@pytest.mark.parametrize(
    ("problem", "window"),
    [
        (NEVER_TAKEN, "arm"),
        ({"misrouted": 1}, "arm"),
        ({"mismatched": 2}, "arm"),
        ({"unattributed": 1}, "arm"),
        # An error event by a timeout and the output of its replay; what a replay excuses beside it is no problem.
        (REPLAYED | {"conflicting": 1}, "commit"),
        (REPLAYED | {"conflicting": 3, "excused_conflicts": 2}, "commit"),
        # What was lost or reordered is never excused.
        ({"lost": 1}, None),
        ({"out_of_order": 1}, None),
        ({"duplicated": 1}, None),
        ({"conflicting": 1}, None),
        ({"misrouted": 3, "out_of_order": 1}, None),
        ({"conflicting": 2, "timed_out": 1, "timed_out_conflicts": 1}, None),
        ({"lost": 1, "timed_out": 1, "misrouted": 1}, None),
        ({"duplicated": 3, "excused": 2, "timed_out": 1}, None),
    ],
)
def test_an_audit_that_is_not_clean_does_or_decides(problem: dict[str, int], window: Window | None) -> None:
    audit = expecting("audit", "clean")
    observed = replace(OBSERVED, audit=an_audit(**problem))
    assert audit.depends_on_time(observed) == window
    finding = audit.judge(observed)
    assert (finding.holds, finding.decisive) == (False, window is None)
    assert not audit.judge(OBSERVED).decisive


def test_without_a_flat_time_idling_is_of_the_whole_arm() -> None:
    assert expecting("idle_cpu", {"at_most": 1}).depends_on_time(an_observation()) == "arm"


@pytest.mark.parametrize(
    ("reached", "window"),
    [
        ({"drained": 1}, None),
        ({"gave_up": 1}, "commit"),
        ({"elapsed": 20.1}, "arm"),
        ({"metric lag": 5, "drained": 1}, "arm"),
        ({"log waiting": 2}, "arm"),
    ],
)
def test_an_end_at_some_moment_cuts_short_what_a_slow_machine_had_to_do(
    reached: dict[str, float], window: Window | None
) -> None:
    assert end_window(observed_with(OBSERVED, end=EndByCondition(reached=reached), restarts=1)) == window


def test_a_restart_after_a_kill_by_the_container_is_no_matter_of_time() -> None:
    """A machine with more time would have come to the same limit; one restart more than kills is unexplained."""
    kill = ContainerKill(process=1, limit="memory", allowed=1, used=2, memory=TreeMemory(rows=()))
    container = ContainerFigures(
        memory_limit=1, disk_limit=None, measure=kill.memory.measure, peak_memory=2, peak_disk=0, kills=(kill,)
    )
    killed = observed_with(OBSERVED, restarts=1, failures=(), figures=some_figures(container=container))
    assert expecting("restarts", 1).depends_on_time(killed) is None
    assert expecting("restarts", 1).depends_on_time(observed_with(killed, restarts=2)) == "commit"


@pytest.mark.parametrize(
    ("exit_codes", "restarts", "window"),
    [
        ((-9,), 1, None),
        ((-15,), 1, None),
        ((-9, -9), 2, None),
        ((-9,), 2, "commit"),
        ((1,), 1, "commit"),
        ((), 1, "commit"),
    ],
)
def test_a_restart_after_a_signal_is_no_matter_of_time(
    exit_codes: tuple[int, ...], restarts: int, window: Window | None
) -> None:
    killed = observed_with(OBSERVED, restarts=restarts, failures=(), exit_codes=exit_codes)
    assert expecting("restarts", 1).depends_on_time(killed) == window
