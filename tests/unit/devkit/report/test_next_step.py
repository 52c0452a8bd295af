from typing import Any

import pytest

from devkit.headroom.headroom_figures import ArmHeadroom
from devkit.observe.arm_end import EndByCondition
from devkit.observe.arm_observation import TimelineEvidence
from devkit.observe.observable import why_not_observable
from devkit.report.next_step import ablation_command, next_step
from devkit.report.result import CauseResult, Result
from tests.unit.devkit.report.conftest import expectation, fired, with_arm

REPEAT = "devkit scenario run an-incident --seed 7"
IDLE = TimelineEvidence(fault="still", fired=True, asked="pause", acted=False, did="")
UNREACHED = TimelineEvidence(fault="g", fired=True, asked="add_partitions", acted=True, did="", unreached="partition 2")


@pytest.mark.parametrize(
    ("evidence", "step"),
    [
        (fired(fired=False), "compare the rule's `when`"),
        (fired(acted=False), "compare the rule's `when`"),
        (fired(fired=False, window=(2, 5), last_request_s=1.8), "`traffic_begins: when running` in the file"),
        (fired(fired=False, window=(2, None)), "`traffic_begins: when running` in the file"),
        (fired(fired=False, window=(2, 5), last_request_s=9), "compare the rule's `when`"),
        (fired(window=(2, 5), last_request_s=1), f"`{REPEAT}`"),
        (UNREACHED, "let the fault begin earlier in the file's timeline, or the traffic go on for longer"),
        (IDLE, "change when it begins"),
        (None, "give the scenario a fault"),
    ],
)
def test_a_fault_that_nothing_proves(good: Result, evidence: Any, step: str) -> None:
    found = {"incident": (evidence,) if evidence else ()}
    assert step in next_step(good.model_copy(update={"fault_evidence": found}))


def slower(slowdown: float) -> ArmHeadroom:
    worst = {"worst_slowdown": slowdown, "worst_from_s": 0, "core_slowdown": 1, "others_cores": None, "pressure": None}
    return ArmHeadroom.model_validate({"slowdown": slowdown, "limit": 5} | worst)


CUT = EndByCondition(reached={"elapsed": 9})
UNSEEN = (CauseResult(cause="fault 'x'", shown=False, did="it never began"),)
UNPROVEN = {"outcome": "inconclusive", "reasons": ("fixed: fault 'x' is in arm incident",)}
UNFINISHED = {"holds": None, "unproven": "ended by its running for 15s", "end": EndByCondition(reached={"a": 9})}
STRETCHED = {"repeat": f"{REPEAT} --stretch 1"}


@pytest.mark.parametrize(
    ("arm", "run", "step"),
    [
        ({}, {}, f"`{REPEAT}`"),
        ({"caveats": ("it was debugged",)}, {}, f"leave that out: `{REPEAT}`"),
        ({"short": "the machine was short"}, {}, f"`{REPEAT} --stretch 2`"),
        ({"short": "the machine was short"}, STRETCHED, f"`{REPEAT} --stretch 2`"),
        ({"short": "the machine was short", "headroom": slower(21)}, {}, f"`{REPEAT} --stretch 5`"),
        ({"short": "the machine was short", "headroom": slower(90)}, {}, "end what else uses the machine, or wait"),
        ({"short": "the machine was short", "holds": None, "end": CUT}, {}, f"`{REPEAT} --stretch 2`"),
        ({}, {"pipeline": "python mine.py"}, "docs/own-pipeline.md"),
        ({"end": CUT}, {"cause": UNSEEN}, "let fixed go on for longer"),
        (UNFINISHED, {}, "write under `expect` what fixed has to do, as the reason says"),
        ({}, UNPROVEN, "change the scenario as the reason says, and repeat the run"),
    ],
    ids=[
        "otherwise the run is repeated",
        "what was done by hand is left out",
        "a machine that was short of time gets more",
        "and more than the stretch that it had",
        "as much as would have been enough",
        "but no more than is of use",
        "a machine without time is no matter of the file",
        "a program that shows too little",
        "a cause that had no time to show itself",
        "a fix whose progress nothing bounds",
        "arms that hold and show no fix",
    ],
)
def test_the_next_step(good: Result, arm: dict[str, Any], run: dict[str, Any], step: str) -> None:
    result = with_arm(good, **arm) if arm else good
    assert next_step(result.model_copy(update=run)).startswith(step)


@pytest.mark.parametrize(
    ("reached", "holds", "evidence", "step"),
    [
        ({"elapsed": 10}, None, fired(), "let fixed go on for longer: it ended by `elapsed` in `until`, which counts"),
        ({"elapsed": 10}, False, fired(fired=False), "let fixed go on for longer: it ended by `elapsed` in `until`,"),
        ({"elapsed": 10}, True, IDLE, "let fixed go on for longer: it ended by `elapsed` in `until`, which counts"),
        ({"running_for": 10}, None, fired(), "let fixed go on for longer: it ended by `running_for` in `until`; then"),
        ({"restarts": 2}, None, fired(), f"`{REPEAT}`"),
    ],
)
def test_an_end_by_a_time_of_the_file_would_come_again(
    good: Result, reached: dict[str, int], holds: bool | None, evidence: Any, step: str
) -> None:
    cut = with_arm(good, holds=holds, end=EndByCondition(reached=reached))
    assert next_step(cut.model_copy(update={"fault_evidence": {"fixed": (evidence,)}})).startswith(step)


def test_what_a_program_does_not_show_needs_no_more_time(good: Result) -> None:
    lost = expectation("audit", "lost 0", why_not_observable(frozenset({"offsets"})), None)
    cut = with_arm(good, holds=None, end=EndByCondition(reached={"elapsed": 9}), expectations=(lost,))
    assert next_step(cut).startswith("docs/own-pipeline.md says what a program has to show")
    soon = expectation("rate", "1/s", "n/a: nothing was emitted yet", None)
    assert next_step(with_arm(cut, expectations=(lost, soon))).startswith("let fixed go on for longer")
    by_upstream = lost.model_copy(update={"measured": why_not_observable(frozenset({"upstream"}))})
    assert next_step(with_arm(cut, expectations=(by_upstream,))).startswith("let fixed go on for longer")


THREE = {"incident": "incident", "fixed": "fixed", "later": "fixed"}
ONE = {"fetch.concurrency": {"incident": 1, "fixed": 9}}


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        ({}, f"{REPEAT} --ablate"),
        ({"config_difference": ONE}, ""),  # without it nothing would differ
        ({"exit_code": 1}, ""),
        ({"roles": {"fixed": "fixed"}}, ""),
        ({"roles": THREE}, f"{REPEAT} --ablate --arm incident --arm fixed"),
    ],
)
def test_what_a_fix_needs_is_shown_by_an_ablation(good: Result, changes: dict[str, Any], command: str) -> None:
    arms = {**good.arms, "later": good.arms["fixed"]}
    repeat = f"{REPEAT} --arm incident --arm fixed --arm later" if "later" in changes.get("roles", {}) else REPEAT
    assert ablation_command(good.model_copy(update={"arms": arms, "repeat": repeat} | changes)) == command
