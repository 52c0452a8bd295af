import pytest

from devkit.expectations import CHECKS, Expectation
from devkit.expectations.needs import NEEDS
from devkit.observe.departed import Left
from devkit.observe.sight import BECAUSE
from tests.unit.devkit.observed import an_audit, an_observation

ALL = frozenset(BECAUSE)
ARGUMENTS = {
    "replays": 0,
    "replayed_offsets": 0,
    "past_failed_batch": 0,
    "flat_commit": "1s",
    "idle_cpu": 1,
    "failure": {"message": "x"},
    "deferred": 0,
    "batch_budget": 0,
    "latency": {"percentile": 50, "at_most": "1s"},
    "claim_checks": 0,
}


def test_each_check_that_needs_something_is_one() -> None:
    assert set(NEEDS) == set(ARGUMENTS) <= set(CHECKS)


@pytest.mark.parametrize("name", NEEDS)
def test_what_was_not_seen_is_neither_met_nor_broken(name: str) -> None:
    expectation = Expectation.model_validate({name: ARGUMENTS[name]})
    finding = expectation.judge(an_observation(unseen=NEEDS[name]))
    assert finding.holds is None
    assert finding.measured.startswith("n/a: not observable in a pipeline of one's own (")
    assert expectation.judge(an_observation(unseen=ALL - NEEDS[name])).holds is not None


@pytest.mark.parametrize(("name", "argument"), [("restarts", 0), ("peak_queue", 0), ("drained", True)])
def test_what_shows_from_outside_is_judged_all_the_same(name: str, argument: object) -> None:
    finding = Expectation.model_validate({name: argument}).judge(an_observation(unseen=ALL))
    assert finding.holds is True


def test_drained_is_told_by_what_has_left_where_no_offsets_are_seen() -> None:
    left = Left(3, 5, names_sources=True)
    finding = Expectation.model_validate({"drained": False}).judge(an_observation(unseen=ALL, left=left, drained=False))
    assert (finding.holds, finding.measured) == (True, "3 of 5 events that had to leave have left")


class TestAudit:
    AUDIT = Expectation.model_validate({"audit": "clean"})

    def test_nothing_can_be_told_without_sources(self) -> None:
        audit = an_audit(unattributed=161, outputs=0, errors=0, lost=154)
        assert self.AUDIT.judge(an_observation(unseen=frozenset({"sources"}), audit=audit)).holds is None

    def test_all_has_left_so_no_offsets_are_needed(self) -> None:
        assert self.AUDIT.judge(an_observation(unseen=frozenset({"offsets"}))).holds is True

    def test_what_has_not_left_may_be_lost_or_not(self) -> None:
        observation = an_observation(unseen=frozenset({"offsets"}), drained=False, audit=an_audit(pending=9))
        assert self.AUDIT.judge(observation).holds is None

    def test_a_problem_that_shows_is_one(self) -> None:
        observation = an_observation(unseen=frozenset({"offsets"}), drained=False, audit=an_audit(mismatched=1))
        assert self.AUDIT.judge(observation).holds is False
