import pytest

from tests.unit.devkit.observed import an_audit

ALWAYS = ("lost", "conflicting", "out_of_order", "misrouted", "mismatched", "unattributed")


@pytest.mark.parametrize(
    ("figures", "problems"),
    [
        ({}, {}),
        ({"pending": 3, "deferred": 2, "claim_checks": 1}, {}),
        ({"duplicated": 4}, {"duplicated": 4}),
        ({"duplicated": 4, "excused": 3}, {"duplicated": 1}),
        ({"duplicated": 4, "excused": 4}, {}),
        ({"conflicting": 2}, {"conflicting": 2}),
        ({"conflicting": 2, "excused_conflicts": 1}, {"conflicting": 1}),
        ({"conflicting": 2, "excused_conflicts": 2}, {}),
    ],
)
def test_repeats_and_conflicts_are_a_problem_beyond_those_that_are_excused(
    figures: dict[str, int], problems: dict[str, int]
) -> None:
    assert an_audit(**figures).problems() == problems


def test_problems_are_counted_by_name_in_a_fixed_order() -> None:
    audit = an_audit(**{name: number for number, name in enumerate(ALWAYS, 1)})
    problems = audit.problems()
    assert list(problems.items()) == [(name, number) for number, name in enumerate(ALWAYS, 1)]
