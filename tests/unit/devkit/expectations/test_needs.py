"""What an expectation needs to be judged, and that it is judged by the program that it names."""

from dataclasses import replace
from typing import Any

import pytest

from devkit.expectations import EXPECTATIONS, Expectation, Finding
from devkit.observe.arm_observation import TimelineEvidence
from devkit.observe.figures import CheckpointSize
from devkit.observe.kafka.emitted import Emitted
from devkit.observe.logs.logs import LoggedException
from devkit.observe.observable import NOT_SHOWN, OBSERVABLES, Observable
from devkit.observe.stated_offsets import StatedOffsets
from devkit.report.result import ProgramResult
from tests.unit.devkit.observed import A_SAMPLE, a_program, an_audit, an_observation

ALL: tuple[Observable, ...] = ("offsets", "checkpoint", "batches", "words", "deferrals", "sources")
"""What a program may not show."""
NOT_JUDGED: dict[Observable, tuple[dict[str, Any], ...]] = {
    "offsets": (
        {"flat_commit": "1s"},
        {"idle_cpu": 1},
        {"partitions_read": "100%"},
        {"event_time_skew": {"at_most": "1m"}},
    ),
    "checkpoint": ({"replayed_offsets": 0}, {"past_failed_batch": 0}, {"checkpoint_size": 9}, {"checkpoint_files": 9}),
    "batches": (
        {"replays": 0},
        {"replayed_offsets": 0},
        {"commit_time": {"at_most": "1s"}},
        {"batch_time": {"at_most": "1s"}},
        {"batch_growth": {"at_most": 2}},
        {"restart_progress": {"at_most": 2}},
    ),
    "words": ({"failure": {"message": "x"}}, {"restart_progress": {"at_most": 2}}),
    "deferrals": ({"deferred": 0}, {"batch_budget": 0}),
    "sources": (
        {"latency": {"percentile": 50, "at_most": "1s"}},
        {"latency": {"percentile": 50, "at_most": "1s", "of": "healthy"}},
        {"claim_checks": 0},
        {"rate": {"at_most": "9/s"}},
        {"audit": "clean"},
    ),
    "upstream": (
        {"amplification": 1},
        {"requests": {"rule": "slow", "at_least": 1}},
        {"abandoned": "0%"},
        {"success_rate": {"at_least": "50%"}},
        {"peak_queue": 0},
        {"connections": {"at_most": 60}},
        {"latency": {"percentile": 50, "at_most": "1s", "of": "healthy"}},
    ),
}
"""What cannot be judged when this one is not observable, of an arm that has drained."""
JUDGED: tuple[dict[str, Any], ...] = (
    {"restarts": 0},
    {"exception": {"class": "X"}},
    {"drained": True},
    {"late_dropped": 0},
    {"watermark_step": {"at_most": "1m"}},
    {"watermark_stood": {"at_most": "1m"}},
    {"gave_up": False},
    {"container_kills": 0},
    {"peak_memory": "2GiB"},
)
"""What can be judged whatever is not observable."""
EVERY = [*JUDGED, *(stated for found in NOT_JUDGED.values() for stated in found)]
EVERY = [stated for number, stated in enumerate(EVERY) if stated not in EVERY[:number]]
OF_START = {"refused", "never_ran", "other_settings"}
OF_OTHERS = {"compare", "lag", "memory", "metric", "metric_exists", "metric_missing", "log", "error_events"}
OF_STORE = {"differing_entities", "divergence", "store_matches"}
BESIDE = OF_START | OF_OTHERS | OF_STORE
"""What is judged by something else than what a pipeline shows: a start of its own, metrics, a log, samples, a store."""

SEEN = an_observation(
    last_sample=A_SAMPLE.model_copy(update={"partitions": 1, "partitions_read": 1}),
    commits=((1.0, 0.1),),
    batches=((1.0, 0.5),),
    warm_batches=((1.0, 0.5),) * 4,
    written_by_process=((5.0, 4.0), (9.0, 3.0)),
    late_dropped=0,
    watermarks=((1.0, 1000.0), (2.0, 1045.0)),
    samples=(A_SAMPLE.model_copy(update={"event_time_skew_s": 0.0}),),
    checkpoint=CheckpointSize(900, 9),
)
AT_MOST_TWO = {"event": "waiting", "at_most": 2}
FULL = LoggedException(1, "Full", "no space")
SEVERAL = an_observation(
    restarts=2,
    failures=("too large", "too large"),
    programs=(
        a_program("html", restarts=2, failures=("too large", "too large")),
        a_program("content", restarts=1, failures=("disk full",), exceptions=(FULL,), log={"waiting": 3}),
        a_program("reader", log={}, not_observable=OBSERVABLES),
        a_program("late", started=False),
    ),
)


