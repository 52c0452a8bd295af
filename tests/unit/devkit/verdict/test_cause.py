"""What a scenario names as its cause: what a file may say, and whether a run showed it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from devkit.errors import InvalidFileError
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
from tests.unit.devkit.verdict.test_verdict import NONE, an_arm, evidence

ARMS = ("incident", "fixed")


def load(edited: Edited, path: Path, cause: str, *changes: tuple[str, str], unchecked: bool = False) -> Scenario:
    file = path / "scenario.yaml"
    file.write_text(edited(("arms:\n", f"cause: [{cause}]\narms:\n"), *changes))
    return load_scenario(file, unchecked=unchecked)


def settings(scenario: Scenario, arm: str) -> Mapping[str, Any]:
    """As the program of an arm logs them."""
    return resolve(scenario).arms[arm].main.configured.effective()


def shown(scenario: Scenario, **changes: Mapping[str, Any]) -> CauseResult:
    """The only cause, in a run in which each arm's program logged what it was given; changes are by arm."""
    played = {
        arm: an_observation(**{"confirmed": settings(scenario, arm)} | dict(changes.get(arm, {}))) for arm in ARMS
    }
    return only(scenario, played)


def only(scenario: Scenario, played: Mapping[str, ArmObservation]) -> CauseResult:
    (found,) = shown_causes(resolve(scenario), played)
    return found


SAME = (
    "    content_limit: { measure: content_length }\n    record_limit: { policy: none }\n",
    "    record_limit: {}\n",
)


def test_a_section_is_no_cause(edited: Edited, tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError) as caught:
        load(edited, tmp_path, "{ differs: record_limit }")
    assert [problem.text for problem in caught.value.problems] == [
        "cause[0].differs: record_limit is a section; name a key of it that differs: record_limit.policy"
    ]


def test_it_is_played_all_the_same_where_somebody_says_so(edited: Edited, tmp_path: Path) -> None:
    removed = load(edited, tmp_path, "{ differs: record_limit.policy }", SAME, unchecked=True)
    assert shown(removed) == CauseResult(
        cause="differs record_limit.policy", shown=False, did="incident and fix do not differ in it"
    )


class TestDiffers:
    @pytest.fixture
    def scenario(self, edited: Edited, tmp_path: Path) -> Scenario:
        return load(edited, tmp_path, "{ differs: record_limit.policy }")

    def test_is_shown_by_what_the_programs_logged(self, scenario: Scenario) -> None:
        found = shown(scenario)
        assert found.shown
        assert found.did == "none (incident), serialized (fixed), as the program logged"

    def test_is_not_where_a_program_said_nothing(self, scenario: Scenario) -> None:
        found = shown(scenario, fixed={"confirmed": None})
        assert (found.shown, found.did) == (False, "the program of fixed did not confirm it in its log")

    def test_of_a_refused_start_it_is_not_asked_where_another_arm_of_its_role_ran(
        self, edited: Edited, tmp_path: Path
    ) -> None:
        more = "  other:\n    role: fixed\n    record_limit: { policy: serialized }\n"
        scenario = load(edited, tmp_path, "{ differs: record_limit.policy }", ("expect:\n", f"{more}expect:\n"))
        ran = {arm: an_observation(confirmed=settings(scenario, arm)) for arm in ARMS}
        refused = an_observation(end=EndByRefusal())
        assert only(scenario, {**ran, "other": refused}).shown
        assert not only(scenario, {**ran, "other": an_observation()}).shown
        assert not only(scenario, {"incident": ran["incident"], "other": refused}).shown

    def test_is_not_where_one_ran_with_other_settings_than_declared(self, scenario: Scenario) -> None:
        found = shown(scenario, incident={"confirmed": settings(scenario, "fixed")})
        assert (found.shown, found.did) == (False, "incident ran with serialized, which is not what it was given")

    def test_of_a_single_arm_its_value_is_enough(self, scenario: Scenario) -> None:
        assert only(scenario, {"fixed": an_observation(confirmed=settings(scenario, "fixed"))}).shown

    def test_a_key_with_dots_of_its_own_is_found(self, edited: Edited, tmp_path: Path) -> None:
        own = ("  fixed:\n", "  fixed:\n    sink: { max.request.size: 7MiB }\n")
        found = shown(load(edited, tmp_path, "{ differs: sink.max.request.size }", own))
        assert (found.shown, "7340032 (fixed)" in found.did) == (True, True)

    def test_a_policy_of_the_supervisor_has_to_have_acted(self, edited: Edited, tmp_path: Path) -> None:
        own = ("  fixed:\n", "  fixed:\n    supervisor: { attempts: 3 }\n")
        scenario = load(edited, tmp_path, "{ differs: supervisor.attempts }", own)
        assert not shown(scenario).shown
        assert shown(scenario, incident={"restarts": 2}).did == "the supervisor acted in incident"


