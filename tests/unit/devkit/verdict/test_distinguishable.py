"""Arms that nothing expected tells apart, by observations made by hand."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.observe.arm_observation import ArmObservation
from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario
from devkit.verdict.distinguishable import find_indistinguishable
from tests.unit.devkit.conftest import Edited
from tests.unit.devkit.observed import an_audit, an_observation

OF_FILE = """\
  incident:
    - restarts: { at_least: 2 }
    - exception: { class: RecordTooLargeException, message: "23048294" }
  fixed:
    - drained: true
    - audit: clean
"""
OTHERS = "  incident: [{incident}]\n  fixed: [{fixed}]\n"
Expecting = Callable[[str, str], Scenario]


@pytest.fixture
def expecting(edited: Edited, tmp_path: Path) -> Expecting:
    """The scenario, with these expectations of its arms."""

    def load(incident: str, fixed: str) -> Scenario:
        path = tmp_path / "scenario.yaml"
        path.write_text(edited((OF_FILE, OTHERS.format(incident=incident, fixed=fixed))))
        return load_scenario(path)

    return load


def both(incident: ArmObservation, fixed: ArmObservation) -> dict[str, ArmObservation]:
    return {"incident": incident, "fixed": fixed}


DRAINED, RESTARTED = an_observation(), an_observation(restarts=2)


def test_two_arms_that_do_the_same_are_alike(expecting: Expecting) -> None:
    scenario = expecting("{ drained: true }", "{ drained: true }, { audit: clean }")
    (reason,) = find_indistinguishable(scenario, both(DRAINED, DRAINED))
    assert reason.startswith(
        "nothing that is expected tells incident from fixed: fixed does all that incident is expected"
    )


def test_what_only_the_incident_arm_does_tells_them_apart(expecting: Expecting) -> None:
    scenario = expecting("{ restarts: { at_least: 2 } }", "{ drained: true }")
    assert find_indistinguishable(scenario, both(RESTARTED, DRAINED)) == ()


def test_what_only_the_fixed_arm_does_tells_them_apart(expecting: Expecting) -> None:
    scenario = expecting("{ drained: true }", "{ audit: clean }")
    lossy = an_observation(audit=an_audit(outputs=149, lost=1))
    assert find_indistinguishable(scenario, both(lossy, DRAINED)) == ()


@pytest.mark.parametrize(("bound", "tells"), [("at_least: 8", True), ("at_most: 3", False), ("at_most: 0.5", True)])
def test_a_ratio_tells_arms_apart_which_an_arm_does_not_have_to_itself(
    expecting: Expecting, bound: str, tells: bool
) -> None:
    compare = f"{{ compare: {{ latency: {{ percentile: 50, arms: [fixed, incident], {bound} }} }} }}"
    scenario = expecting("{ drained: true }", compare)
    assert (find_indistinguishable(scenario, both(DRAINED, DRAINED)) == ()) is tells


def test_what_is_not_known_of_an_arm_does_not_make_it_alike(expecting: Expecting) -> None:
    scenario = expecting("{ drained: true }", "{ replays: 0 }")
    unseen = an_observation(not_observable=frozenset({"batches"}))
    assert find_indistinguishable(scenario, both(unseen, DRAINED)) == ()


def test_an_arm_that_was_not_played_is_like_no_other(expecting: Expecting) -> None:
    assert find_indistinguishable(expecting("{ drained: true }", "{ drained: true }"), {"fixed": DRAINED}) == ()