def test_every_expectation_is_tried() -> None:
    assert {name for one in EVERY for name in one} == set(EXPECTATIONS) - BESIDE


@pytest.mark.parametrize("observable", NOT_JUDGED)
@pytest.mark.parametrize("stated", EVERY, ids=lambda stated: next(iter(stated)))
def test_what_was_not_seen_is_neither_met_nor_broken_and_all_else_is(
    observable: Observable, stated: dict[str, Any]
) -> None:
    finding = Expectation.model_validate(stated).judge(replace(SEEN, not_observable=frozenset({observable})))
    assert (finding.holds is None) == (stated in NOT_JUDGED[observable])
    is_unknown = finding.measured.startswith(
        "n/a: not observable (the mock API was restarted"
        if observable == "upstream"
        else "n/a: not observable in the program under test ("
    )
    assert is_unknown == (finding.holds is None)


CHECKPOINTED = {"partitions_read": "100%"}, {"checkpoint_size": 90}, {"checkpoint_files": 1}
IN_FILE = StatedOffsets("file /o.json", {("source", 0): 1}, CheckpointSize(90, 1))
IN_GROUP = StatedOffsets("consumer group mine", {("source", 0): 1})
EMPTY = StatedOffsets("consumer group mine", problem="consumer group mine has no committed offset of source")


@pytest.mark.parametrize(
    ("stated", "judged", "why"),
    [
        (IN_FILE, (True, True, True), ""),
        (replace(IN_FILE, size=CheckpointSize(91, 2)), (True, False, False), ""),
        (IN_GROUP, (True, None, None), "n/a: consumer group mine is not a checkpoint of files"),
        (EMPTY, (None, None, None), f"n/a: {EMPTY.problem}"),
        (None, (True, None, None), f"{NOT_SHOWN}the program under test (it keeps no checkpoint in Spark's layout)"),
    ],
)
def test_offsets_that_a_program_keeps_elsewhere(
    stated: StatedOffsets | None, judged: tuple[bool | None, ...], why: str
) -> None:
    hidden: set[Observable] = {"checkpoint", "offsets"} if stated is EMPTY else {"checkpoint"}
    seen = replace(SEEN, not_observable=frozenset(hidden), stated_offsets=stated)
    findings = [Expectation.model_validate(one).judge(seen) for one in CHECKPOINTED]
    assert tuple(finding.holds for finding in findings) == judged
    assert {finding.measured for finding in findings if finding.holds is None} == ({why} if why else set())


def test_drained_is_told_by_what_has_left_where_no_offsets_are_seen() -> None:
    left = Emitted(3, 5, names_sources=True)
    finding = Expectation.model_validate({"drained": False}).judge(
        an_observation(not_observable=frozenset(ALL), emitted=left, drained=False)
    )
    assert (finding.holds, finding.measured) == (True, "3 of 5 expected events were emitted")


