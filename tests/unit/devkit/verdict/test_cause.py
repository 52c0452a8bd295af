"""What a scenario names as its cause: what a file may say, and whether a run showed it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

from devkit.observe.arm_end import EndByRefusal
from devkit.observe.arm_observation import ArmObservation, FirstTry, TimelineEvidence
from devkit.observe.settings import OtherSetting
from devkit.observe.timeline.action_outcomes import StepOutcome
from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandProgram
from devkit.report.result import CauseResult
from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.verdict.shown_cause import shown_causes
from devkit.verdict.verdict import judge
from tests.unit.devkit.conftest import Edited
from tests.unit.devkit.observed import A_SAMPLE, an_observation, some_evidence
from tests.unit.devkit.verdict.test_verdict import an_arm

ARMS = ("incident", "fixed")
Change = tuple[str, str]
Load = Callable[..., Scenario]
Seen = Mapping[str, Any]
File = tuple[Any, ...]
"""A cause, and the changes to the file."""
NONE: Seen = {}


@pytest.fixture
def load(edited: Edited, tmp_path: Path) -> Load:
    """The scenario with this cause."""

    def load(cause: str, *changes: Change, unchecked: bool = False) -> Scenario:
        file = tmp_path / "scenario.yaml"
        file.write_text(edited(("arms:\n", f"cause: [{cause}]\narms:\n"), *changes))
        return load_scenario(file, unchecked=unchecked)

    return load


def confirmed(scenario: Scenario, arm: str) -> dict[str, Any]:
    """What an arm's program logs of what it was given."""
    return {"confirmed": resolve(scenario).arms[arm].main.configured.effective()}


def shown(scenario: Scenario, played: Mapping[str, ArmObservation]) -> CauseResult:
    """Of its only cause."""
    (found,) = shown_causes(resolve(scenario), played)
    return found


def in_incident(text: str) -> Change:
    return "arms:\n  incident:\n", f"arms:\n  incident:\n    {text}\n"


def in_fixed(text: str) -> Change:
    return "  fixed:\n", f"  fixed:\n    {text}\n"


def skews(*seconds: float | None) -> Seen:
    return {"samples": tuple(A_SAMPLE.model_copy(update={"event_time_skew_s": one}) for one in seconds)}


def steps(*holds: bool | None) -> Seen:
    return {"steps": tuple(StepOutcome(number=n, step="make", holds=it) for n, it in enumerate(holds, 1))}


def met(*acted: bool) -> Seen:
    """Faults of the timeline with these outcomes, and a rule of the mock that acted."""
    faults = (TimelineEvidence(fault=f"{at}", fired=True, asked="", acted=it, did="") for at, it in enumerate(acted))
    return {"evidence": (some_evidence(), *faults)}


def tried(refusal: str | None) -> Seen:
    return {"tried_first": FirstTry(refusal)}


def variables(**environment: str) -> Seen:
    return {"environment": environment}


def x(*arguments: str) -> Seen:
    """A process of the program `x`."""
    return {"command_line": ("x", *arguments)}


def skew_of(incident: float, fixed: float) -> str:
    return f"highest {incident}s (incident), {fixed}s (fixed)"


def acted(incident: str, fixed: str) -> str:
    return f"incident: {incident} acted; fixed: {fixed} acted"


def case(name: str, file: File, is_shown: bool, did: str, incident: Seen = NONE, fixed: Seen = NONE) -> ParameterSet:
    return pytest.param(file, incident, fixed, is_shown, did, id=name)


NO_REQUESTS = {"fired": False, "requests": 0, "completed": 0}
SILENT = {"evidence": (some_evidence(**NO_REQUESTS),)}
UNMET = {"evidence": (some_evidence(**NO_REQUESTS, by_client=True),)}
NO_FAULT: Seen = {"evidence": ()}
TWO_OF_ONE_NAME = "two metrics of one name"
AS_DECLARED: Seen = {"other_settings": {}}
RAN_500: Seen = {"other_settings": {"batch.max_offsets": OtherSetting(declared=50, ran=500)}}
DID_500 = "batch.max_offsets 500, declared 50"

STILL = "timeline: [{ name: still, do: { pause: { part: kafka } }, at: 1s, for: 1s }]\narms:\n"
PUBLISHED = ("  seed: 7\n", "  seed: 7\n  event_times: { published: x1 }\n")
OWN_PROCESS = in_incident("environment: { BATCH: '500' }\n    arguments: [--at, '5 s']")
POLICY = ("{ differs: record_limit.policy }",)
DOTTED = ("{ differs: sink.max.request.size }", in_fixed("sink: { max.request.size: 7MiB }"))
ATTEMPTS = ("{ differs: supervisor.attempts }", in_fixed("supervisor: { attempts: 3 }"))
STEPS = ("{ differs: steps }", in_fixed("steps: [{ command: [make, checkpoint] }, { start: checkpoint }]"))
SKEW = ("{ event_time_skew: 2m }", PUBLISHED)
FAULT = ("{ fault: huge page }",)
TIMELINE = ("{ timeline: any }", ("arms:\n", STILL))
REFUSED = ("{ refused: two metrics }", ("expect:\n", "tried_first: { fixed: {} }\nexpect:\n"))
OWN_REFUSED = (REFUSED[0], ("    - restarts: { at_least: 2 }\n", "    - refused: { message: two metrics }\n"))
RAW = ("{ differs: raw_config }", in_incident("raw_config: |\n      a: 1\n      b: 2"))
VARIABLE = ("{ differs: environment.BATCH }", OWN_PROCESS)
ARGUMENTS = ("{ differs: arguments }", OWN_PROCESS)

