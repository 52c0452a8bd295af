from dataclasses import replace

import pytest
from pydantic import TypeAdapter

from devkit.expectations.audit import AUDIT
from devkit.expectations.audit_counts import CleanOrCounts
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


@pytest.mark.parametrize(
    ("changes", "holds", "measured", "window"),
    [
        ({}, True, "content: clean: 161 in = 150 out + 4 errors + 7 filtered", None),
        ({"outputs": 148, "lost": 2}, False, "content: lost 2", None),
        ({"mismatched": 1}, False, "content: mismatched 1", "arm"),
        ({"mismatched": 1, "mismatched_outputs": 1}, False, "content: mismatched 1", None),
        (
            {"outputs": 0, "errors": 0, "filtered": 0, "pending": 161},
            False,
            "content: nothing was committed: all",
            "arm",
        ),
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


@pytest.mark.parametrize(
    ("changes", "decisive"),
    [
        ({"mismatched": 2, "mismatched_outputs": 1}, True),
        # An error event of another type may be that of a fetch that timed out.
        ({"mismatched": 2}, False),
    ],
)
@pytest.mark.parametrize("argument", ["clean", {"mismatched": 0}])
def test_an_output_with_other_content_than_it_has_to_have_is_excused_by_nothing(
    argument: object, changes: dict[str, int], decisive: bool
) -> None:
    judged = TypeAdapter(CleanOrCounts).validate_python(argument)
    observation = an_observation(audit=an_audit(**changes))
    finding = AUDIT.judge(judged, observation)
    assert (finding.holds, finding.decisive) == (False, decisive)
    assert AUDIT.depends_on_time(judged, observation) == (None if decisive else "arm")
