"""The table of faults on parts, and how it is put into a file."""

from pathlib import Path

from devkit.faults.registry import FAULTS
from devkit.faults.table import part_fault_table, put_table


def test_it_has_a_row_a_fault() -> None:
    rows = part_fault_table().splitlines()[2:]
    assert [row.split(":")[0] for row in rows] == [f"| `{name}" for name in FAULTS]
    assert "| `network_cut: {part: kafka}` | a part refuses connections, and those that are open are closed |" in rows


def test_it_takes_the_place_of_the_one_that_is_there(tmp_path: Path) -> None:
    file = tmp_path / "faults.md"
    file.write_text("before\n\n| fault on a part | what it does |\n|---|---|\n| `old: {}` | was |\n\nafter\n")
    for _ in range(2):
        put_table(file)
        assert file.read_text() == f"before\n\n{part_fault_table()}\nafter\n"
