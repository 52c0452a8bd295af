from tests.unit.devkit.observed import an_audit

ALWAYS = ("lost", "conflicting", "out_of_order", "misrouted", "mismatched", "unattributed")


def test_clean() -> None:
    assert an_audit().problems() == {}
    assert an_audit(pending=3, deferred=2, claim_checks=1).problems() == {}


def test_problems_are_counted_by_name_in_a_fixed_order() -> None:
    audit = an_audit(**{name: number for number, name in enumerate(ALWAYS, 1)})
    problems = audit.problems()
    assert list(problems.items()) == [(name, number) for number, name in enumerate(ALWAYS, 1)]


def test_repeats_are_a_problem_beyond_those_that_are_excused() -> None:
    assert an_audit(duplicated=4).problems() == {"duplicated": 4}
    assert an_audit(duplicated=4, excused=3).problems() == {"duplicated": 1}
    assert an_audit(duplicated=4, excused=4).problems() == {}


def test_conflicts_are_a_problem_beyond_those_that_are_excused() -> None:
    assert an_audit(conflicting=2).problems() == {"conflicting": 2}
    assert an_audit(conflicting=2, excused_conflicts=1).problems() == {"conflicting": 1}
    assert an_audit(conflicting=2, excused_conflicts=2).problems() == {}
