import pytest

from devkit.errors import StackError
from devkit.stack.parts.part_life import require_running
from tests.unit.devkit.stack.fakes import FakeProcess


def test_a_part_that_runs() -> None:
    require_running(FakeProcess().managed())


@pytest.mark.parametrize(("code", "how"), [(0, "with exit code 0"), (1, "with exit code 1"), (-9, "by signal 9")])
def test_a_part_that_has_ended_is_named_with_its_last_words(code: int, how: str) -> None:
    with pytest.raises(StackError, match=f"^kafka ended {how}: it said this at last$") as caught:
        require_running(FakeProcess(exit_code=code).managed())
    assert caught.value.hint == "read its whole log, /nowhere/kafka.log"