class TestSteps:
    @pytest.fixture
    def scenario(self, edited: Edited, tmp_path: Path) -> Scenario:
        steps = "    steps: [{ command: [make, checkpoint] }, { start: checkpoint }]\n"
        return load(edited, tmp_path, "{ differs: steps }", ("  fixed:\n", f"  fixed:\n{steps}"))

    @staticmethod
    def taken(*holds: bool | None) -> dict[str, object]:
        return {"steps": tuple(StepOutcome(number=n, step="make", holds=it) for n, it in enumerate(holds, 1))}

    def test_are_shown_where_all_of_them_were_taken(self, scenario: Scenario) -> None:
        found = shown(scenario, fixed=self.taken(True, True))
        assert (found.shown, found.did) == (True, "0 steps (incident), 2 steps (fixed), all of them taken")

    @pytest.mark.parametrize("holds", [False, None])
    def test_are_not_where_one_failed_or_was_not_reached(self, scenario: Scenario, holds: bool | None) -> None:
        found = shown(scenario, fixed=self.taken(True, holds))
        assert (found.shown, found.did) == (False, "fixed has not taken step 2, make")


class TestEventTimeSkew:
    @pytest.fixture
    def scenario(self, edited: Edited, tmp_path: Path) -> Scenario:
        own = ("  seed: 7\n", "  seed: 7\n  event_times: { published: x1 }\n")
        return load(edited, tmp_path, "{ event_time_skew: 2m }", own)

    def seen(self, *seconds: float | None) -> dict[str, object]:
        return {"samples": tuple(A_SAMPLE.model_copy(update={"event_time_skew_s": one}) for one in seconds)}

    @pytest.mark.parametrize(
        ("incident", "fixed", "is_shown", "did"),
        [
            ((None, 3.0, 480.5, 0.0), (0.0,), True, "highest 480.5s (incident), 0.0s (fixed)"),
            ((0.0,), (480.0,), True, "highest 0.0s (incident), 480.0s (fixed)"),
            ((119.9,), (0.0,), False, "highest 119.9s (incident), 0.0s (fixed)"),
        ],
        ids=["one look at the incident arm", "arms that are swapped", "no arm had as much"],
    )
    def test_is_shown_by_one_look(
        self, scenario: Scenario, incident: tuple[float | None, ...], fixed: tuple[float, ...], is_shown: bool, did: str
    ) -> None:
        found = shown(scenario, incident=self.seen(*incident), fixed=self.seen(*fixed))
        assert found == CauseResult(cause="event-time skew of 2m", shown=is_shown, did=did)

    def test_of_the_fixed_arm_alone_nothing_is_asked(self, scenario: Scenario) -> None:
        assert only(scenario, {"fixed": an_observation()}).shown


class TestFault:
    @pytest.fixture
    def scenario(self, edited: Edited, tmp_path: Path) -> Scenario:
        return load(edited, tmp_path, "{ fault: huge page }")

    SILENT = some_evidence(fired=False, requests=0, completed=0)
    UNMET = some_evidence(fired=False, requests=0, completed=0, by_client=True)

    @pytest.mark.parametrize(
        ("evidence", "is_shown", "did"),
        [
            ({}, True, "it acted in incident, fixed"),
            ({"incident": (SILENT,)}, False, "incident: fault 'huge page' matched no request"),
            ({"fixed": (SILENT,)}, False, "fixed: fault 'huge page' matched no request"),
            ({"fixed": (UNMET,)}, True, "it acted in incident"),
            ({"incident": (), "fixed": ()}, False, "no arm has it"),
        ],
        ids=["it acted", "not in the incident arm", "not in the fixed arm", "the fixed client", "no arm has it"],
    )
    def test_is_shown_where_it_acted(
        self, scenario: Scenario, evidence: dict[str, tuple[Any, ...]], is_shown: bool, did: str
    ) -> None:
        found = shown(scenario, **{arm: {"evidence": items} for arm, items in evidence.items()})
        assert (found.shown, found.did) == (is_shown, did)


