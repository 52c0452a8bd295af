"""Each check: when it holds, when not, and what it says was measured."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from devkit.container.kill import ContainerFigures, ContainerKill
from devkit.container.memory import KindMemory, TreeMemory
from devkit.expectations import EXPECTATIONS, Bound, Expectation, Finding
from devkit.observe.arm_end import EndByRefusal
from devkit.observe.arm_observation import ArmObservation, FirstTry
from devkit.observe.figures import Answers, FlatCommit
from devkit.observe.latency import EventLatency, Latencies
from devkit.observe.logs.logs import LoggedException
from devkit.observe.samples.metrics import Scraped
from devkit.observe.settings import OtherSetting, other_settings
from tests.unit.devkit.observed import A_SAMPLE, a_program, an_audit, an_observation, some_figures, some_latencies

NAME = "RecordTooLargeException"
TOO_LARGE, AGAIN = (LoggedException(n, NAME, "The message is 23048294 bytes when serialized") for n in (1, 2))
LOGGED, SIZE_TEXT = f"{NAME}: {TOO_LARGE.message}", f"{NAME}: …23048294…"
SIZE, OTHER_SIZE = ({"class": NAME, "message": size} for size in ("23048294", "23048295"))
OTHER = LoggedException(2, "TimeoutException", "Topic not present in metadata")
STALL = "no commit within 10 s: batch 3 began 10.2 s ago"
STORM = some_figures(
    requests=680,
    fetches=200,
    max_attempt=4,
    amplification=3.4,
    parses=400,
    abandoned=252,
    abandoned_share=0.63,
    peak_queue=312,
    deferred_ever=12,
    answers=Answers.counted({"200": 204, "504": 466, "none": 10}),
    answers_after_fault=Answers.counted({"200": 36, "504": 264}),
    flat_commit=FlatCommit(
        duration_s=18.523, from_s=8.1, committed=50, source_end=161, median_cpu_cores=0.12, mean_cpu_cores=0.41
    ),
)
LAG = ("lag_seconds", frozenset({("partition", "0")}))
SCRAPED = {"metrics": Scraped(pages=9, present=frozenset({LAG}), highest={LAG: 2.5})}
OTHERWISE = {
    "batch.max_offsets": OtherSetting(declared=50, ran=500),
    **{f"sink.{letter}": OtherSetting(declared=None, ran=[1]) for letter in "abc"},
}
ONE_OTHER = "1; batch.max_offsets is 500, declared 50"
TOLD_OTHERWISE = (
    "4; batch.max_offsets is 500, declared 50; sink.a is [1], declared not set; sink.b is [1], declared not set; 1 more"
)
COLLISION = "two metrics of one name: a and b"
NEVER_RAN = STORM.flat_commit and STORM.flat_commit.model_copy(update={"median_cpu_cores": None})


def storm(**changes: Any) -> dict[str, Any]:
    return {"figures": STORM.model_copy(update=changes)}


def slow_page(*pages: str) -> dict[str, Any]:
    """One event of a slow page among nine of healthy ones; `pages` are those that met a rule which picks pages."""
    events = tuple(EventLatency(("enwiki", n), 0, 20.0 if n == 7 else 0.4, is_emitted=True) for n in range(10))
    return {"latencies": Latencies(events, frozenset(("enwiki", int(page)) for page in pages))}


A_KILL = ContainerKill(
    process=1,
    limit="memory",
    allowed=1700 << 20,
    used=1800 << 20,
    memory=TreeMemory(rows=(KindMemory(pid=7, kind="driver", size=1800 << 20),), measure="proportional"),
)


def contained(kills: int = 0) -> dict[str, Any]:
    figures = ContainerFigures(
        memory_limit=1700 << 20,
        disk_limit=None,
        measure="proportional",
        peak_memory=1800 << 20,
        peak_disk=0,
        kills=(A_KILL,) * kills,
    )
    return {"figures": some_figures().model_copy(update={"container": figures})}


def latency(percentile: float, **bounds: str) -> dict[str, Any]:
    return {"latency": {"percentile": percentile, **bounds}}


def emitted(*seconds: float, waiting: tuple[float, ...] = ()) -> dict[str, Any]:
    return {"latencies": some_latencies(*seconds, waiting=waiting)}


WITH_DEFERRED = {"drained": False, "last_sample": A_SAMPLE.model_copy(update={"deferred": 3})}
AFTER_FAULT = {"success_rate": {"of": "after fault", "at_most": "40%"}}
UNANSWERED = storm(answers=Answers.counted({}))
TWICE = {"failures": ("x", STALL, STALL)}
THREE = emitted(0.4, 0.5, 9.0)
SLOW_PAGE = slow_page("7")
TWO_WAIT = emitted(0.4, waiting=(12.0, 13.0))
NO_PAGES = {"latencies": Latencies(slow_page()["latencies"].events, None)}
LOST = an_audit(outputs=148, lost=2, out_of_order=1)
# What was measured, where it is long.
AMPLIFIED = "3.40 (680 requests for 200 fetches, at most 4 for a fetch)"
OF_ALL_REQUESTS = "30% of 680 requests (200: 204, 504: 466, no answer: 10)"
NONE_ENDED = "no request ended between the end of the fault and the end of the traffic"
FLAT = "18.5s at 50 of 161"
IDLED = "0.12 (median; 0.41 on average) in 18.5s without a commit"
NO_QUERY = "no query ran while the committed offset stood still"
HEALTHY = "(events of healthy pages)"
ONE_WAITS = "0.5s over 3 events, 1 of which are not emitted"
AT_LEAST_12S = "at least 12.0s: 2 of 3 events are not emitted"
NOT_KNOWN = "which pages a rule matched is not known: too many requests"
NOT_ENDED_YET = "clean: 161 in = 140 out + 4 errors + 7 filtered + 2 deferred + 8 still in the source"
LAG_IS = 'lag_seconds{partition="0"}, at most 2.5 on 9 pages'
ON_NO_PAGE = "not on any of 9 pages"
NEAR_MISS = f"{ON_NO_PAGE}; next to it is lag_seconds"


def judge(expectation: dict[str, Any], observation: ArmObservation) -> Finding:
    return Expectation.model_validate(expectation).judge(observation)


@pytest.mark.parametrize(
    ("expectation", "changes", "expected", "measured", "holds"),
    [
        ({"restarts": 2}, {"restarts": 2}, "2", "2", True),
        ({"restarts": 2}, {"restarts": 3}, "2", "3", False),
        ({"restarts": {"at_least": 2}}, {"restarts": 1}, "at least 2", "1", False),
        ({"restarts": {"at_least": 2}}, {"restarts": 2}, "at least 2", "2", True),
        ({"restarts": {"at_least": 1, "at_most": 3}}, {"restarts": 4}, "at least 1 and at most 3", "4", False),
        ({"replays": {"at_most": 1}}, {"replays": 2}, "at most 1", "2", False),
        ({"replays": 0}, {"replays": 0}, "0", "0", True),
        ({"replayed_offsets": {"at_least": 2}}, {"replayed_offsets": 100}, "at least 2", "100", True),
        ({"replayed_offsets": 0}, {"replayed_offsets": 1}, "0", "1", False),
        ({"past_failed_batch": 0}, {"past_failed_batch": 0}, "0", "0", True),
        ({"past_failed_batch": 0}, {"past_failed_batch": 5}, "0", "5", False),
        ({"past_failed_batch": 0}, {"past_failed_batch": None}, "0", "no batch failed", False),
        ({"claim_checks": 1}, {"audit": an_audit(claim_checks=1)}, "1", "1", True),
        ({"claim_checks": 1}, {"audit": an_audit()}, "1", "0", False),
        ({"log": {"event": "waiting"}}, {"log": {"waiting": 2}}, "at least 1 of waiting", "2", True),
        ({"log": {"event": "waiting"}}, {"log": {"started": 1}}, "at least 1 of waiting", "0", False),
        ({"log": {"event": "failed", "at_most": 0}}, {"log": {"failed": 1}}, "at most 0 of failed", "1", False),
        ({"container_kills": 1}, contained(kills=1), "1", f"1 ({A_KILL.text})", True),
        ({"container_kills": 0}, contained(kills=1), "0", f"1 ({A_KILL.text})", False),
        ({"container_kills": 0}, contained(), "0", "0", True),
        ({"container_kills": 0}, {}, "0", "the scenario has no container", False),
        ({"peak_memory": {"at_most": "2GiB"}}, contained(), "at most 2GiB", "1800MiB (proportional)", True),
        ({"peak_memory": {"at_most": "1GiB"}}, contained(), "at most 1GiB", "1800MiB (proportional)", False),
        ({"peak_memory": {"at_most": "1GiB"}}, {}, "at most 1GiB", "the scenario has no container", False),
        ({"drained": True}, {"drained": True}, "true", "committed 160 of 161", True),
        ({"drained": True}, {"drained": False}, "true", "committed 160 of 161", False),
        ({"drained": False}, {"drained": False}, "false", "committed 160 of 161", True),
        ({"drained": False}, {"drained": True}, "false", "committed 160 of 161", False),
        ({"drained": False}, WITH_DEFERRED, "false", "committed 160 of 161, 3 deferred", True),
        ({"failure": {"message": "no commit"}}, TWICE, "…no commit…", f"{STALL} (twice)", True),
        ({"failure": {"message": "no commit"}}, {"failures": (STALL,)}, "…no commit…", STALL, True),
        ({"failure": {"message": "no commit"}}, {"failures": (STALL, "x")}, "…no commit…", STALL, True),
        ({"failure": {"message": "no space"}}, {"failures": ("x", STALL)}, "…no space…", STALL, False),
        ({"failure": {"message": "no commit"}}, {}, "…no commit…", "no failure", False),
        ({"amplification": {"at_least": 2.5}}, storm(), "at least 2.5", AMPLIFIED, True),
        ({"amplification": {"at_most": 2}}, storm(), "at most 2", AMPLIFIED, False),
        ({"amplification": {"at_most": 2}}, storm(amplification=None), "at most 2", "no fetch", False),
        ({"abandoned": {"at_least": "50%"}}, storm(), "at least 50%", "63% (252 of 400 parses)", True),
        ({"abandoned": {"at_least": "63.5%"}}, storm(), "at least 63.5%", "63% (252 of 400 parses)", False),
        ({"abandoned": "0%"}, storm(abandoned_share=None), "0%", "no parse ended", False),
        (AFTER_FAULT, storm(), "at most 40% (after the fault ends)", "12% of 300 requests (200: 36, 504: 264)", True),
        ({"success_rate": {"at_least": "90%"}}, storm(), "at least 90% (all requests)", OF_ALL_REQUESTS, False),
        (AFTER_FAULT, storm(answers_after_fault=None), "at most 40% (after the fault ends)", NONE_ENDED, False),
        ({"success_rate": {"at_most": "40%"}}, UNANSWERED, "at most 40% (all requests)", "no request ended", False),
        ({"peak_queue": {"at_least": 100}}, storm(), "at least 100", "312", True),
        ({"peak_queue": 0}, storm(), "0", "312", False),
        ({"flat_commit": {"at_least": "15s"}}, storm(), "at least 15s", f"{FLAT}, 0.12 CPU cores used meanwhile", True),
        ({"flat_commit": {"at_most": "18s"}}, storm(flat_commit=NEVER_RAN), "at most 18s", FLAT, False),
        ({"flat_commit": {"at_most": "15s"}}, storm(flat_commit=None), "at most 15s", "0s", True),
        ({"idle_cpu": {"at_most": 0.5}}, storm(), "at most 0.5", IDLED, True),
        ({"idle_cpu": {"at_most": 0.1}}, storm(), "at most 0.1", IDLED, False),
        ({"idle_cpu": {"at_most": 0.5}}, storm(flat_commit=NEVER_RAN), "at most 0.5", NO_QUERY, False),
        ({"idle_cpu": {"at_most": 0.5}}, storm(flat_commit=None), "at most 0.5", NO_QUERY, False),
        ({"deferred": {"at_least": 5}}, storm(), "at least 5", "12", True),
        ({"deferred": 0}, storm(), "0", "12", False),
        ({"batch_budget": 0}, storm(), "0", "0", True),
        ({"batch_budget": 0}, storm(over_budget=3), "0", "3", False),
        (latency(50, at_most="5s"), THREE, "p50 at most 5s (all events)", "0.5s over 3 events", True),
        (latency(99.9, at_most="5s"), THREE, "p99.9 at most 5s (all events)", "9.0s over 3 events", False),
        # Two of three left at once, and who has not left is later than they.
        (latency(50, at_most="5s"), emitted(0.4, 0.5, waiting=(0.1,)), "p50 at most 5s (all events)", ONE_WAITS, True),
        (latency(50, at_most="5s"), TWO_WAIT, "p50 at most 5s (all events)", AT_LEAST_12S, False),
        (latency(50, at_least="12s"), TWO_WAIT, "p50 at least 12s (all events)", AT_LEAST_12S, True),
        (latency(100, of="healthy", at_most="1s"), SLOW_PAGE, f"p100 at most 1s {HEALTHY}", "0.4s over 9 events", True),
        (latency(100, at_most="1s"), SLOW_PAGE, "p100 at most 1s (all events)", "20.0s over 10 events", False),
        (latency(50, of="healthy", at_most="5s"), NO_PAGES, f"p50 at most 5s {HEALTHY}", NOT_KNOWN, False),
        (latency(50, at_most="5s"), emitted(), "p50 at most 5s (all events)", "no event had to be emitted", False),
        ({"exception": SIZE}, {"exceptions": (OTHER, TOO_LARGE, AGAIN)}, SIZE_TEXT, f"{LOGGED} (twice)", True),
        (
            {"exception": {"class": f"org.apache.{NAME}"}},
            {"exceptions": (TOO_LARGE,)},
            f"org.apache.{NAME}",
            LOGGED,
            True,
        ),
        # The near miss is shown: same class, other figure.
        ({"exception": OTHER_SIZE}, {"exceptions": (TOO_LARGE, OTHER)}, f"{NAME}: …23048295…", LOGGED, False),
        ({"exception": {"class": NAME}}, {"exceptions": (OTHER,)}, NAME, f"TimeoutException: {OTHER.message}", False),
        ({"exception": {"class": NAME}}, {}, NAME, "no exception", False),
        ({"audit": "clean"}, {}, "clean", "clean: 161 in = 150 out + 4 errors + 7 filtered", True),
        ({"audit": "clean"}, {"audit": an_audit(outputs=140, deferred=2, pending=8)}, "clean", NOT_ENDED_YET, True),
        ({"audit": "clean"}, {"audit": LOST}, "clean", "lost 2, out_of_order 1", False),
        ({"audit": "clean"}, {"audit": an_audit(duplicated=3)}, "clean", "duplicated 3", False),
        ({"refused": {"message": "one name"}}, {"tried_first": FirstTry(COLLISION)}, "…one name…", COLLISION, True),
        ({"refused": {"message": "a port"}}, {"tried_first": FirstTry(COLLISION)}, "…a port…", COLLISION, False),
        ({"refused": {"message": "one name"}}, {"tried_first": FirstTry(None)}, "…one name…", "it started", False),
        # Without a start that was tried first it is the arm's own.
        ({"refused": {"message": "one name"}}, {"refusal": COLLISION}, "…one name…", COLLISION, True),
        ({"refused": {"message": "a port"}}, {"refusal": COLLISION}, "…a port…", COLLISION, False),
        ({"refused": {"message": "one name"}}, {"refusal": None}, "…one name…", "it started", False),
        ({"never_ran": True}, {"ran": False, "restarts": 1}, "true", "it never ran in 2 processes", True),
        ({"never_ran": {"it_did": False}}, {"ran": False}, "false", "it never ran in 1 process", False),
        ({"never_ran": True}, {"ran": True}, "true", "it ran", False),
        ({"other_settings": 0}, {"other_settings": {}}, "0", "0", True),
        ({"other_settings": 0}, {"other_settings": OTHERWISE}, "0", TOLD_OTHERWISE, False),
        ({"other_settings": {"key": "batch"}}, {"other_settings": OTHERWISE}, "at least 1 of batch", ONE_OTHER, True),
        ({"other_settings": {"key": "fetch"}}, {"other_settings": OTHERWISE}, "at least 1 of fetch", "0", False),
        ({"metric_exists": {"name": "lag_seconds", "above": 2}}, SCRAPED, "lag_seconds above 2", LAG_IS, True),
        ({"metric_exists": {"name": "lag_second"}}, SCRAPED, "lag_second", NEAR_MISS, False),
        ({"metric_missing": {"name": "up"}}, SCRAPED, "no up", ON_NO_PAGE, True),
        ({"metric_missing": {"name": "lag_seconds"}}, SCRAPED, "no lag_seconds", LAG_IS, False),
    ],
)
def test_check(expectation: dict[str, Any], changes: dict[str, Any], expected: str, measured: str, holds: bool) -> None:
    (name,) = expectation
    found = judge(expectation, an_observation(**changes))
    assert (found.name, found.expected, found.measured, found.holds) == (name, expected, measured, holds)


ELSEWHERE = {"checkpoint_size", "commit_time", "compare", "error_events", "gave_up", "lag", "memory", "metric"}
ELSEWHERE |= {"batch_growth", "batch_time", "checkpoint_files", "connections", "restart_progress"}
ELSEWHERE |= {"event_time_skew", "late_dropped", "partitions_read", "rate", "watermark_step", "watermark_stood"}
ELSEWHERE |= {"differing_entities", "divergence", "requests", "store_matches"}
"""Have tests of their own, both ways."""


def test_every_check_is_tried_both_ways() -> None:
    (table,) = (mark.args[1] for mark in test_check.pytestmark)
    tried = {(name, row[-1]) for row in table for name in row[0]}
    assert tried == {(name, holds) for name in EXPECTATIONS.keys() - ELSEWHERE for holds in (True, False)}


@pytest.mark.parametrize(
    ("bound", "holds"),
    [
        ({"at_least": "15s"}, True),
        ({"at_least": "20s"}, None),
        ({"at_least": "30s"}, False),
        ({"at_most": "30s"}, True),
        ({"at_most": "20s"}, None),
        ({"at_most": "15s"}, False),
    ],
)
def test_a_flat_time_that_a_gap_may_hide_is_between_two_bounds(bound: dict[str, str], holds: bool | None) -> None:
    assert STORM.flat_commit is not None
    flat = STORM.flat_commit.model_copy(update={"at_most_s": 25.0})
    finding = judge({"flat_commit": bound}, an_observation(**storm(flat_commit=flat)))
    assert finding.holds is holds
    assert "it may have been 25.0s" in finding.measured


@pytest.mark.parametrize(
    ("audit", "measured"),
    [({"inputs": 0}, "no inputs"), ({"pending": 161}, "nothing was committed: all 161 inputs are still in the source")],
    ids=["of nothing", "of events that were never taken"],
)
def test_an_audit_that_shows_nothing(audit: dict[str, int], measured: str) -> None:
    empty = an_audit(outputs=0, errors=0, filtered=0, **audit)
    assert judge({"audit": "clean"}, an_observation(audit=empty)) == Finding("audit", "clean", measured, False)


@pytest.mark.parametrize("problem", ["lost", "conflicting", "out_of_order", "misrouted", "mismatched", "unattributed"])
@pytest.mark.parametrize("restarts", [0, 1])
def test_what_no_restart_excuses(problem: str, restarts: int) -> None:
    finding = judge({"audit": "clean"}, an_observation(audit=an_audit(**{problem: 1}), restarts=restarts))
    assert (finding.holds, finding.measured) == (False, f"{problem} 1")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "write at_least, at_most or a number"),
        (True, "True is no bound; write a number"),
    ],
)
def test_a_bound_that_says_nothing_is_refused(value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(Bound).validate_python(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "exactly one expectation"),
        ({"drained": None}, "drained says nothing"),
        ({"failure": {}}, "Field required"),
        ({"failure": {"message": ""}}, "at least 1 character"),
        ({"refused": {"message": ""}}, "at least 1 character"),
        ({"metric_exists": {"name": "lag seconds"}}, "should match pattern"),
        ({"metric_exists": {"name": "x", "above": float("nan")}}, "finite number"),
        ({"metric_missing": {"name": "x", "above": 1}}, "Extra inputs are not permitted"),
        ({"success_rate": {}}, "write at_least, at_most or a share such as 50%"),
        ({"latency": {"at_most": "5s"}}, "Field required"),
        ({"latency": {"percentile": 0, "at_most": "5s"}}, "greater than 0"),
        ({"latency": {"percentile": 101, "at_most": "5s"}}, "less than or equal to 100"),
        ({"latency": {"percentile": 50}}, "write at_least, at_most or a duration such as 8s"),
        ({"flat_commit": {"at_least": 8}}, "not a duration"),
        ({"abandoned": {"at_least": 50}}, "more than the whole"),
        ({"abandoned": {"at_least": "150%"}}, "more than the whole"),
        ({"abandoned": True}, "True is no bound; write a share such as 50%"),
        ({"amplification": "2.5"}, "'2.5' is no bound; write a number"),
    ],
)
def test_an_expectation_is_exactly_one_check_with_its_argument(value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Expectation.model_validate(value)


def expecting(**written: object) -> Expectation:
    return Expectation.model_validate(written)


class TestNeverRan:
    def test_of_one_that_does_not_say_when_it_runs_nothing_is_known(self) -> None:
        finding = expecting(never_ran=True).judge(an_observation())
        assert (finding.holds, finding.measured) == (None, "n/a: it does not say when it runs")

    @pytest.mark.parametrize(("ran", "holds"), [(True, False), (False, True)])
    def test_one_of_several_is_named(self, *, ran: bool, holds: bool) -> None:
        seen = an_observation(ran=not ran, programs=(a_program("html"), a_program("reader", ran=ran)))
        assert expecting(never_ran={"program": "reader"}).judge(seen).holds is holds

    def test_that_it_ran_or_refused_is_no_matter_of_time(self) -> None:
        never = expecting(never_ran=True)
        assert never.depends_on_time(an_observation(ran=True)) is None
        assert never.depends_on_time(an_observation(ran=False, end=EndByRefusal())) is None
        assert never.depends_on_time(an_observation(ran=False)) == "arm"


class TestOtherSettings:
    def test_where_no_configuration_was_logged_nothing_is_known(self) -> None:
        finding = expecting(other_settings=0).judge(an_observation())
        assert (finding.holds, finding.measured) == (None, "n/a: it logged no configuration")

    def test_a_key_covers_what_is_below_it_and_no_name_that_only_begins_so(self) -> None:
        seen = an_observation(other_settings={"batch_size": OtherSetting(declared=1, ran=2)})
        assert not expecting(other_settings={"key": "batch"}).judge(seen).holds
        assert expecting(other_settings={"key": "batch_size"}).judge(seen).holds

    def test_what_is_left_open_is_derived_and_counts_for_none(self) -> None:
        declared = {"a": {"b": 1, "open": None}, "list": [1], "gone": 3}
        ran = {"a": {"b": 2, "open": 7}, "list": [1], "new": 4}
        assert other_settings(declared, ran) == {
            "a.b": OtherSetting(declared=1, ran=2),
            "gone": OtherSetting(declared=3, ran=None),
        }

    def test_a_section_that_is_no_mapping_any_more_is_one_difference(self) -> None:
        assert list(other_settings({"a": {"b": 1}}, {"a": "none"})) == ["a"]
