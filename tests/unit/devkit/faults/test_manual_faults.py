"""What is given by hand: which faults there are, and what is written wrong."""

import pytest

from devkit.errors import UsageError
from devkit.faults.manual_faults import is_on_a_part, parse, require_known_part_fault

PAUSE = {"pause": {"part": "store"}}


def test_what_is_written_wrong_says_where() -> None:
    with pytest.raises(UsageError, match=r"do\.pause\.prt: unknown key; did you mean 'part'"):
        parse({"pause": {"prt": 1}}, name=None, at=None, for_=None)
    with pytest.raises(UsageError, match=r"^at: not a duration \(got 'soon'\); write 10s"):
        parse(PAUSE, name=None, at="soon", for_=None)


@pytest.mark.parametrize(
    ("do", "is_one"), [(PAUSE, True), ({"status": 504}, False), ({"pause": {}, "status": 504}, False)]
)
def test_which_faults_are_on_parts(do: dict[str, object], *, is_one: bool) -> None:
    assert is_on_a_part(do) is is_one


def test_a_name_that_no_fault_on_a_part_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"do\.pausee: no fault on a part has this name") as caught:
        require_known_part_fault({"pausee": {"part": "store"}})
    assert caught.value.hint == "did you mean 'pause'?"
    with pytest.raises(UsageError) as caught:
        require_known_part_fault({"slow": {"part": "store"}})
    assert "store_slow" in str(caught.value.hint)
    for do in (PAUSE, {"status": 504}, {"latency": {"fixed": "1s"}}):
        require_known_part_fault(do)
