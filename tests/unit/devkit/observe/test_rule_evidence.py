"""What proves that a fault fired, and what that it acted."""

from typing import Any

import pytest

from devkit.observe.arm_observation import Evidence, RuleSwitch
from devkit.observe.rule_evidence import rule_evidence
from mockapi.client.journal_counts import JournalTotals
from mockapi.rules.model import Rule

MET: dict[str, Any] = {
    "requests": 3,
    "completed": 2,
    "by_status": {"200": 2, "none": 1},
    "max_real_bytes": 20,
    "max_wire_bytes": 10,
    "max_content_length": 10,
    "max_duration_s": 0.5,
    "first_at_s": 0.0,
    "last_at_s": 4.5,
}


def evidence(do: dict[str, Any], met: dict[str, Any] | None = None, *, max_queued: int = 0, **rest: Any) -> Evidence:
    rule = Rule.model_validate({"name": "fault", "do": do, **rest})
    counts = JournalTotals.model_validate(
        {
            "requests": 9,
            "in_flight": 0,
            "by_status": {},
            "upstream": {"max_queued": max_queued},
            "rules": {"fault": MET | (met or {}), "removed": MET},
        }
    )
    (found,) = rule_evidence([rule], counts)
    return found


def test_is_what_the_journal_counted() -> None:
    assert evidence({"latency": "1s"}) == Evidence(
        fault="fault",
        fired=True,
        requests=3,
        completed=2,
        max_content_length_bytes=10,
        max_wire_bytes=10,
        max_real_bytes=20,
        max_duration_s=0.5,
        by_status={"200": 2, "none": 1},
        first_at_s=0.0,
        last_at_s=4.5,
    )


def test_a_fault_fired_when_it_met_a_request() -> None:
    assert not evidence({"status": 504}, {"requests": 0}).fired


@pytest.mark.parametrize("do", [{"latency": "1s"}, {"status": 504}, {"parse": "80ms"}])
def test_a_fault_of_each_request_acts_on_all_it_meets(do: dict[str, Any]) -> None:
    found = evidence(do, {"requests": 1})
    assert (found.fired, found.acted, found.inaction) == (True, None, "")


@pytest.mark.parametrize(
    ("do", "effect", "inaction"),
    [
        ({"body": {"size": "2MiB"}}, "body", "no answer had that document or coding"),
        (
            {"error": "readonly"},
            "error",
            "no answer was the error readonly: docs/faults.md says which requests can get it",
        ),
        ({"content_encoding": "gzip"}, "content_encoding", "each answer had that header anyway"),
        ({"truncate": {"after": "50%"}}, "ending", "each answer was sent whole"),
        ({"bandwidth": "64KiB"}, "pace", "no answer had a body"),
    ],
)
def test_a_fault_of_answers_acts_when_it_changed_one(do: dict[str, Any], effect: str, inaction: str) -> None:
    unchanged, changed = evidence(do), evidence(do, {"changed_by": {effect: 1}})
    assert (unchanged.acted, unchanged.inaction) == (False, inaction)
    assert (changed.acted, changed.inaction) == (True, "")


CAPACITY = {"capacity": {"parses": 4, "queue": 5, "overflow": 429}}
TIMEOUT = {"gateway_timeout": "2s"}
BOTH = TIMEOUT | {"capacity": 4}
LIMIT = {"rate_limit": {"rate": "20/s"}}


@pytest.mark.parametrize(
    ("do", "by_status", "max_queued", "inaction"),
    [
        pytest.param(CAPACITY, None, 0, "no request had to queue", id="a capacity that was not reached"),
        pytest.param(CAPACITY, {"503": 1}, 0, "no request had to queue", id="a 503, which is not its overflow"),
        pytest.param(CAPACITY, None, 1, "", id="a request had to queue"),
        pytest.param(CAPACITY, {"429": 1}, 0, "", id="a request was turned away"),
        pytest.param(TIMEOUT, None, 0, "no answer was 504", id="a gateway's timeout that did not answer"),
        pytest.param(TIMEOUT, {"200": 1, "504": 1}, 0, "", id="a gateway's timeout that answered"),
        pytest.param(LIMIT, None, 0, "no answer was 429", id="a rate limit that turned nobody away"),
        pytest.param(LIMIT, {"429": 1}, 0, "", id="a rate limit that turned somebody away"),
        pytest.param(BOTH, None, 0, "no request had to queue; no answer was 504", id="neither of two faults"),
        pytest.param(BOTH, None, 3, "no answer was 504", id="one of two faults"),
        pytest.param(BOTH, {"504": 1}, 3, "", id="both of two faults"),
    ],
)
def test_a_fault_of_some_requests_acts_when_one_shows_it(
    do: dict[str, Any], by_status: dict[str, int] | None, max_queued: int, inaction: str
) -> None:
    found = evidence(do, {"by_status": by_status} if by_status else None, max_queued=max_queued)
    assert (found.acted, found.inaction) == (not inaction, inaction)


@pytest.mark.parametrize(
    ("rest", "by_client"),
    [
        ({"when": {"attempt": {"at_least": 2}}}, True),
        ({"when": {"nth": 3}}, True),
        ({"when": {"header": {"x-a": True}}}, True),
        ({"times": 2}, True),
        ({"when": {"share": "1%", "window": {"for": "3s"}, "probability": "5%"}}, False),
    ],
)
def test_some_rules_pick_requests_by_what_clients_do(rest: dict[str, Any], by_client: bool) -> None:
    assert evidence({"status": 503}, **rest).by_client is by_client


def counts(**more: Any) -> JournalTotals:
    """Of a journal that knows no rule."""
    return JournalTotals.model_validate({"requests": 0, "in_flight": 0, "by_status": {}, "rules": {}} | more)


def test_a_rule_that_the_journal_does_not_know_did_not_fire_and_may_have_been_switched() -> None:
    rules = [Rule.model_validate({"name": name, "do": {"latency": "1s"}}) for name in ("slow", "gone", "always")]
    on = RuleSwitch(on=True, at_s=4.5, published=90)
    found = rule_evidence(rules, counts(), {"slow": [on], "gone": []})
    assert [(one.fault, one.fired, one.requests, one.switches) for one in found] == [
        ("slow", False, 0, (on,)),
        ("gone", False, 0, ()),
        ("always", False, 0, None),
    ]


AFTER = " after the first request"


@pytest.mark.parametrize(
    ("window", "last_s", "spans", "is_early"),
    [
        ({"from": "2s", "for": "3s"}, 1.84, f"from 2 s to 5 s{AFTER}, and requests came from 0 s to 1.8 s", True),
        ({"for": "3s"}, 60.0, f"from 0 s to 3 s{AFTER}, and requests came from 0 s to 60.0 s", False),
        ({"from": "2s"}, None, f"from 2 s on{AFTER}, and none came", True),
        (None, 1.84, "", False),
    ],
)
def test_when_its_window_was_open_and_when_requests_came(
    window: dict[str, str] | None, last_s: float | None, spans: str, is_early: bool
) -> None:
    when = {} if window is None else {"window": window}
    rule = Rule.model_validate({"name": "outage", "do": {"status": 503}, "when": when})
    (found,) = rule_evidence([rule], counts(last_at_s=last_s))
    assert (found.spans, found.came_too_early) == (spans and f": its window was open {spans}", is_early)