class TestAnyOfTimeline:
    STILL = "timeline: [{ name: still, do: { pause: { part: kafka } }, at: 1s, for: 1s }]\narms:\n"

    @pytest.fixture
    def scenario(self, edited: Edited, tmp_path: Path) -> Scenario:
        return load(edited, tmp_path, "{ timeline: any }", ("arms:\n", self.STILL))

    def met(self, *acted: bool) -> Mapping[str, Any]:
        """An arm with the faults of these outcomes, and a rule of the mock that acted."""
        faults = (
            TimelineEvidence(fault=f"{at}", fired=True, asked="", acted=did, did="") for at, did in enumerate(acted)
        )
        return {"evidence": (some_evidence(), *faults)}

    @pytest.mark.parametrize(
        ("incident", "fixed", "is_shown", "did"),
        [
            ((True, False), (False, True), True, "incident: 1 of 2 faults acted; fixed: 1 of 2 faults acted"),
            ((True,), (False,), False, "incident: 1 of 1 fault acted; fixed: 0 of 1 fault acted"),
            ((False,), (True,), False, "incident: 0 of 1 fault acted; fixed: 1 of 1 fault acted"),
            ((True,), (), True, "incident: 1 of 1 fault acted"),
            ((), (), False, "no arm has one"),
        ],
    )
    def test_one_has_to_act_in_each_arm_that_has_some(
        self, scenario: Scenario, incident: tuple[bool, ...], fixed: tuple[bool, ...], is_shown: bool, did: str
    ) -> None:
        found = shown(scenario, incident=self.met(*incident), fixed=self.met(*fixed))
        assert found == CauseResult(cause="any fault of the timeline", shown=is_shown, did=did)

    def test_is_not_where_an_incident_arm_met_no_fault_at_all(self, scenario: Scenario) -> None:
        found = shown(scenario, incident={"evidence": ()}, fixed=self.met(True))
        assert not found.shown
        assert found.did.startswith("fixed: 1 of 1 fault acted; incident: no fault was injected")


@pytest.mark.parametrize(
    ("tried", "is_shown"),
    [
        (None, False),
        (FirstTry(None), False),
        (FirstTry("a bad key"), False),
        (FirstTry("two metrics of one name"), True),
    ],
)
def test_a_refusal_is_shown_by_what_the_program_said(
    edited: Edited, tmp_path: Path, tried: FirstTry | None, is_shown: bool
) -> None:
    first = ("expect:\n", "tried_first: { fixed: {} }\nexpect:\n")
    scenario = load(edited, tmp_path, "{ refused: two metrics }", first)
    assert shown(scenario, fixed={"tried_first": tried}).shown is is_shown


def test_the_arms_own_start_may_be_the_refused_one(edited: Edited, tmp_path: Path) -> None:
    own = ("    - restarts: { at_least: 2 }\n", "    - refused: { message: two metrics }\n")
    scenario = load(edited, tmp_path, "{ refused: two metrics }", own)
    assert [scenario.may_refuse(arm) for arm in ARMS] == [True, False]
    assert not shown(scenario).shown
    assert shown(scenario, incident={"refusal": "two metrics of one name"}).did == "incident: two metrics of one name"


@pytest.mark.parametrize(("is_shown", "exit_code"), [(True, 0), (False, 3)])
def test_a_named_cause_stands_in_the_place_of_the_faults(is_shown: bool, exit_code: int) -> None:
    arms = {arm: an_arm(holds=True) for arm in ARMS}
    cause = CauseResult(cause="differs x.y", shown=is_shown, did="so it was")
    verdict = judge(arms, dict.fromkeys(ARMS, evidence(NONE)), cause=(cause,))
    assert verdict.exit_code == exit_code
    assert verdict.reasons == (() if is_shown else ("the cause was not shown, differs x.y: so it was",))


def test_swapped_arms_are_refuted_with_the_cause_shown() -> None:
    cause = CauseResult(cause="differs x.y", shown=True, did="so it was")
    arms = {"incident": an_arm(holds=False), "fixed": an_arm(holds=False)}
    assert judge(arms, {}, cause=(cause,)).outcome == "not reproduced"


