"""What a clean audit is, and bounds on what it counts: of all programs together, excused apart, or unknown."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from devkit.expectations import Expectation
from devkit.expectations.audit import AUDIT
from devkit.headroom.shortage import Window
from devkit.observe.observable import Observable
from located_config.problem import problems
from tests.unit.devkit.expectations.test_needs import HIDDEN, HIDING
from tests.unit.devkit.observed import a_program, an_audit, an_observation

CONTENT = a_program("content")
NEVER_TAKEN = {"outputs": 0, "errors": 0, "filtered": 0, "pending": 161}
CLEAN = "clean: 161 in = 150 out + 4 errors + 7 filtered"
LOST_TWO = an_audit(outputs=148, lost=2)
REPLAYED = an_audit(duplicated=5, excused=3, conflicting=2, excused_conflicts=2)


def counts(**bounds: Any) -> Expectation:
    return Expectation.model_validate({"audit": bounds})


@pytest.mark.parametrize(
    ("bounds", "audit", "measured", "holds"),
    [
        ({"lost": {"at_least": 1}}, LOST_TWO, "lost 2", True),
        ({"lost": {"at_least": 3}}, LOST_TWO, "lost 2", False),
        ({"lost": {"at_least": 1}, "out_of_order": 0}, LOST_TWO, "lost 2, out_of_order 0", True),
        ({"lost": 2, "duplicated": 0}, REPLAYED, "lost 0, duplicated 2", False),
        ({"duplicated": 2, "excused": 3}, REPLAYED, "duplicated 2, excused 3", True),
        ({"conflicting": 0, "excused_conflicts": 2}, REPLAYED, "conflicting 0, excused_conflicts 2", True),
    ],
)
def test_each_count_has_its_bound(bounds: dict[str, Any], audit: Any, measured: str, holds: bool) -> None:
    finding = counts(**bounds).judge(an_observation(audit=audit))
    assert (finding.measured, finding.holds) == (measured, holds)


def test_programs_count_together() -> None:
    both = an_observation(audit=LOST_TWO, programs=(replace(CONTENT, audit=LOST_TWO),))
    assert counts(lost=4).judge(both).holds is True


UNTOUCHED = an_audit(**NEVER_TAKEN)


@pytest.mark.parametrize(
    ("changes", "bounds", "measured"),
    [
        ({"audit": UNTOUCHED}, {"lost": 0}, "n/a: nothing was committed: all 161 inputs are still in the source"),
        ({"audit": an_audit(inputs=0)}, {"duplicated": 0}, "n/a: no inputs"),
        ({"audit": an_audit(unaudited=True)}, {"lost": 0}, "n/a: the main program is not audited, as no truth"),
        (
            {"audit": LOST_TWO, "evidence": (HIDING,)},
            {"lost": {"at_least": 1}},
            "n/a: 9 records went with topic enriched",
        ),
    ],
)
def test_no_data_is_undecided(changes: dict[str, Any], bounds: dict[str, Any], measured: str) -> None:
    finding = counts(**bounds).judge(an_observation(**changes))
    assert finding.holds is None
    assert finding.measured.startswith(measured)


@pytest.mark.parametrize(
    ("bounds", "audit", "holds"),
    [
        # What was hidden may have been a duplicate, too, or the first record of what seems to be late.
        ({"duplicated": 0}, an_audit(), None),
        ({"mismatched": {"at_most": 2}}, an_audit(mismatched=1), None),
        ({"out_of_order": 0}, an_audit(out_of_order=1), None),
        ({"duplicated": {"at_least": 2}}, an_audit(duplicated=1), None),
        # What was seen, was.
        ({"duplicated": {"at_least": 1}}, an_audit(duplicated=1), True),
        ({"duplicated": 0}, an_audit(duplicated=1), False),
        ({"duplicated": 0, "lost": 0}, an_audit(duplicated=1, outputs=148, lost=2), False),
    ],
)
def test_where_records_were_hidden_only_what_was_seen_is_known(
    bounds: dict[str, Any], audit: Any, holds: bool | None
) -> None:
    assert counts(**bounds).judge(an_observation(audit=audit, evidence=(HIDING,))).holds is holds


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({}, None),
        ({"outputs": 149, "lost": 1}, None),
        ({"out_of_order": 1}, None),
        ({"mismatched": 1}, False),
        ({"conflicting": 1}, False),
    ],
)
def test_nor_is_such_an_arm_clean(changes: dict[str, int], holds: bool | None) -> None:
    clean = Expectation.model_validate({"audit": "clean"})
    finding = clean.judge(an_observation(audit=an_audit(**changes), evidence=(HIDING,)))
    assert finding.holds is holds
    assert (HIDDEN in finding.measured) is (holds is None)


@pytest.mark.parametrize(
    ("bounds", "audit", "drained", "unknown"),
    [
        ({"lost": 2}, LOST_TWO, True, ["sources"]),
        ({"lost": 2}, LOST_TWO, False, ["sources", "offsets"]),
        ({"mismatched": 0}, LOST_TWO, False, ["sources"]),
        ({"duplicated": 2}, REPLAYED, True, ["sources", "batches", "checkpoint"]),
    ],
)
def test_undecided_without_what_it_is_counted_by(
    bounds: dict[str, Any], audit: Any, drained: bool, unknown: list[Observable]
) -> None:
    every: tuple[Observable, ...] = ("sources", "batches", "offsets", "checkpoint", "words", "deferrals")
    for one in every:
        observed = an_observation(audit=audit, drained=drained, not_observable=frozenset({one}))
        assert (counts(**bounds).judge(observed).holds is None) == (one in unknown)


@pytest.mark.parametrize(
    ("bounds", "audit", "window", "decisive"),
    [
        ({"lost": {"at_least": 1}}, LOST_TWO, None, False),
        ({"lost": 0}, LOST_TWO, None, True),
        ({"lost": {"at_least": 3}}, LOST_TWO, "arm", False),
        ({"lost": 0}, an_audit(), None, False),
        ({"lost": 0}, UNTOUCHED, "arm", False),
        ({"misrouted": 0}, an_audit(misrouted=1), "arm", False),
        ({"mismatched": 0}, an_audit(mismatched=1), "arm", False),
        ({"mismatched": 0}, an_audit(mismatched=1, mismatched_outputs=1), None, True),
        ({"mismatched": {"at_least": 1}}, an_audit(mismatched=1, mismatched_outputs=1), None, False),
        ({"misrouted": {"at_least": 1}}, an_audit(misrouted=1), "arm", False),
        ({"misrouted": 1}, an_audit(misrouted=1, timed_out=1), "commit", False),
        ({"conflicting": 0}, an_audit(conflicting=1, timed_out=1, timed_out_conflicts=1), "commit", False),
        ({"conflicting": 0}, an_audit(conflicting=2, timed_out=1, timed_out_conflicts=1), None, True),
        ({"excused": {"at_least": 1}}, REPLAYED, "commit", False),
    ],
)
def test_what_was_lost_no_machine_excuses(
    bounds: dict[str, Any], audit: Any, window: Window | None, decisive: bool
) -> None:
    observed = an_observation(audit=audit)
    assert counts(**bounds).depends_on_time(observed) == window
    assert counts(**bounds).judge(observed).decisive is decisive


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({}, "no count; write for example {lost: {at_least: 1}}, or `clean`"),
        ({"lots": 1}, "Extra inputs are not permitted"),
        ({"lost": {"at_least": 2, "at_most": 1}}, "swap them?"),
    ],
)
def test_refused(bounds: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message.replace("{", r"\{").replace("?", r"\?")):
        counts(**bounds)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("losst", "audit.losst: unknown key; did you mean 'lost'?"),
        ("zzz", "audit.zzz: unknown key; there are: lost, lapsed, deduplicated, repeats_emitted, duplicated, "),
    ],
)
def test_a_count_that_there_is_not_is_told_with_those_that_there_are(key: str, message: str) -> None:
    document = {"audit": {key: 0}}
    with pytest.raises(ValidationError) as refused:
        Expectation.model_validate(document)
    (problem,) = problems(refused.value, Expectation, document)
    assert str(problem).startswith(message)


def test_output_of_a_job_without_a_truth_is_not_audited() -> None:
    unaudited = an_observation(audit=an_audit(unaudited=True))
    finding = AUDIT.judge("clean", unaudited)
    assert (finding.holds, finding.measured) == (
        None,
        "n/a: the main program is not audited, as no truth is registered for its job, which would say what its output "
        "must be",
    )
    assert AUDIT.depends_on_time("clean", unaudited) is None


@pytest.mark.parametrize(
    ("changes", "holds", "measured", "window"),
    [
        ({}, True, f"content: {CLEAN}", None),
        ({"outputs": 148, "lost": 2}, False, "content: lost 2", None),
        ({"mismatched": 1}, False, "content: mismatched 1", "arm"),
        ({"mismatched": 1, "mismatched_outputs": 1}, False, "content: mismatched 1", None),
        (NEVER_TAKEN, False, "content: nothing was committed: all", "arm"),
    ],
)
def test_of_all_programs_that_are_audited(
    changes: dict[str, int], holds: bool, measured: str, window: str | None
) -> None:
    observation = an_observation(programs=(replace(CONTENT, audit=an_audit(**changes)),))
    finding = AUDIT.judge("clean", observation)
    assert (finding.holds, measured in finding.measured) == (holds, True)
    assert finding.measured.startswith("clean: 161 in = ")
    assert AUDIT.depends_on_time("clean", observation) == window
    # An output with other content than it has to have is excused by nothing; an error event may be of a timeout.
    assert finding.decisive == (not holds and window is None)


REPEATED, CONTRADICTED = {"duplicated": 3, "excused": 3}, {"conflicting": 2, "excused_conflicts": 2}
ONE_CONTRADICTED = {"conflicting": 1, "excused_conflicts": 1}
BY_RETRY = {"excused_by_retry": 1, "excused_conflicts_by_retry": 1}


@pytest.mark.parametrize(
    ("figures", "measured", "holds"),
    [
        (REPEATED, f"{CLEAN}, and 3 repeats by replays", True),
        ({"duplicated": 3, "excused": 2}, "duplicated 1", False),
        (ONE_CONTRADICTED, f"{CLEAN}, and 1 conflict by replays", True),
        ({"conflicting": 2, "excused_conflicts": 1}, "conflicting 1", False),
        ({"conflicting": 1}, "conflicting 1", False),
        (REPEATED | CONTRADICTED, f"{CLEAN}, and 3 repeats by replays, and 2 conflicts by replays", True),
        (REPEATED | {"excused_by_retry": 3}, f"{CLEAN}, and 3 repeats by retried tasks", True),
        (
            REPEATED | ONE_CONTRADICTED | BY_RETRY,
            f"{CLEAN}, and 2 repeats by replays, and 1 repeat by retried tasks, and 1 conflict by retried tasks",
            True,
        ),
    ],
)
def test_what_a_restart_excuses_is_clean_and_counted(figures: dict[str, int], measured: str, holds: bool) -> None:
    found = AUDIT.judge("clean", an_observation(audit=an_audit(**figures), restarts=1))
    assert (found.measured, found.holds) == (measured, holds)