class TestAudit:
    AUDIT = Expectation.model_validate({"audit": "clean"})

    @pytest.mark.parametrize(
        ("hidden", "drained", "audit", "holds"),
        [
            ("sources", True, {"unattributed": 161, "outputs": 0, "errors": 0, "lost": 154}, None),
            ("offsets", True, {}, True),
            ("offsets", False, {"pending": 9}, None),
            ("offsets", False, {"mismatched": 1}, False),
        ],
        ids=[
            "nothing can be told without sources",
            "all has left, so no offsets are needed",
            "what has not left may be lost or not",
            "a problem that shows is one",
        ],
    )
    def test_what_it_needs(self, hidden: Observable, drained: bool, audit: dict[str, int], holds: bool | None) -> None:
        seen = an_observation(not_observable=frozenset({hidden}), drained=drained, audit=an_audit(**audit))
        assert self.AUDIT.judge(seen).holds is holds

    def test_what_of_other_programs_is_not_audited_is_told(self) -> None:
        other = a_program("content", run="pipeline content-enrichment", log={}, unaudited="content")
        finding = self.AUDIT.judge(an_observation(programs=(other,)))
        assert finding.measured.endswith("; of the main program alone, the output of content is not audited")
        text = "pipeline content-enrichment, ran until the arm's end, never restarted; its output, topic content, is"
        assert ProgramResult.of(other).text == f"{text} not audited"

    @pytest.mark.parametrize("not_observable", ["batches", "checkpoint"])
    @pytest.mark.parametrize(("what", "excused"), [("duplicated", "excused"), ("conflicting", "excused_conflicts")])
    @pytest.mark.parametrize(("count", "holds"), [(2, None), (3, False)], ids=["once a restart", "beyond that"])
    def test_what_left_again_may_have_been_read_again_or_not(
        self, not_observable: Observable, what: str, excused: str, count: int, holds: bool | None
    ) -> None:
        audit = an_audit(**{what: count, excused: 2})
        observation = an_observation(not_observable=frozenset({not_observable}), restarts=1, audit=audit)
        assert self.AUDIT.judge(observation).holds is holds

    @pytest.mark.parametrize("argument", ["clean", {"duplicated": 0}])
    @pytest.mark.parametrize("not_observable", ["batches", "offsets"])
    def test_what_a_retried_task_excuses_is_known_without_batches(
        self, argument: object, not_observable: Observable
    ) -> None:
        audit = an_audit(duplicated=2, excused=2, excused_by_retry=2)
        observation = an_observation(not_observable=frozenset({not_observable}), audit=audit)
        assert Expectation.model_validate({"audit": argument}).judge(observation).holds is True

    @pytest.mark.parametrize("argument", ["clean", {"duplicated": 0}])
    @pytest.mark.parametrize(("hidden", "holds"), [("batches", None), ("checkpoint", None), ("words", True)])
    def test_of_each_program_its_own_batches_have_to_be_seen(
        self, argument: object, hidden: Observable, holds: bool | None
    ) -> None:
        replayed = a_program(
            "content", audit=an_audit(duplicated=2, excused=2), not_observable=frozenset({hidden}), restarts=1
        )
        observation = an_observation(programs=(replayed,))
        assert Expectation.model_validate({"audit": argument}).judge(observation).holds is holds


HIDDEN = "9 records went with topic enriched"
HIDING = TimelineEvidence(fault="gone", fired=True, asked="recreate_topic", acted=True, did="", hides=HIDDEN)


@pytest.mark.parametrize(
    ("written", "is_known"),
    [
        ({"latency": {"percentile": 50, "at_least": "0s"}}, False),
        ({"latency": {"percentile": 50, "at_most": "1h"}}, False),
        ({"rate": {"at_least": "1/d"}}, False),
        ({"claim_checks": 0}, False),
        ({"error_events": {"at_most": 9}}, False),
        ({"lag": {"page": "enwiki:1", "at_most": 9}}, False),
        ({"restarts": 0}, True),
    ],
)
def test_what_is_read_off_records_is_not_known_where_a_fault_took_some_away(
    written: dict[str, Any], is_known: bool
) -> None:
    """An event whose record is gone would count as one that never left."""
    finding = Expectation.model_validate(written).judge(an_observation(evidence=(HIDING,)))
    assert (finding.holds, finding.measured) == ((True, "0") if is_known else (None, f"n/a: {HIDDEN}"))


def judge(name: str, argument: object) -> Finding:
    return Expectation.model_validate({name: argument}).judge(SEVERAL)


