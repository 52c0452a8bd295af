"""`copy` and `restore` on a triple store of values."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.errors import StackError
from devkit.faults.attached_part import AttachedPart
from devkit.faults.fault import Acting, Context, Fault, Undo
from devkit.faults.parts import copy as copy_module
from devkit.faults.parts import restore as restore_module
from devkit.faults.parts.copy import Copy
from devkit.faults.parts.kill import Kill
from devkit.faults.parts.pause import Pause
from devkit.faults.parts.restore import Restore
from devkit.guardian.run_state import PartPlace, RunState
from devkit.stack.parts.triple_store import TripleStore
from tests.unit.devkit.faults.fakes import FakeLife, FakePart, context


class Scene:
    """A part and what its store holds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.triples: tuple[str, ...] = ("a", "b")
        self.part = FakePart("triple-store", life=FakeLife("triple-store", exit_code=None))
        self.store = TripleStore.at("127.0.0.1:1", "127.0.0.1:1")
        self.plans: list[Undo] = []
        for module in (copy_module, restore_module):
            monkeypatch.setattr(module, "read_triples", lambda _store: self.triples)

    @property
    def context(self) -> Context:
        part = cast(Any, self.part)
        return replace(context(part, plan=self.plans.append), triple_store=self.store, run_id="run1")

    def begin(self, fault: Fault) -> Acting:
        return fault.begin(self.context)


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    made = Scene(monkeypatch)
    pulled = made.part.pulled

    def pull(lever: Any) -> None:
        pulled.append(lever)
        made.part.life.exit_code = 0
        made.part.life = FakeLife("triple-store", pid=2, exit_code=None)

    monkeypatch.setattr(made.part, "pull", pull)
    return made


def test_a_copy_is_proved_by_a_new_process_and_counts_the_triples(scene: Scene) -> None:
    proof = scene.begin(Copy()).end()
    assert (proof.acted, proof.did) == (True, "its data was copied with 2 triples, and it answers again")
    assert scene.part.pulled == ["copy"]
    assert scene.store.copied == {"a", "b"}
    assert [plan.data for plan in scene.plans] == [{"part": "triple-store", "run_id": "run1"}]


SINCE = "without 2 triples written since, and with 1 triple deleted since"


@pytest.mark.parametrize(
    ("triples", "acted", "did"),
    [
        (("a", "c", "d"), True, f"it answers again with the data of its copy: {SINCE}"),
        (("a", "b"), False, "its triples were those of the copy, so nothing changed"),
    ],
    ids=["what is gone and what is back", "nothing had changed"],
)
def test_a_restored_store_says(scene: Scene, triples: tuple[str, ...], did: str, *, acted: bool) -> None:
    scene.begin(Copy())
    scene.triples = triples
    proof = scene.begin(Restore()).end()
    assert (proof.acted, proof.did) == (acted, did)
    assert scene.part.pulled == ["copy", "restore"]
    assert scene.plans[-1].irreversible


def test_without_a_copy_of_the_arm_nothing_is_done(scene: Scene) -> None:
    with pytest.raises(StackError, match="no copy of its data was made"):
        scene.begin(Restore())
    assert (scene.part.pulled, scene.plans) == ([], [])


@pytest.mark.parametrize("fault", [Copy(), Restore()])
def test_a_process_that_did_not_end_proves_nothing(scene: Scene, fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene.part, "pull", lambda _lever: None)
    scene.store.copied = frozenset()
    assert not scene.begin(fault).end().acted


def test_outside_an_arm_there_is_nothing_to_copy(scene: Scene) -> None:
    with pytest.raises(StackError, match="there is no arm"):
        Copy().begin(replace(scene.context, triple_store=None))


@pytest.mark.parametrize("fault", [Copy(), Restore(), Kill(part="triple-store"), Pause(part="triple-store")])
def test_samples_go_on_without_the_triple_store(fault: Fault) -> None:
    assert fault.blinds_s() == 0


@pytest.mark.parametrize("lever", ["copy", "restore"])
def test_a_process_of_another_command_is_not_copied(lever: Any) -> None:
    run = cast(RunState, SimpleNamespace(released=True))
    part = AttachedPart(PartPlace(name="triple-store", address="http://127.0.0.1:1", pid=1), run)
    assert "only the `timeline` of a scenario" in (part.refusal(lever) or "")
    assert part.refusal("restart") is None
