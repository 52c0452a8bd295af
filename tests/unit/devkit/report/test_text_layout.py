from devkit.report.text_layout import columns


def test_columns_are_aligned_and_lines_have_no_trailing_spaces() -> None:
    rows = [("seed", "exit", "evidence"), ("7", "0", "runs/a b"), ("8", "130", "")]
    assert list(columns(rows, indent=" ")) == [" seed  exit  evidence", " 7     0     runs/a b", " 8     130"]
