"""A timeline that cannot be played is refused before anything starts, at its place in the file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import load_scenario

BASE = (Path(__file__).parent / "incident.yaml").read_text()
BEFORE = "kafka:\n  topics:"


def write(tmp_path: Path, item: str) -> Path:
    file = tmp_path / "s.yaml"
    file.write_text(BASE.replace(BEFORE, f"timeline:\n  - {item}\n{BEFORE}"))
    return file


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[str], str]:
    def load(item: str) -> str:
        file = write(tmp_path, item)
        with pytest.raises(InvalidFileError) as caught:
            load_scenario(file)
        return str(caught.value).removeprefix(str(file))

    return load


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ("{name: x, do: {pauze: {part: kafka}}, at: 1s}", ":20:20: timeline[0].do.pauze: unknown fault 'pauze'; did"),
        ("{name: x, do: {pause: {prt: kafka}}, at: 1s}", ":20:28: timeline[0].do.pause.prt: unknown key; did"),
        ("{name: x, do: {pause: {part: kafka}}, at: 8}", ":20:43: timeline[0].at: not a duration (got 8); write 8s"),
        ("{name: x, do: {pause: {part: kafka}}, when: lagg > 5}", ":20:43: timeline[0].when: 'lagg > 5' is no"),
        ("{name: x, do: {pause: {part: kafka}}, when: lag > 500}", "timeline[0].when: lag is never more than the 161"),
        ("{name: x, do: {pause: {part: kafka}}, at: 90s}", "timeline[0].at: each arm ends at its deadline of 90s"),
        ("{name: huge page, do: {pause: {part: kafka}}, at: 9s}", "timeline[0].name: a rule of mock.rules has the"),
        ("{name: x, do: {pause: {part: kafka}}, when: {event: batch_writen}}", "did you mean 'batch_written'?"),
        ("{name: x, do: {pause: {part: kafka}}, when: {met: huge pge}}", "did you mean 'huge page'?"),
        ("{name: x, do: {pause: {part: kafka}}, when: program enrich running}", "there is no program 'enrich'"),
        ("{name: x, do: {move_leader: {topic: output}}, at: 1s}", "do.move_leader: needs at least 2 brokers"),
        ("{name: x, do: {recreate_topic: {topic: source}}, at: 1s}", "recreate_topic.topic: "),
        ("{name: x, do: {pause: {part: kafka}}}", "timeline[0]: says when it begins by one of"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(refused: Callable[[str], str], item: str, said: str) -> None:
    assert said in refused(item)


def test_a_timeline_that_can_be_played(tmp_path: Path) -> None:
    item = "{name: x, do: {pause: {part: kafka}}, when: {committed: 50%}, for: 5s, arms: [incident]}"
    (found,) = load_scenario(write(tmp_path, item)).timeline
    assert str(found) == "pause: {part: kafka}, when committed >= 50%, for 5s"