SERIALIZED: Seen = {"confirmed": {"record_limit": {"policy": "serialized"}}}
NOT_LOGGED: Seen = {"other_settings": None}
ONE_OF_TWO = met(True, False)
ALL_TAKEN = "0 steps (incident), 2 steps (fixed), all of them taken"
NEVER_STARTED = "the program of incident was never started"
SAID_NOTHING = "the program of fixed did not confirm it in its log"
NOTHING_CHANGED = "it changed no setting that the programs ran with (nothing otherwise than declared)"
OTHERWISE = "which is not what it was given"
NOT_IN_FIXED = "not set (fixed), as its process was started"
NOT_REFUSED = "incident: it started; fixed: it started"
NO_FAULT_INJECTED = (
    "fixed: 1 of 1 fault acted; incident: no fault was injected, so nothing shows that the incident's cause was present"
)
BOTH_500 = f"it changed no setting that the programs ran with (incident: {DID_500}; fixed: {DID_500} than declared)"


@pytest.mark.parametrize(
    ("file", "incident", "fixed", "is_shown", "did"),
    [
        case("logged by the programs", POLICY, True, "none (incident), serialized (fixed), as the program logged"),
        case("a program said nothing", POLICY, False, SAID_NOTHING, fixed={"confirmed": None}),
        case("another value than declared", POLICY, False, f"incident ran with serialized, {OTHERWISE}", SERIALIZED),
        case("a key with dots", DOTTED, True, "20971520 (incident), 7340032 (fixed), as the program logged"),
        case("the supervisor never acted", ATTEMPTS, False, "the supervisor never acted"),
        case("the supervisor acted", ATTEMPTS, True, "the supervisor acted in incident", {"restarts": 2}),
        case("all steps taken", STEPS, True, ALL_TAKEN, fixed=steps(True, True)),
        case("a step failed", STEPS, False, "fixed has not taken step 2, make", fixed=steps(True, False)),
        case("a step not reached", STEPS, False, "fixed has not taken step 2, make", fixed=steps(True, None)),
        case("one look is enough", SKEW, True, skew_of(480.5, 0.0), skews(None, 3.0, 480.5, 0.0), skews(0.0)),
        case("swapped arms", SKEW, True, skew_of(0.0, 480.0), skews(0.0), skews(480.0)),
        case("less skew", SKEW, False, skew_of(119.9, 0.0), skews(119.9), skews(0.0)),
        case("a fault acted", FAULT, True, "it acted in incident, fixed"),
        case("not in the incident arm", FAULT, False, "incident: fault 'huge page' matched no request", SILENT),
        case("not in the fixed arm", FAULT, False, "fixed: fault 'huge page' matched no request", fixed=SILENT),
        case("unmet by a fixed client", FAULT, True, "it acted in incident", fixed=UNMET),
        case("no arm has the fault", FAULT, False, "no arm has it", NO_FAULT, NO_FAULT),
        case("one of two in each arm", TIMELINE, True, acted("1 of 2 faults", "1 of 2 faults"), ONE_OF_TWO, ONE_OF_TWO),
        case("none in the fixed arm", TIMELINE, False, acted("1 of 1 fault", "0 of 1 fault"), met(True), met(False)),
        case("none in the incident arm", TIMELINE, False, acted("0 of 1 fault", "1 of 1 fault"), met(False), met(True)),
        case("of the incident arm alone", TIMELINE, True, "incident: 1 of 1 fault acted", met(True), met()),
        case("no arm has one", TIMELINE, False, "no arm has one", met(), met()),
        case("an incident arm without any fault", TIMELINE, False, NO_FAULT_INJECTED, NO_FAULT, met(True)),
        case("nothing tried first", REFUSED, False, NOT_REFUSED, fixed={"tried_first": None}),
        case("the first try started", REFUSED, False, NOT_REFUSED, fixed=tried(None)),
        case("refused otherwise", REFUSED, False, "incident: it started; fixed: a bad key", fixed=tried("a bad key")),
        case("refused for it", REFUSED, True, f"fixed: {TWO_OF_ONE_NAME}", fixed=tried(TWO_OF_ONE_NAME)),
        case("the arm's own start was taken", OWN_REFUSED, False, NOT_REFUSED),
        case("its own was refused", OWN_REFUSED, True, f"incident: {TWO_OF_ONE_NAME}", {"refusal": TWO_OF_ONE_NAME}),
        case("a raw configuration", RAW, True, f"incident: {DID_500}, as the program logged", RAN_500, AS_DECLARED),
        case("it changed nothing", RAW, False, NOTHING_CHANGED, AS_DECLARED, AS_DECLARED),
        case("both ran alike", RAW, False, BOTH_500, RAN_500, RAN_500),
        case(
            "nothing was logged", RAW, False, "the program of incident logged no configuration", NOT_LOGGED, AS_DECLARED
        ),
        case("a variable", VARIABLE, True, f"500 (incident), {NOT_IN_FIXED}", variables(BATCH="500"), variables()),
        case("not set", VARIABLE, False, f"incident ran with not set, {OTHERWISE}", variables(), variables()),
        case("never started", VARIABLE, False, NEVER_STARTED, {"environment": None}, variables()),
        case("arguments", ARGUMENTS, True, f"--at '5 s' (incident), {NOT_IN_FIXED}", x("--at", "5 s", "--new"), x()),
        case("not all arguments", ARGUMENTS, False, f"incident ran with x --at, {OTHERWISE}", x("--at"), x()),
    ],
)
def test_a_cause_is_shown_by_what_was_seen_of_the_arms(
    load: Load, file: File, incident: Seen, fixed: Seen, is_shown: bool, did: str
) -> None:
    scenario = load(*file)
    seen = {"incident": incident, "fixed": fixed}
    found = shown(scenario, {arm: an_observation(**{**confirmed(scenario, arm), **it}) for arm, it in seen.items()})
    assert (found.shown, found.did) == (is_shown, did)


