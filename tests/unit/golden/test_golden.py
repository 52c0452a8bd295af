"""Each input is refused with exactly the text of its golden file.

`python -m tests.unit.golden` writes the files again.
"""

from pathlib import Path

import pytest

from tests.unit.golden.case_file import Case, changes_of, read_cases, write_cases
from tests.unit.golden.golden_kinds import KINDS, Kind, cases


@pytest.mark.parametrize(("kind", "case"), [pytest.param(*one, id=f"{one[0].name}: {one[1].name}") for one in cases()])
def test_the_text_is_that_of_the_golden_file(kind: Kind, case: Case) -> None:
    assert kind.tried(case).splitlines() == list(case.expected)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_case_has_a_name_of_its_own_and_an_expected_text(kind: Kind) -> None:
    found = read_cases(kind.file)
    assert len({case.name for case in found}) == len(found) > 0
    assert [case.name for case in found if not case.expected] == []


def test_a_case_file_is_written_as_it_was_read(tmp_path: Path) -> None:
    for kind in KINDS:
        copy = tmp_path / kind.file.name
        write_cases(copy, read_cases(kind.file))
        assert copy.read_text() == kind.file.read_text()


@pytest.mark.parametrize("after", ["", "a\n", "b\na\nc\n", "x\na\ny\nz\nb\n", "a\nb\nc\nd\n"])
def test_changes_make_one_text_of_another(after: str) -> None:
    assert Case("x", changes=tuple(changes_of("a\nb\nc\n", after))).text("a\nb\nc\n") == after
