"""The copy is what runs, and its edits are undone."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.model import Process
from tests.mutants.tree import Tree, process_kind

TOP = Path(__file__).parents[3]


def test_an_edited_module_is_loaded_from_the_copy_and_leaves_a_note(tmp_path: Path) -> None:
    tree = Tree(TOP, tmp_path / "work")
    file = tree.root / "pipeline" / "driver" / "spark_slots.py"
    plain = file.read_text()
    file.write_text(plain + "\nMARK = 'edited'\n")
    tree.watch(["pipeline/driver/spark_slots.py", "pipeline/driver/spark_slots.py"])
    assert tree.loaded_in() == frozenset()
    argv = [sys.executable, "-c", "from pipeline.driver import spark_slots as slots; print(slots.MARK, slots.__file__)"]
    done = subprocess.run(argv, cwd=tmp_path, env=tree.environment(), capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["edited", str(file)]
    assert tree.loaded_in() == {"driver"}
    tree.restore()
    assert tree.loaded_in() == frozenset()
    assert file.read_text() == plain == (TOP / "pipeline" / "driver" / "spark_slots.py").read_text()


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (["python", "-m", "pytest", "-q"], "test"),
        (["python", "-m", "pipeline.worker.daemon", "pyspark.worker"], "worker"),
        (["python", "/tree/tests/integration/crash/launcher.py", "run"], "driver"),
        (["python", "-m", "pipeline", "run"], "driver"),
    ],
)
def test_a_process_is_known_by_its_command_line(argv: list[str], kind: Process) -> None:
    assert process_kind(argv) == kind
