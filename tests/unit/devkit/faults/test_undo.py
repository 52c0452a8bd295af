import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from devkit.errors import StackError
from devkit.faults import registry, undo
from devkit.faults.fault import Undo
from devkit.faults.journal import Journal, Page, journals
from devkit.faults.suspension import resume_container
from devkit.faults.undo import Undone, heal_faults, undo_ended, undo_lapsed
from devkit.guardian import lease
from devkit.guardian.run_state import RunState
from located_config import extension
from located_config.extension import VARIABLE, load_extension
from tests.unit.devkit.docker.fake_docker import FakeDocker
from tests.unit.devkit.faults.fakes import DONE, Noted

LONG_AGO = time.time() - lease.LEASE.total_seconds() - 5


@pytest.fixture(autouse=True)
def noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(registry.FAULTS._by_name, Noted.name, Noted)
    DONE.clear()
    yield
    DONE.clear()


def page(name: str, *, outlives_run: bool = True, fails: str = "", irreversible: str = "", run: str = "run1") -> Page:
    page = Journal(run).open(name, Noted(part=name))
    page.plan(Undo(data={"part": name, "fails": fails}, outlives_run=outlives_run))
    page.plan(Undo(data={"part": f"{name} again", "fails": fails}, outlives_run=outlives_run))
    if irreversible:
        page.plan(Undo(irreversible=irreversible, outlives_run=outlives_run))
    return page


def left() -> list[str]:
    return [page.entry.name for journal in journals() for page in journal.pages()]


def test_what_outlives_its_run_is_undone_the_last_first() -> None:
    page("a")
    page("b", outlives_run=False)
    page("c", run="run2")
    assert undo_ended("run1") == [Undone("run1", "a", "noted: {part: a}"), Undone("run1", "b", "noted: {part: b}")]
    assert DONE == ["undone a again", "undone a"]
    assert left() == ["c"]


def test_what_lapsed_is_undone_while_the_run_goes_on_and_the_rest_is_not() -> None:
    lapsed = page("a", outlives_run=False)
    page("b")
    os.utime(lapsed.path, (LONG_AGO, LONG_AGO))
    assert [undone.name for undone in undo_lapsed("run1")] == ["a"]
    assert DONE == ["undone a again", "undone a"]
    assert left() == ["b"]


def test_what_cannot_be_undone_now_is_tried_again() -> None:
    page("a", fails="undo")
    (undone,) = undo_ended("run1")
    assert undone.why == "it is still there"
    (again,) = heal_faults()
    assert again.why == "it is still there"
    assert left() == ["a"]


def test_what_can_never_be_undone_is_named_once_by_heal() -> None:
    page("a", irreversible="2 partitions more")
    undo_ended("run1")
    assert left() == ["a"]
    assert heal_faults() == [Undone("run1", "a", "noted: {part: a}", ("2 partitions more",))]
    assert heal_faults() == []
    assert DONE == ["undone a again", "undone a"]


@pytest.mark.parametrize("text", ["", "{", '{"of": "another version"}'])
def test_a_page_that_heal_cannot_read_is_named_and_stays(text: str) -> None:
    path = page("a").path
    path.write_text(text)
    page("b")
    for expected in (["b", path.stem], [path.stem]):
        undone = heal_faults()
        assert [finding.name for finding in undone] == expected
    assert undone[0].run_id == "run1"
    assert f"its page {path} is damaged or of another version of the kit" in undone[0].why
    assert path.read_text() == text


def test_what_could_never_be_undone_of_a_part_that_is_gone_is_no_news() -> None:
    page("a", outlives_run=False, irreversible="2 partitions more")
    assert heal_faults() == [Undone("run1", "a", "noted: {part: a}")]
    assert left() == []


def test_heal_leaves_runs_alone_whose_guardian_lives() -> None:
    import psutil

    me = psutil.Process()
    RunState(run_id="run1", guardian_pid=me.pid, guardian_started=me.create_time(), directory=Path("/x")).save()
    page("a", run="run1")
    page("b", run="run2")
    assert [undone.name for undone in heal_faults()] == ["b"]
    assert left() == ["a"]


def test_a_fault_of_a_package_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    page("a")
    monkeypatch.delitem(registry.FAULTS._by_name, Noted.name)
    (undone,) = heal_faults()
    assert "fault 'noted' of tests.unit.devkit.faults.fakes is not known here" in undone.why
    assert left() == ["a"]


