import pytest

from tests.unit.devkit.observed import an_audit

ALWAYS = ("lost", "conflicting", "out_of_order", "misrouted", "mismatched", "unattributed")


def test_clean() -> None:
    assert an_audit().problems(restarted=False) == {}
    assert an_audit(pending=3, deferred=2, claim_checks=1).problems(restarted=False) == {}


@pytest.mark.parametrize("restarted", [True, False])
def test_problems_are_counted_by_name_in_a_fixed_order(restarted: bool) -> None:
    audit = an_audit(**{name: number for number, name in enumerate(ALWAYS, 1)})
    problems = audit.problems(restarted=restarted)
    assert list(problems.items()) == [(name, number) for number, name in enumerate(ALWAYS, 1)]


def test_repeats_are_excused_by_a_restart_only() -> None:
    assert an_audit(duplicated=4).problems(restarted=False) == {"duplicated": 4}
    assert an_audit(duplicated=4).problems(restarted=True) == {}
