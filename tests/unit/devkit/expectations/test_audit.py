"""What a clean audit is, of one program and of several, and what a restart excuses."""

from dataclasses import replace

import pytest

from devkit.expectations.audit import AUDIT
from tests.unit.devkit.observed import a_program, an_audit, an_observation


def test_output_of_a_job_without_a_truth_is_not_audited() -> None:
    unaudited = an_observation(audit=an_audit(unaudited=True))
    finding = AUDIT.judge("clean", unaudited)
    assert (finding.holds, finding.measured) == (
        None,
        "n/a: the main program is not audited, as no truth is registered for its job, which would say what its output "
        "must be",
    )
    assert AUDIT.depends_on_time("clean", unaudited) is None


CONTENT = a_program("content")
NEVER_TAKEN = {"outputs": 0, "errors": 0, "filtered": 0, "pending": 161}
CLEAN = "clean: 161 in = 150 out + 4 errors + 7 filtered"


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
