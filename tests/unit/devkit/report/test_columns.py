from devkit.report.columns import columns


def test_cells_stand_below_each_other_and_lines_end_where_they_end() -> None:
    rows = [("seed", "exit", "evidence"), ("7", "0", "runs/a b"), ("8", "130", "")]
    assert list(columns(rows, indent=" ")) == [" seed  exit  evidence", " 7     0     runs/a b", " 8     130"]
