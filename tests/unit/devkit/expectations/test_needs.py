from typing import Any

import pytest

from devkit.expectations import EXPECTATIONS, Expectation
from devkit.observe.departed import Left
from devkit.observe.sight import Sight
from tests.unit.devkit.observed import an_audit, an_observation

ALL: tuple[Sight, ...] = ("offsets", "batches", "words", "deferrals", "sources")
"""What a program may not show."""
NOT_JUDGED: dict[Sight, tuple[dict[str, Any], ...]] = {
    "offsets": ({"replayed_offsets": 0}, {"past_failed_batch": 0}, {"flat_commit": "1s"}, {"idle_cpu": 1}),
    "batches": ({"replays": 0}, {"replayed_offsets": 0}),
    "words": ({"failure": {"message": "x"}},),
    "deferrals": ({"deferred": 0}, {"batch_budget": 0}),
    "sources": (
        {"latency": {"percentile": 50, "at_most": "1s"}},
        {"latency": {"percentile": 50, "at_most": "1s", "of": "healthy"}},
        {"claim_checks": 0},
        {"audit": "clean"},
    ),
    "upstream": (
        {"amplification": 1},
        {"abandoned": "0%"},
        {"success_rate": {"at_least": "50%"}},
        {"peak_queue": 0},
        {"latency": {"percentile": 50, "at_most": "1s", "of": "healthy"}},
    ),
}
"""What cannot be judged when this one is not observable, of an arm that has drained."""
EVERY: tuple[dict[str, Any], ...] = (
    {"restarts": 0},
    {"replays": 0},
    {"replayed_offsets": 0},
    {"exception": {"class": "X"}},
    {"failure": {"message": "x"}},
    {"past_failed_batch": 0},
    {"flat_commit": "1s"},
    {"idle_cpu": 1},
    {"amplification": 1},
    {"abandoned": "0%"},
    {"success_rate": {"at_least": "50%"}},
    {"peak_queue": 0},
    {"audit": "clean"},
    {"drained": True},
    {"deferred": 0},
    {"batch_budget": 0},
    {"latency": {"percentile": 50, "at_most": "1s"}},
    {"latency": {"percentile": 50, "at_most": "1s", "of": "healthy"}},
    {"claim_checks": 0},
    {"container_kills": 0},
    {"peak_memory": "2GiB"},
)
BESIDE = {"refused", "metric_exists", "metric_missing", "log"}
"""What is judged by something else than what a pipeline shows: a start of its own, a page of metrics, a log."""


def test_every_expectation_is_tried() -> None:
    assert {name for one in EVERY for name in one} == set(EXPECTATIONS) - BESIDE


@pytest.mark.parametrize("sight", NOT_JUDGED)
@pytest.mark.parametrize("stated", EVERY, ids=lambda stated: next(iter(stated)))
def test_what_was_not_seen_is_neither_met_nor_broken_and_all_else_is(sight: Sight, stated: dict[str, Any]) -> None:
    finding = Expectation.model_validate(stated).judge(an_observation(unseen=frozenset({sight})))
    assert (finding.holds is None) == (stated in NOT_JUDGED[sight])
    said = finding.measured.startswith(
        "n/a: not observable (the mock API was restarted"
        if sight == "upstream"
        else "n/a: not observable in the program under test ("
    )
    assert said == (finding.holds is None)


@pytest.mark.parametrize(("name", "argument"), [("restarts", 0), ("peak_queue", 0), ("drained", True)])
def test_what_shows_from_outside_is_judged_all_the_same(name: str, argument: object) -> None:
    finding = Expectation.model_validate({name: argument}).judge(an_observation(unseen=frozenset(ALL)))
    assert finding.holds is True


def test_drained_is_told_by_what_has_left_where_no_offsets_are_seen() -> None:
    left = Left(3, 5, names_sources=True)
    finding = Expectation.model_validate({"drained": False}).judge(
        an_observation(unseen=frozenset(ALL), left=left, drained=False)
    )
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