@pytest.mark.parametrize(
    ("name", "argument", "expected", "measured", "holds"),
    [
        ("restarts", 2, "2", "2", True),
        ("restarts", {"program": "html", "at_most": 0}, "at most 0 (program html)", "2", False),
        ("restarts", {"program": "content", "at_most": 1}, "at most 1 (program content)", "1", True),
        ("restarts", {"program": "reader", "at_most": 0}, "at most 0 (program reader)", "0", True),
        ("failure", {"program": "content", "message": "full"}, "…full… (program content)", "disk full", True),
        ("failure", {"program": "html", "message": "full"}, "…full… (program html)", "too large", False),
        ("exception", {"program": "content", "class": "Full"}, "Full (program content)", "Full: no space", True),
        ("exception", {"program": "reader", "class": "Full"}, "Full (program reader)", "no exception", False),
        ("log", {"program": "content", **AT_MOST_TWO}, "at most 2 of waiting (program content)", "3", False),
    ],
)
def test_each_is_judged_by_its_own(name: str, argument: object, expected: str, measured: str, holds: bool) -> None:
    found = judge(name, argument)
    assert (found.expected, found.measured, found.holds) == (expected, measured, holds)


@pytest.mark.parametrize(
    ("name", "argument", "measured"),
    [
        ("failure", {"message": "x"}, "not observable in program reader (it writes neither a started nor a failed"),
        ("replays", {"at_most": 0}, "not observable in program reader (it writes no batch_started"),
        ("log", {"event": "failed", "at_most": 0}, "not observable: it wrote no event on standard output"),
    ],
)
def test_what_the_program_does_not_show_nobody_can_judge(name: str, argument: dict[str, object], measured: str) -> None:
    found = judge(name, {"program": "reader", **argument})
    assert found.holds is None
    assert measured in found.measured


@pytest.mark.parametrize(("name", "argument"), [("restarts", {"at_most": 0}), ("exception", {"class": "X"})])
def test_of_one_that_was_never_started_nothing_is_known(name: str, argument: dict[str, object]) -> None:
    found = judge(name, {"program": "late", **argument})
    assert found.holds is None
    assert "program late was never started" in found.measured


@pytest.mark.parametrize(
    ("bound", "ended", "holds"),
    [
        ({"at_most": 0}, {"is_over": True, "exit_codes": (1,)}, None),
        ({"at_least": 0, "at_most": 2}, {"is_over": True, "exit_codes": (0, 1)}, None),
        ({"at_least": 0}, {"is_over": True, "exit_codes": (1,)}, True),
        ({"at_least": 1, "at_most": 2}, {"is_over": True, "exit_codes": (1,)}, False),
        ({"at_most": 0}, {"is_over": True, "exit_codes": (1, 0)}, True),
        ({"at_most": 0}, {"exit_codes": (1,)}, True),
    ],
)
def test_of_one_that_crashed_for_good_nobody_knows_that_it_had_no_more_to_write(
    bound: dict[str, int], ended: dict[str, Any], holds: bool | None
) -> None:
    observed = an_observation(programs=(a_program("html"), a_program("checker", **ended)))
    found = Expectation.model_validate({"log": {"program": "checker", "event": "failed", **bound}}).judge(observed)
    assert found.holds is holds
    assert (found.measured == "0 until it ended with exit code 1 and was not started again") is (holds is None)


def test_the_first_ones_exit_code_is_the_arms_own() -> None:
    found = Expectation.model_validate({"log": {"event": "failed", "at_most": 0}})
    assert found.judge(an_observation(log={"started": 1}, ended_with=1)).holds is None


@pytest.mark.parametrize(
    ("master", "event", "holds"),
    [
        ("local[4]", "claim_checks_not_removed", True),
        ("local-cluster[2,2,512]", "claim_checks_not_removed", None),
        ("spark://10.0.0.1:7077", "claim_store_down", None),
        ("local-cluster[2,2,512]", "gave_up", True),
    ],
)
def test_of_what_workers_of_executors_write_nobody_knows(master: str, event: str, holds: bool | None) -> None:
    found = Expectation.model_validate({"log": {"event": event, "at_most": 0}})
    assert found.judge(an_observation(log={"started": 1}, spark={"spark.master": master})).holds is holds


def test_whether_time_decides_is_the_programs_own_as_well() -> None:
    def window(program: str) -> object:
        return Expectation.model_validate({"restarts": {"program": program, "at_most": 0}}).depends_on_time(SEVERAL)

    assert (window("html"), window("content"), window("reader")) == (None, None, "commit")


def test_the_only_one_may_be_named() -> None:
    found = Expectation.model_validate({"restarts": {"program": "html", "at_most": 0}}).judge(an_observation())
    assert (found.expected, found.holds) == ("at most 0 (program html)", True)
