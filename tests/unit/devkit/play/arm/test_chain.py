"""An arm whose programs read one another's output: which of them are followed, and when all of it has drained."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.observe.applied_offsets import AppliedOffsets
from devkit.observe.audit.arrivals import Arrival
from devkit.observe.committed_offsets import CommittedOffsets
from devkit.observe.expected_output.decide_truth import DecideTruth
from devkit.observe.kafka.deferrals import NoDeferrals
from devkit.observe.kafka.emitted import Emissions, Emitted
from devkit.play.arm import arm as arm_module
from devkit.play.arm import collect as collect_module
from devkit.play.arm.observation import programs
from devkit.play.arm.secondary_audit import audit_beside
from tests.unit.devkit.conftest import Load
from tests.unit.devkit.play.arm.stage import OUTPUT, SOURCE, Stage, set_up

OPERATIONS, MUTATIONS = "rdf-streaming-updater.operation", "rdf-streaming-updater.mutation"
# Not in the order in which they read one another.
PROGRAMS = """programs:
  decide: { run: pipeline rdf-decide, configuration: { updater: { reorder: 0s } } }
  apply: { run: apply, configuration: { apply: { graph: urn:g } } }
  resolve: { run: pipeline rdf-resolve }
  html: { run: pipeline html-enrichment }
  reader: { run: consumer rdf-resolve }
"""


@pytest.fixture
def stage(tmp_path: Path, load: Load, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(arm_module, "DeferralTopic", lambda *_: NoDeferrals())
    with set_up(load(("until:", f"{PROGRAMS}until:")), tmp_path, has_triple_store=True) as stage:
        yield stage


def test_each_is_followed_behind_the_one_that_it_reads(stage: Stage) -> None:
    assert [run.name for run in stage.arm.chained] == ["resolve", "reader", "apply"]
    resolve, apply = stage.arm.followers.values()
    assert [*stage.arm.followers] == ["resolve", "apply"], "of a consumer nothing shows how far it is"
    assert isinstance(resolve, CommittedOffsets)
    assert not isinstance(resolve, AppliedOffsets)
    assert isinstance(apply, AppliedOffsets)
    assert apply.graph == "urn:g"


def test_what_a_job_has_read_of_another_ones_output(stage: Stage) -> None:
    resolve = stage.arm.followers["resolve"]
    assert resolve.look() == {(OPERATIONS, 0): 0}
    at = "incident/an-incident-resolve"
    stage.store.put("checkpoints", f"{at}/offsets/0", f'v1\n{{}}\n{{"{OPERATIONS}": {{"0": 7}}}}')
    stage.store.put("checkpoints", f"{at}/commits/0", "v1\n{}")
    assert resolve.look() == {(OPERATIONS, 0): 7}
    deferred = cast(Any, SimpleNamespace(catch_up=lambda: 1))
    assert replace(cast(CommittedOffsets, resolve), deferrals=deferred).look() is None


@pytest.mark.parametrize(
    ("waiting", "drained"),
    [
        ({"resolve": 0, "apply": 0}, True),
        ({"resolve": 1, "apply": 0}, False),
        ({"resolve": 0, "apply": 1}, False),
        ({"apply": 0}, False),
    ],
)
def test_an_arm_has_drained_when_nothing_waits_for_any_of_them(
    stage: Stage, waiting: dict[str, int], drained: bool
) -> None:
    stage.main.state.drained = True
    stage.arm.sampler = cast(Any, SimpleNamespace(not_answered=frozenset()))
    stage.arm.state.sample = stage.arm.state.sample.model_copy(update={"waiting": waiting})
    assert stage.arm.has_drained is drained


def test_no_audit_is_of_a_program_that_reads_another_ones_output(stage: Stage) -> None:
    found = {run.name: run.unaudited for run in programs(stage.arm, frozenset())}
    assert found == {"decide": "", "apply": "", "resolve": MUTATIONS, "html": OUTPUT, "reader": MUTATIONS}
    stage.arm.publisher = cast(Any, SimpleNamespace(manifest=lambda: SimpleNamespace(entries=()), sent=tuple))
    resolve = stage.arm.programs[2]
    resolve.supervisor._processes = [cast(Any, SimpleNamespace(exit_code=None))]
    assert audit_beside(stage.arm, resolve) is None


def test_the_store_is_compared_by_the_truth_of_the_main_program(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = cast(Any, object.__new__(DecideTruth))
    truth.stored = lambda events: (f"truth of {event}" for event in events)
    compared: list[Any] = []
    monkeypatch.setattr(collect_module, "compare_store", lambda *given: compared.append(given))
    stage.arm.truth = truth
    stage.arm.traffic = cast(Any, SimpleNamespace(source_events=lambda _: ["an event"], errors_of_events=lambda _: {}))
    stage.arm.publisher = cast(Any, None)
    collect_module._compare_store(stage.arm)
    assert compared == [(stage.arm.context.stack.triple_store, ["truth of an event"], "urn:g")]


def test_events_that_wait_in_the_state_have_not_left(stage: Stage) -> None:
    """Those of the main program's topics are committed, and are emitted in a batch after that."""
    stage.arm.topics = replace(stage.arm.topics, sources=(SOURCE,))
    arrived: list[Arrival] = []
    stage.arm.emissions = Emissions(lambda: arrived)
    stage.ends, stage.due = {SOURCE: {0: 161}}, ((SOURCE, 0, 7), (SOURCE, 0, 8))
    stage.published, stage.done = 161, True
    stage.arm._checkpoints["decide"]._topics = frozenset({SOURCE})
    stage.plan(0, p0=161)
    stage.commit(0)
    for written, ends in enumerate(
        ({OPERATIONS: {0: 1}}, {OPERATIONS: {0: 1}, str(stage.arm.topics.lapsed): {0: 1}}), 1
    ):
        stage.ends |= ends
        arrived.append(Arrival(OPERATIONS, 0, 0, b"", {}, (SOURCE, 0, 6 + written), 0))
        stage.sample()
        assert stage.main.state.drained is (written == 2)
    assert stage.main.state.emitted == Emitted(2, 2, names_sources=True)
