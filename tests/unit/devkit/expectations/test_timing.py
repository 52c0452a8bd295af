"""Which findings depend on time, and on how much of it."""

from dataclasses import replace
from datetime import timedelta

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


@pytest.mark.parametrize("name", ["restarts", "replays", "replayed_offsets"])
def test_restarts_of_which_the_process_said_something_else_do_not(name: str) -> None:
    too_large = observed_with(OBSERVED, restarts=2, failures=("too large", "too large"))
    assert expecting(name, {"at_least": 2}).depends_on_time(too_large) is None
    # One of the two was by a stall, so the count depends on time.
    assert expecting(name, {"at_least": 2}).depends_on_time(observed_with(too_large, stalls=("too large",))) == "commit"
    # Nobody knows of what the second one failed.
    assert (
        expecting(name, {"at_least": 2}).depends_on_time(observed_with(too_large, failures=("too large",))) == "commit"
    )


TIMED_OUT = "query failed: org.apache.kafka.common.errors.TimeoutException: Expiring 3 record(s) for out-0"


@pytest.mark.parametrize("name", ["restarts", "replays", "replayed_offsets"])
def test_restarts_by_the_timeout_of_a_client_do(name: str) -> None:
    timed_out = observed_with(OBSERVED, restarts=2, failures=("too large", TIMED_OUT))
    assert expecting(name, {"at_least": 2}).depends_on_time(timed_out) == "commit"
    # A stall that names a timeout as well is one failure.
    both = observed_with(OBSERVED, restarts=1, failures=(TIMED_OUT, "too large"), stalls=(TIMED_OUT,))
    assert expecting(name, {"at_least": 1}).depends_on_time(both) is None


def test_a_failure_that_is_a_timeout_does() -> None:
    timed_out = observed_with(OBSERVED, failures=("too large", TIMED_OUT))
    assert expecting("failure", {"message": "Expiring"}).depends_on_time(timed_out) == "commit"
    assert expecting("failure", {"message": "too large"}).depends_on_time(timed_out) is None


def test_an_exception_that_is_a_timeout_does() -> None:
    def window(*messages: str) -> Window | None:
        observed = observed_with(
            OBSERVED, exceptions=tuple(LoggedException(1, "KafkaException", text) for text in messages)
        )
        return expecting("exception", {"class": "KafkaException"}).depends_on_time(observed)

    assert (window("code=_TIMED_OUT"), window("code=_TIMED_OUT", "code=MSG_SIZE")) == ("commit", None)
    expired = observed_with(OBSERVED, exceptions=(LoggedException(1, "TimeoutException", "Expiring 3 record(s)"),))
    assert expecting("exception", {"class": "TimeoutException"}).depends_on_time(expired) == "commit"
    assert expecting("exception", {"class": "TimeoutException", "message": "metadata"}).depends_on_time(expired) is None


def test_a_failure_that_is_a_stall_does() -> None:
    stalled = observed_with(OBSERVED, failures=("too large", STALLED), stalls=(STALLED,))
    assert expecting("failure", {"message": "no commit within"}).depends_on_time(stalled) == "commit"
    assert expecting("failure", {"message": "too large"}).depends_on_time(stalled) is None


def test_a_metric_that_only_has_to_be_there_does_not() -> None:
    assert expecting("metric_exists", {"name": "lag"}).depends_on_time(OBSERVED) is None
    assert expecting("metric_exists", {"name": "lag", "above": 0}).depends_on_time(OBSERVED) is None


def test_that_nothing_was_taken_by_the_end_does() -> None:
    untouched = replace(OBSERVED, drained=False, audit=an_audit(outputs=0, errors=0, filtered=0, pending=161))
    assert expecting("audit", "clean").depends_on_time(untouched) == "arm"


@pytest.mark.parametrize("problem", [{"misrouted": 1}, {"mismatched": 2}, {"unattributed": 1}])
def test_that_events_left_another_way_does(problem: dict[str, int]) -> None:
    audit = expecting("audit", "clean")
    timed_out = replace(OBSERVED, audit=an_audit(**problem))
    assert audit.depends_on_time(timed_out) == "arm"
    finding = audit.judge(timed_out)
    assert (finding.holds, finding.decisive) == (False, False)


def test_an_error_event_by_a_timeout_and_the_output_of_its_replay_do() -> None:
    audit = expecting("audit", "clean")
    replayed = replace(OBSERVED, audit=an_audit(misrouted=1, conflicting=1, timed_out=1, timed_out_conflicts=1))
    assert audit.depends_on_time(replayed) == "commit"
    finding = audit.judge(replayed)
    assert (finding.holds, finding.decisive) == (False, False)
    # What a replay excuses beside it is no problem.
    others = {"conflicting": 3, "excused_conflicts": 2, "timed_out": 1, "timed_out_conflicts": 1}
    assert audit.depends_on_time(replace(OBSERVED, audit=an_audit(misrouted=1, **others))) == "commit"


FETCH_TIMED_OUT = replace(OBSERVED, audit=an_audit(misrouted=1, timed_out=1))


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("claim_checks", 1),
        ("past_failed_batch", 0),
        ("failure", {"message": "too large"}),
        ("exception", {"class": "RecordTooLargeException"}),
    ],
)
def test_what_did_not_come_as_a_fetch_timed_out_does(name: str, argument: object) -> None:
    expectation = expecting(name, argument)
    assert expectation.depends_on_time(FETCH_TIMED_OUT) == "commit"
    # An event that left otherwise for another reason shows what any machine would have.
    assert expectation.depends_on_time(replace(OBSERVED, audit=an_audit(misrouted=1))) is None


@pytest.mark.parametrize(("failures", "window"), [((STALLED, "too large"), None), (("too large", STALLED), "commit")])
def test_which_batch_failed_last_does_where_it_was_by_a_stall(failures: tuple[str, ...], window: Window | None) -> None:
    stalled = observed_with(OBSERVED, failures=failures, stalls=(STALLED,))
    assert expecting("past_failed_batch", 0).depends_on_time(stalled) == window
    # What the stall kept from coming came when its batch was done again.
    assert expecting("failure", {"message": "another"}).depends_on_time(stalled) is None
    assert expecting("claim_checks", 1).depends_on_time(stalled) is None


@pytest.mark.parametrize(
    "problem",
    [
        {"lost": 1},
        {"out_of_order": 1},
        {"duplicated": 1},
        {"conflicting": 1},
        {"misrouted": 3, "out_of_order": 1},
        {"conflicting": 2, "timed_out": 1, "timed_out_conflicts": 1},
        {"lost": 1, "timed_out": 1, "misrouted": 1},
        {"duplicated": 3, "excused": 2, "timed_out": 1},
    ],
)
def test_what_was_lost_or_reordered_is_never_excused(problem: dict[str, int]) -> None:
    audit = expecting("audit", "clean")
    broken = replace(OBSERVED, audit=an_audit(**problem))
    assert audit.depends_on_time(broken) is None
    finding = audit.judge(broken)
    assert (finding.holds, finding.decisive) == (False, True)
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
    memory = TreeMemory(rows=())
    kill = ContainerKill(process=1, limit="memory", allowed=1, used=2, memory=memory)
    container = ContainerFigures(
        memory_limit=1, disk_limit=None, measure=memory.measure, peak_memory=2, peak_disk=0, kills=(kill,)
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