class TestAProgramInThePlaceOfTheMainOne:
    """It need not log its configuration."""

    CAUSE = "{ fault: huge page }, { differs: record_limit.policy }, { differs: supervisor.delay }"
    COMMAND = CommandProgram(line=CommandLine(("mine",), Path()))

    def asked(self, scenario: Scenario, **seen: object) -> list[str]:
        played = {arm: an_observation(**seen) for arm in ARMS}
        return [one.cause for one in shown_causes(resolve(scenario, self.COMMAND), played)]

    def test_is_not_asked_to_confirm_what_it_was_given(self, edited: Edited, tmp_path: Path) -> None:
        scenario = load(edited, tmp_path, self.CAUSE, unchecked=True)
        assert self.asked(scenario) == ["fault 'huge page'", "differs supervisor.delay"]

    def test_is_held_to_what_it_logs(self, edited: Edited, tmp_path: Path) -> None:
        scenario = load(edited, tmp_path, self.CAUSE, unchecked=True)
        assert len(self.asked(scenario, confirmed={})) == 3


class TestOtherSettings:
    """A raw configuration, which no program logs as such."""

    OTHER: Mapping[str, OtherSetting] = {"batch.max_offsets": OtherSetting(declared=50, ran=500)}
    RAW = ("arms:\n  incident:\n", "arms:\n  incident:\n    raw_config: |\n      a: 1\n      b: 2\n")

    def shown(
        self, edited: Edited, path: Path, incident: Mapping[str, OtherSetting] | None, fixed: Mapping[str, OtherSetting]
    ) -> CauseResult:
        scenario = load(edited, path, "{ differs: raw_config }", self.RAW)
        return shown(scenario, incident={"other_settings": incident}, fixed={"other_settings": fixed})

    def test_is_shown_by_what_the_program_ran_with(self, edited: Edited, tmp_path: Path) -> None:
        found = self.shown(edited, tmp_path, self.OTHER, {})
        assert found.shown
        assert found.did == "incident: batch.max_offsets 500, declared 50, as the program logged"

    @pytest.mark.parametrize(
        ("incident", "fixed", "did"),
        [({}, {}, "it changed no setting"), (OTHER, OTHER, "it changed no setting"), (None, {}, "logged no config")],
    )
    def test_is_not_where_the_programs_ran_alike(
        self,
        edited: Edited,
        tmp_path: Path,
        incident: Mapping[str, OtherSetting] | None,
        fixed: Mapping[str, OtherSetting],
        did: str,
    ) -> None:
        found = self.shown(edited, tmp_path, incident, fixed)
        assert not found.shown
        assert did in found.did

    def test_an_arm_that_is_always_refused_logs_none(self, edited: Edited, tmp_path: Path) -> None:
        refused = ("  fixed:\n    - ", "  fixed:\n    - refused: { message: nonsense }\n    - ")
        with pytest.raises(InvalidFileError, match="each fixed arm may be refused its own; write `refused: TEXT`"):
            load(edited, tmp_path, "{ differs: raw_config }", self.RAW, refused)


class TestWhatAProcessWasStartedWith:
    """A variable or an argument, which the process itself shows."""

    OWN = (
        "arms:\n  incident:\n",
        "arms:\n  incident:\n    environment: { BATCH: '500' }\n    arguments: [--at, '5 s']\n",
    )

    @pytest.mark.parametrize(
        ("key", "incident", "fixed", "did"),
        [
            ("environment.BATCH", {"BATCH": "500"}, {}, "500 (incident), not set (fixed), as its process was started"),
            ("environment.BATCH", {}, {}, "incident ran with not set, which is not what it was given"),
            ("environment.BATCH", None, {}, "the program of incident was never started"),
            (
                "arguments",
                ("x", "--at", "5 s", "--new"),
                ("x",),
                "--at '5 s' (incident), not set (fixed), as its process",
            ),
            ("arguments", ("x", "--at"), ("x",), "incident ran with x --at, which is not what it was given"),
        ],
    )
    def test_is_looked_up_there(
        self, edited: Edited, tmp_path: Path, key: str, incident: Any, fixed: Any, did: str
    ) -> None:
        scenario = load(edited, tmp_path, f"{{ differs: {key} }}", self.OWN)
        field = "command_line" if key == "arguments" else "environment"
        found = shown(scenario, incident={field: incident}, fixed={field: fixed})
        assert found.did.startswith(did)
        assert found.shown is ("as its process" in did)
