"""Every shipped incident: reproduced and fixed under any seed, turned over by other arms, inconclusive without a fault.

Set-up: the shipped files, and copies with one thing changed. Steps: run each through the command line on the embedded
stack; what is not marked slow is a shipped file under its own seed, on the session's stack. Checked: exit code and
outcome.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.integration.cli_run import REPOSITORY, CliRun
from tests.integration.shared_stack import PlayScenario
from tests.integration.test_scenario_verdict import result_of

ROOMS = ("scenarios", "devkit/verdict")
SCENARIOS = (
    "vanished-metric",
    "renamed-metric",
    "slow-object-store",
    "broker-reassignment",
    "lost-checkpoint",
    "bad-revids",
    "backfill",
    "hot-page",
    "two-hundred-stores",
    "event-time-skew",
    "idle-too-eager",
    "watermark-stall",
    "oversized-error-event",
    "compressed-content-length",
    "memory-creep",
    "forgotten-batch",
    "eternal-state",
    "memory-mismatch",
    "oversized-message",
    "retry-storm",
    "parent-parses",
    "connection-explosion",
    "stalled-progress",
    "unstable-job",
    "consumer-backlog",
    "restored-store",
    "shared-unlinked",
    "deletes-ignored",
    "merged-sitelink",
    "out-of-order-topics",
    "gap-after-bootstrap",
    "switched-data-centre",
    "wrong-state",
)
Cli = Callable[..., CliRun]
Changed = Callable[[str, Callable[[Any], None]], str]


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    """Writes a copy of a shipped scenario after a change to its document."""

    def write(name: str, change: Callable[[Any], None]) -> str:
        yaml = YAML(typ="rt")
        document = yaml.load((REPOSITORY / "scenarios" / f"{name}.yaml").read_text())
        change(document)
        target = tmp_path / "changed.yaml"
        with target.open("w") as file:
            yaml.dump(document, file)
        return str(target)

    return write


def outcome(run: CliRun) -> tuple[int, str]:
    code = run.wait()
    return code, result_of(run)["outcome"]


def assert_outcome(run: CliRun, code: int, expected: str) -> None:
    assert outcome(run) == (code, expected), run.output()


# `oversized-message` has a test of its own, which looks into its figures as well. Most others depend on time: where the
# machine is busy, each of them is played slower, and perhaps twice, for minutes.
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in ("oversized-message", "vanished-metric")])
def test_as_shipped(devkit_cli: Cli, name: str) -> None:
    assert_outcome(devkit_cli("scenario", "run", name), 0, "reproduced and fixed")


def test_as_shipped_on_a_stack_that_is_up(play_scenario: PlayScenario) -> None:
    assert_outcome(play_scenario("vanished-metric"), 0, "reproduced and fixed")


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2", "3", "4", "5"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_under_any_seed(devkit_cli: Cli, name: str, seed: str) -> None:
    assert_outcome(devkit_cli("scenario", "run", name, "--seed", seed), 0, "reproduced and fixed")


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_swapped_arms_turn_the_verdict_over(devkit_cli: Cli, changed: Changed, name: str) -> None:
    def swap(document: Any) -> None:
        arms = document["arms"]
        arms["incident"], arms["fixed"] = arms["fixed"], arms["incident"]

    run = devkit_cli("scenario", "run", changed(name, swap), "--unchecked")
    assert_outcome(run, 1, "not reproduced")
    arms = result_of(run)["arms"]
    assert not any(arms[swapped]["holds"] for swapped in ("incident", "fixed"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rule", "when"),
    [
        ("oversized-message", "huge page", {"path": "/nowhere"}),
        ("retry-storm", "slow parsing", {"window": {"from": "230s", "for": "1s"}}),
        ("stalled-progress", "slow page", {"path": "/nowhere"}),
        ("oversized-error-event", "parent refused", {"path": "/nowhere"}),
        ("compressed-content-length", "repetitive page", {"path": "/nowhere"}),
        ("memory-creep", "large page", {"path": "/nowhere"}),
    ],
)
def test_without_its_fault_a_run_is_inconclusive(
    devkit_cli: Cli, changed: Changed, name: str, rule: str, when: dict[str, Any]
) -> None:
    def never(document: Any) -> None:
        (named,) = [one for one in document["mock"]["rules"] if one["name"] == rule]
        named["when"] = when

    run = devkit_cli("scenario", "run", changed(name, never))
    assert_outcome(run, 3, "inconclusive")
    assert any(f"fault {rule!r} matched no request" in reason for reason in result_of(run)["reasons"])


def _names_differ(document: Any) -> None:
    renamed = {"enrichment_record_seconds": "enrichment_event_seconds"}
    document["arms"]["incident"]["metrics"]["rename"] = renamed
    document["tried_first"]["fixed"]["metrics"]["rename"] = renamed


def _nothing_is_renamed(document: Any) -> None:
    del document["arms"]["incident"]["metrics"]["rename"]
    del document["tried_first"]["fixed"]["metrics"]["rename"]


def _the_fault_is_left_out(document: Any) -> None:
    del document["timeline"]


def _the_checkpoint_stays(document: Any) -> None:
    del document["timeline"]
    document["until"]["deadline"] = "60s"  # a step waits for a refusal that does not come


def _nothing_differs(document: Any) -> None:
    document["arms"]["fixed"] = document["arms"]["incident"]


def _nothing_is_matched(document: Any) -> None:
    document["mock"]["rules"][-1]["when"] = {"path": "/nowhere"}


def _nothing_is_uneven(document: Any) -> None:
    traffic = document["traffic"]
    del traffic["streams"]["burst"]["phases"]
    for stream in (traffic, *traffic["streams"].values()):
        stream.update({"rate": "15/m", "for": "10m"})


def _connections_are_not_bounded(document: Any) -> None:
    document["mock"]["rules"][0]["when"] = {"path": "/nowhere"}


def _the_store_is_fast(document: Any) -> None:
    document["timeline"][0]["do"]["store_slow"]["bucket"] = "nowhere"


def _the_state_stays(document: Any) -> None:
    for arm in document["arms"].values():
        arm["steps"] = [{"start": "new"}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "remove", "cause"),
    [
        ("vanished-metric", _names_differ, "refused: two metrics of one name"),
        ("renamed-metric", _nothing_is_renamed, "refused: metrics.rename reports enrichment_record_seconds"),
        ("slow-object-store", _the_store_is_fast, "fault 'slow PUTs'"),
        ("vanished-metric", _nothing_differs, "differs metrics.on_collision"),
        ("renamed-metric", _nothing_differs, "differs metrics.required"),
        ("slow-object-store", _nothing_differs, "differs commit.policy"),
        ("lost-checkpoint", _the_checkpoint_stays, "fault 'checkpoint lost'"),
        ("lost-checkpoint", _nothing_differs, "differs missing_checkpoint"),
        ("broker-reassignment", _the_fault_is_left_out, "fault 'broker without time'"),
        ("broker-reassignment", _nothing_differs, "differs sink.delivery_timeout"),
        ("bad-revids", _nothing_differs, "differs fetch.retry_unknown"),
        ("bad-revids", _nothing_is_matched, "fault 'bad revision'"),
        ("backfill", _nothing_differs, "differs fetch.concurrency"),
        ("backfill", _nothing_is_matched, "fault 'slow pages'"),
        ("oversized-message", _nothing_differs, "differs record_limit.policy"),
        ("retry-storm", _nothing_differs, "differs fetch.retried_statuses"),
        ("parent-parses", _nothing_differs, "differs parent_cache.policy"),
        ("stalled-progress", _nothing_differs, "differs batch.isolation"),
        ("event-time-skew", _nothing_is_uneven, "event-time skew of 2m"),
        ("event-time-skew", _nothing_differs, "differs source.read"),
        ("idle-too-eager", _nothing_differs, "differs source.idle_after"),
        ("watermark-stall", _nothing_differs, "differs source.read"),
        ("connection-explosion", _nothing_differs, "differs fetch.connections"),
        ("connection-explosion", _connections_are_not_bounded, "fault 'places'"),
        ("forgotten-batch", _nothing_differs, "differs batch.reuse"),
        ("hot-page", _nothing_differs, "differs batch.page_order"),
        ("two-hundred-stores", _nothing_differs, "differs state.partitions"),
        ("eternal-state", _nothing_differs, "differs source.deduplicate.within"),
        ("memory-mismatch", _nothing_differs, "differs spark.driver.memory"),
        ("hot-page", _nothing_is_matched, "fault 'time of a fetch'"),
        ("unstable-job", _nothing_differs, "differs fetch.on_failure"),
        ("unstable-job", _nothing_is_matched, "fault 'entity without revisions'"),
        ("consumer-backlog", _nothing_differs, "differs programs.apply.apply.batch_triples"),
        ("consumer-backlog", _the_fault_is_left_out, "fault 'distant store'"),
        ("restored-store", _nothing_differs, "differs programs.apply.apply.offset"),
        ("restored-store", _the_fault_is_left_out, "fault 'older data'"),
        ("shared-unlinked", _nothing_differs, "differs programs.apply.apply.unlinked"),
        ("deletes-ignored", _nothing_differs, "differs programs.apply.apply.deletes"),
        ("merged-sitelink", _nothing_differs, "differs programs.apply.apply.sitelinks"),
        ("out-of-order-topics", _nothing_differs, "differs updater.reorder"),
        ("switched-data-centre", _nothing_differs, "differs source.topics"),
        ("wrong-state", _the_state_stays, "refused: source.deduplicate.within is a duration, not ever"),
    ],
)
def test_without_its_cause_a_run_is_inconclusive(
    devkit_cli: Cli, changed: Changed, name: str, remove: Callable[[Any], None], cause: str
) -> None:
    run = devkit_cli("scenario", "run", changed(name, remove), "--unchecked")
    assert_outcome(run, 3, "inconclusive")
    assert any(cause in reason for reason in result_of(run)["reasons"])
