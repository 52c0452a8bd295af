"""Whether faults were seen to act, and what of a verdict is left where one arm met them and the other did not."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from devkit.observe.arm_end import ArmEnd, EndByCondition, EndByRefusal
from devkit.observe.arm_observation import AnyEvidence, ArmObservation, TimelineEvidence
from devkit.observe.arm_role import TWO_ARMS, ArmName
from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.verdict.fault_proof import ByArm, arms_with, unproven
from devkit.verdict.judgement import JudgedArm
from devkit.verdict.shown_cause import shown_causes
from devkit.verdict.unmet_faults import not_started, unmet_faults
from devkit.verdict.verdict import Verdict, judge
from tests.unit.devkit.conftest import Edited
from tests.unit.devkit.observed import an_observation, observed_with, some_evidence
from tests.unit.devkit.verdict.test_verdict import an_arm

Load = Callable[..., Scenario]
RULE = some_evidence(acted=True)
SILENT = some_evidence(fired=False, requests=0, completed=0)
BY_CLIENT = some_evidence(fired=False, requests=0, completed=0, by_client=True)
IDLE = some_evidence(acted=False, inaction="no answer was 504")
CUT = TimelineEvidence(fault="cut", fired=True, asked="network_cut", acted=True, did="it was cut")
NEVER = CUT.model_copy(update={"fired": False, "acted": False, "did": ""})
TIMELINE = "timeline: [{{ name: cut, do: {{ pause: {{ part: kafka }} }}, at: 1s, for: 1s{arms} }}]\narms:\n"
OF_INCIDENT = ("arms:\n", TIMELINE.format(arms=", arms: [incident]"))
OF_BOTH = ("arms:\n", TIMELINE.format(arms=""))
EXPECTED = "    - restarts: { at_least: 2 }\n"
NAME = some_evidence().fault
NO_REQUESTS = {"fired": False, "requests": 0, "completed": 0}
IDLE_CHANGES = {"acted": False, "inaction": "no answer was 504"}


@pytest.fixture
def load(edited: Edited, tmp_path: Path) -> Load:
    def load(*changes: tuple[str, str], cause: str = "") -> Scenario:
        path = tmp_path / "scenario.yaml"
        path.write_text(edited(*changes, *([("arms:\n", f"cause: [{cause}]\narms:\n")] if cause else ())))
        return load_scenario(path)

    return load


def verdict(scenario: Scenario, **observed: ArmObservation) -> Verdict:
    """Of arms that hold, in which each program logged what it was given."""
    settings: dict[str, Any] = {"incident": {"record_limit": {"policy": "none"}}}
    settings["fixed"] = {"record_limit": {"policy": "serialized"}}
    seen = {arm: observed_with(one, confirmed=settings[arm]) for arm, one in observed.items()}
    return judge(
        {arm: JudgedArm.of(scenario, arm, one).result.model_copy(update={"holds": True}) for arm, one in seen.items()},
        {arm: one.evidence for arm, one in seen.items()},
        scenario.roles,
        shown_causes(resolve(scenario), seen),
        unmet_faults(scenario, seen),
        not_started(scenario, seen),
    )


def both(incident: tuple[AnyEvidence, ...], fixed: tuple[AnyEvidence, ...]) -> dict[str, ArmObservation]:
    return {"incident": an_observation(evidence=incident), "fixed": an_observation(evidence=fixed)}


DIFFERS = "{ differs: record_limit.policy }"
ABSENT = "{ fault: cut, absent_in: [fixed] }"


@pytest.mark.parametrize(
    ("change", "cause", "incident", "fixed", "outcome"),
    [
        # The fault of the incident arm alone, with another difference or none named as the cause.
        (OF_INCIDENT, "", (RULE, CUT), (RULE,), "inconclusive"),
        (OF_INCIDENT, DIFFERS, (RULE, CUT), (RULE,), "inconclusive"),
        (OF_INCIDENT, f"{DIFFERS}, {{ fault: cut }}", (RULE, CUT), (RULE,), "inconclusive"),
        (OF_INCIDENT, "{ timeline: any }", (RULE, CUT), (RULE,), "inconclusive"),
        (OF_INCIDENT, ABSENT, (RULE, CUT), (RULE,), "reproduced and fixed"),
        (OF_INCIDENT, f"{ABSENT}, {DIFFERS}", (RULE, CUT), (RULE,), "reproduced and fixed"),
        # That it is absent there does not show that it acted elsewhere.
        (OF_INCIDENT, ABSENT, (RULE, NEVER), (RULE,), "inconclusive"),
        # Both arms have it, and the fixed one never met it.
        (OF_BOTH, DIFFERS, (RULE, CUT), (RULE, NEVER), "inconclusive"),
        (OF_BOTH, DIFFERS, (RULE, CUT), (RULE, CUT), "reproduced and fixed"),
        (OF_BOTH, DIFFERS, (RULE, NEVER), (RULE, NEVER), "reproduced and fixed"),
        (OF_BOTH, DIFFERS, (RULE, CUT), (SILENT, CUT), "inconclusive"),
        (OF_BOTH, DIFFERS, (RULE, CUT), (BY_CLIENT, CUT), "reproduced and fixed"),
        (OF_BOTH, DIFFERS, (RULE, CUT), (IDLE, CUT), "reproduced and fixed"),
        # Of random faults one is enough.
        (OF_BOTH, "{ timeline: any }", (RULE, CUT), (RULE, CUT), "reproduced and fixed"),
    ],
)
def test_a_fix_is_shown_against_the_faults_of_the_incident(
    load: Load,
    change: tuple[str, str],
    cause: str,
    incident: tuple[AnyEvidence, ...],
    fixed: tuple[AnyEvidence, ...],
    outcome: str,
) -> None:
    assert verdict(load(change, cause=cause), **both(incident, fixed)).outcome == outcome


OWN_RULE = "    mock: { rules: [{ name: own, when: { page: Huge }, do: { latency: 1s } }] }\n"


@pytest.mark.parametrize(
    ("absent", "outcome"), [("", "inconclusive"), (", absent_in: [fixed]", "reproduced and fixed")]
)
def test_a_rule_of_the_mock_counts_as_a_fault_of_the_timeline_does(load: Load, absent: str, outcome: str) -> None:
    own = ("arms:\n  incident:\n", f"arms:\n  incident:\n{OWN_RULE}")
    scenario = load(own, cause=f"{{ fault: own{absent} }}, {DIFFERS}")
    of_own = RULE.model_copy(update={"fault": "own"})
    assert verdict(scenario, **both((RULE, of_own), (RULE,))).outcome == outcome


def test_the_reason_says_how_to_declare_it(load: Load) -> None:
    found = verdict(load(OF_INCIDENT), **both((RULE, CUT), (RULE,)))
    assert found.reasons == (
        "fixed: fault 'cut' is in arm incident and not in this one, so nothing shows that the fix withstands it; give "
        "it to fixed as well, or write `cause: [{ fault: cut, absent_in: [fixed] }]` if its absence is the fix",
    )


@pytest.mark.parametrize(("cause", "outcome"), [(DIFFERS, "inconclusive"), (ABSENT, "fixed arm holds")])
def test_the_fixed_arm_by_itself(load: Load, cause: str, outcome: str) -> None:
    fixed = an_observation(evidence=(RULE,))
    assert verdict(load(OF_INCIDENT, cause=cause), fixed=fixed).outcome == outcome


def test_a_fix_that_is_refuted_stays_so(load: Load) -> None:
    scenario = load(OF_INCIDENT)
    seen = both((RULE, CUT), (RULE,))
    results = {arm: JudgedArm.of(scenario, arm, one).result for arm, one in seen.items()}
    results["incident"] = results["incident"].model_copy(update={"holds": True})
    results["fixed"] = results["fixed"].model_copy(update={"holds": False})
    evidence = {arm: one.evidence for arm, one in seen.items()}
    found = judge(results, evidence, unproven_fix=unmet_faults(scenario, seen))
    assert found.outcome == "fix does not hold"


class TestAnArmThatIsNotToRun:
    """No rule of the mock can act on what never ran."""

    @pytest.mark.parametrize("cause", ["", "{ fault: huge page }", DIFFERS])
    @pytest.mark.parametrize(
        ("expected", "end", "ran", "outcome"),
        [
            ("refused: { message: no }", EndByRefusal(), False, "reproduced and fixed"),
            ("refused: { message: no }", EndByRefusal(), None, "reproduced and fixed"),
            ("never_ran: true", EndByCondition(reached={"restarts": 2}), False, "reproduced and fixed"),
            # It was to be refused, and ran.
            ("refused: { message: no }", EndByCondition(reached={"restarts": 2}), True, "inconclusive"),
            # That it never ran is not what was expected.
            ("restarts: { at_least: 2 }", EndByCondition(reached={"restarts": 2}), False, "inconclusive"),
        ],
    )
    def test_is_left_out(
        self, load: Load, cause: str, expected: str, end: ArmEnd, ran: bool | None, outcome: str
    ) -> None:
        scenario = load((EXPECTED, f"    - {expected}\n"), cause=cause)
        incident = an_observation(evidence=(SILENT,), end=end, ran=ran, refusal="no" if ran is False else None)
        found = verdict(scenario, incident=incident, fixed=an_observation(evidence=(RULE,)))
        if cause == DIFFERS:  # which asks for no rule at all
            outcome = "reproduced and fixed"
        assert found.outcome == outcome

    @pytest.mark.parametrize(("cut", "outcome"), [(NEVER, "inconclusive"), (CUT, "reproduced and fixed")])
    def test_shows_a_fault_that_only_it_meets(self, load: Load, cut: TimelineEvidence, outcome: str) -> None:
        scenario = load((EXPECTED, "    - never_ran: true\n"), OF_INCIDENT, cause=ABSENT)
        incident = an_observation(evidence=(SILENT, cut), end=EndByCondition(reached={"restarts": 2}), ran=False)
        assert verdict(scenario, incident=incident, fixed=an_observation(evidence=(RULE,))).outcome == outcome

    def test_is_no_proof_where_no_arm_ran(self, load: Load) -> None:
        refused = "    - refused: { message: no }\n"
        scenario = load((EXPECTED, refused), ("    - drained: true\n", refused))
        seen = an_observation(evidence=(SILENT,), end=EndByRefusal(), refusal="no", ran=False)
        found = verdict(scenario, incident=seen, fixed=seen)
        assert (found.outcome, found.reasons[0].partition(",")[0]) == ("inconclusive", "no arm ran")


def of_timeline(*, fired: bool = True, acted: bool = True) -> TimelineEvidence:
    return TimelineEvidence(fault=NAME, fired=fired, asked="pause: {part: kafka}, at 1s", acted=acted, did="so it was")


OF_MOCK: tuple[AnyEvidence, ...] = (
    some_evidence(),
    some_evidence(acted=True),
    some_evidence(**IDLE_CHANGES),
    some_evidence(**NO_REQUESTS),
    some_evidence(**NO_REQUESTS, by_client=True),
    some_evidence(**NO_REQUESTS, **IDLE_CHANGES),
)
OF_TIMELINE = (of_timeline(), of_timeline(acted=False), of_timeline(fired=False, acted=False))
EVIDENCE = [[(), *((one,) for one in kind)] for kind in (OF_MOCK, OF_TIMELINE)]
RUNS: list[ByArm] = [
    *({"incident": one, "fixed": other} for kind in EVIDENCE for one, other in product(kind, repeat=2)),
    *({arm: one} for kind in EVIDENCE for arm in TWO_ARMS for one in kind),
]


def test_a_cause_of_all_faults_means_what_no_cause_means(edited: Edited, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(edited(("arms:\n", f"cause: [{{ fault: {NAME} }}]\narms:\n")))
    scenario = load_scenario(file)
    outcomes = set()
    for played in RUNS:
        arms = {arm: an_arm(holds=True) for arm in played}
        named = shown_causes(resolve(scenario), {arm: an_observation(evidence=items) for arm, items in played.items()})
        by_cause, by_faults = judge(arms, played, cause=named).outcome, judge(arms, played).outcome
        assert by_cause == by_faults, played
        outcomes.add(by_cause)
    assert outcomes == {"inconclusive", "reproduced and fixed", "incident arm holds", "fixed arm holds"}


def test_one_that_acts_under_load_is_proven_by_the_arm_in_which_it_acted() -> None:
    played: dict[ArmName, list[AnyEvidence]] = {
        "incident": [some_evidence(**IDLE_CHANGES)],
        "fixed": [some_evidence(acted=True)],
    }
    assert unproven(NAME, played, TWO_ARMS) == []
    assert arms_with(NAME, played) == ("fixed",)


def test_of_a_rule_that_matched_nothing_its_window_is_told() -> None:
    windowed = some_evidence(**NO_REQUESTS, window=(2, 5), last_request_s=1.84)
    assert unproven(NAME, {"incident": (windowed,)}, TWO_ARMS) == [
        f"incident: fault {NAME!r} matched no request: its window was open from 2 s to 5 s after the first request, "
        "and requests came from 0 s to 1.8 s"
    ]
