from collections import Counter

import pytest

from tests.line_counts import WORST, counts, report


def test_the_worst_rooms_come_first() -> None:
    rooms = {f"pipeline/r{number}": number * 100 for number in range(1, 9)}
    lines = report(Counter(dict.fromkeys(rooms, 1000)) + Counter({"tiny": 10}), Counter(rooms) + Counter({"tiny": 900}))
    assert lines[0] == "unit tests: 4,500 lines for 8,010 of source, 0.562 for each line"
    assert lines[1] == "   0.80  pipeline/r8: 800 for 1,000"
    assert len(lines) == 1 + WORST


@pytest.mark.starts_process("git lists the files")
def test_each_test_belongs_to_the_room_that_it_mirrors() -> None:
    source, tests = counts()
    assert source["pipeline/deferral"] > 1000 < tests["pipeline/deferral"]
    assert tests["(no room)"] > 0