EXTENSION = """
from pathlib import Path
from typing import ClassVar

from devkit.errors import StackError
from devkit.faults import Acting, Context, Fault, Need, Undo, register


@register
class Scribbled(Fault):
    name: ClassVar[str] = "scribbled"
    summary: ClassVar[str] = "a file is there"
    example: ClassVar[str] = "{}"

    def needs(self) -> tuple[Need, ...]:
        return ()

    def begin(self, context: Context) -> Acting:
        raise StackError("only its undoing is of interest")

    @classmethod
    def undo(cls, undo: Undo) -> None:
        Path(undo.data["file"]).unlink()
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of an extension, yet to be written, beside a module that defines a fault and does not register it."""
    monkeypatch.setattr(registry.FAULTS, "_by_name", dict(registry.FAULTS))
    monkeypatch.setattr(extension, "_loaded", {})
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "scribbling.py").write_text(EXTENSION.replace("@register\n", ""))
    yield tmp_path / "mine.py"
    sys.modules.pop("scribbling", None)


REGISTERS = "from devkit.faults import register\nfrom scribbling import Scribbled\n\nregister(Scribbled)\n"


@pytest.mark.parametrize("text", [EXTENSION, REGISTERS], ids=["that defines it", "that only registers it"])
def test_a_fault_of_an_extension_is_undone_where_it_is_not_loaded(
    mine: Path, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine.write_text(text)
    load_extension(str(mine), tmp_path)
    page = Journal("run1").open("a", registry.FAULTS["scribbled"]())
    scribbled = tmp_path / "scribbled"
    scribbled.touch()
    page.plan(Undo(data={"file": str(scribbled)}, outlives_run=True))
    assert page.entry.extension == str(mine)
    assert (page.entry.module == "scribbling") is (text is REGISTERS)
    # Another process knows nothing of it but what the journal says.
    monkeypatch.setattr(extension, "_loaded", {})
    monkeypatch.delitem(registry.FAULTS._by_name, "scribbled")
    (undone,) = heal_faults()
    assert undone.why == ""
    assert not scribbled.exists()


def test_the_process_that_undoes_loads_no_extension_that_its_faults_do_not_need(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine.write_text(REGISTERS)
    page("a")
    monkeypatch.setenv(VARIABLE, os.pathsep.join([str(mine), "./gone.py"]))
    monkeypatch.setattr(sys, "argv", ["undo", "run1", "ended"])
    with pytest.raises(SystemExit) as left_with:
        undo.main()
    assert left_with.value.code == 0
    assert "scribbled" not in registry.FAULTS
    assert left() == []


def test_an_extension_that_is_gone_is_named(tmp_path: Path) -> None:
    opened = page("a")
    opened.entry = opened.entry.model_copy(update={"fault": "gone", "extension": str(tmp_path / "gone.py")})
    opened.write()
    (undone,) = heal_faults()
    assert undone.why.startswith(f"fault 'gone' cannot be undone: {tmp_path}/gone.py: there is no such file")
    assert left() == ["a"]


@pytest.fixture
def fake(tmp_path: Path) -> FakeDocker:
    return FakeDocker(tmp_path)


def orders(fake: FakeDocker) -> list[str]:
    return [words[2] for words in fake.asked()]


@pytest.mark.starts_process("the docker command is a script that gives the answers")
@pytest.mark.parametrize("state", ["running\n", "exited\n", ""])
def test_one_that_is_not_paused_or_not_there_is_left_alone(fake: FakeDocker, state: str) -> None:
    resume_container(fake.answer(("ls --all id=c1", 0, state, "")), "c1")
    assert orders(fake) == ["ls"]


@pytest.mark.starts_process("the docker command is a script that gives the answers")
def test_one_that_is_paused_goes_on(fake: FakeDocker) -> None:
    resume_container(fake.answer(("ls --all id=c1", 0, "paused\n", "")), "c1")
    assert fake.asked()[-1][1:] == ["container", "unpause", "c1"]


@pytest.mark.starts_process("the docker command is a script that gives the answers")
def test_one_that_stands_still_all_the_same_is_an_error(fake: FakeDocker) -> None:
    access = fake.answer(("ls --all id=c1", 0, "paused\n", ""), ("unpause", 1, "", "no"))
    with pytest.raises(StackError, match="resuming a container"):
        resume_container(access, "c1")
    assert orders(fake) == ["ls", "unpause", "ls"]