@pytest.mark.parametrize(
    ("file", "text"),
    [(SKEW, "event-time skew of 2m"), (TIMELINE, "any fault of the timeline"), (REFUSED, "refused: two metrics")],
)
def test_a_cause_is_named_in_the_result(load: Load, file: File, text: str) -> None:
    assert shown(load(*file), {"fixed": an_observation()}).cause == text


def test_unchecked_a_key_that_does_not_differ_is_played(load: Load) -> None:
    both = "    content_limit: { measure: content_length }\n    record_limit: { policy: none }\n"
    scenario = load(*POLICY, (both, "    record_limit: {}\n"), unchecked=True)
    assert shown(scenario, {arm: an_observation(**confirmed(scenario, arm)) for arm in ARMS}) == CauseResult(
        cause="differs record_limit.policy", shown=False, did="incident and fix do not differ in it"
    )


def test_of_a_refused_start_it_is_not_asked_where_another_arm_of_its_role_ran(load: Load) -> None:
    more = "  other:\n    role: fixed\n    record_limit: { policy: serialized }\n"
    scenario = load(*POLICY, ("expect:\n", f"{more}expect:\n"))
    ran = {arm: an_observation(**confirmed(scenario, arm)) for arm in ARMS}
    refused = an_observation(end=EndByRefusal())
    assert shown(scenario, {**ran, "other": refused}).shown
    assert not shown(scenario, {**ran, "other": an_observation()}).shown
    assert not shown(scenario, {"incident": ran["incident"], "other": refused}).shown


def test_of_a_single_arm_its_value_is_enough(load: Load) -> None:
    scenario = load(*POLICY)
    assert shown(scenario, {"fixed": an_observation(**confirmed(scenario, "fixed"))}).shown


def test_of_a_skew_nothing_is_asked_of_the_fixed_arm(load: Load) -> None:
    assert shown(load(*SKEW), {"fixed": an_observation()}).shown


def test_the_arm_whose_own_start_is_the_cause_may_be_refused(load: Load) -> None:
    scenario = load(*OWN_REFUSED)
    assert [scenario.may_refuse(arm) for arm in ARMS] == [True, False]


@pytest.mark.parametrize(
    ("seen", "asked"),
    [
        ({}, ["fault 'huge page'", "differs supervisor.delay"]),
        ({"confirmed": {}}, ["fault 'huge page'", "differs record_limit.policy", "differs supervisor.delay"]),
    ],
    ids=["it logs no configuration", "it logs one"],
)
def test_a_program_in_the_place_of_the_main_one_is_held_to_what_it_logs(
    load: Load, seen: Seen, asked: list[str]
) -> None:
    cause = "{ fault: huge page }, { differs: record_limit.policy }, { differs: supervisor.delay }"
    resolved = resolve(load(cause, unchecked=True), CommandProgram(line=CommandLine(("mine",), Path())))
    found = shown_causes(resolved, {arm: an_observation(**seen) for arm in ARMS})
    assert [one.cause for one in found] == asked


@pytest.mark.parametrize(
    ("is_shown", "holds", "outcome"),
    [(True, True, "reproduced and fixed"), (False, True, "inconclusive"), (True, False, "not reproduced")],
)
def test_a_named_cause_stands_in_the_place_of_the_faults(is_shown: bool, holds: bool, outcome: str) -> None:
    cause = CauseResult(cause="differs x.y", shown=is_shown, did="so it was")
    verdict = judge({arm: an_arm(holds=holds) for arm in ARMS}, {}, cause=(cause,))
    assert verdict.outcome == outcome
    if holds:
        assert verdict.reasons == (() if is_shown else ("the cause was not shown, differs x.y: so it was",))
