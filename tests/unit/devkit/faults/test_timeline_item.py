from datetime import timedelta
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from devkit.faults.parts.pause import Pause
from devkit.faults.timeline_item import Timeline, TimelineItem

PAUSE = {"pause": {"part": "kafka"}}


def item(**keys: Any) -> TimelineItem:
    return TimelineItem.model_validate({"name": "x", "do": PAUSE, "at": "8s"} | keys)


def problems(**keys: Any) -> list[tuple[tuple[int | str, ...], str]]:
    with pytest.raises(ValidationError) as caught:
        item(**keys)
    return [(error["loc"], error["msg"]) for error in caught.value.errors()]


def test_an_item_is_a_fault_and_its_time() -> None:
    parsed = item(**{"for": "5s", "arms": ["incident"]})
    assert parsed.do == Pause(part="kafka")
    assert (parsed.at, parsed.for_, parsed.arms) == (timedelta(seconds=8), timedelta(seconds=5), ("incident",))
    assert str(parsed) == "pause: {part: kafka}, at 8s, for 5s"


def test_it_may_begin_by_a_condition() -> None:
    late = item(at=None, when="lag > 5", after="2s")
    assert str(late) == "pause: {part: kafka}, 2s after lag > 5"
    assert str(item(at=None, when={"committed": "50%"})) == "pause: {part: kafka}, when committed >= 50%"


def test_it_is_written_as_it_was_read() -> None:
    written = item(**{"for": "5s"}).model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert written == {"name": "x", "do": PAUSE, "at": "8s", "for": "5s"}


@pytest.mark.parametrize(
    ("keys", "place", "message"),
    [
        ({"do": {"pauze": {}}}, ("do", "pauze"), "unknown fault 'pauze'; did you mean 'pause'?"),
        ({"do": {"xyz": {}}}, ("do", "xyz"), "there are: pause, kill, restart"),
        ({"do": {"pause": {"part": "kafka", "prt": 1}}}, ("do", "pause", "prt"), "did you mean 'part'?"),
        ({"do": {"pause": {"part": "kafka", "q": 1}}}, ("do", "pause", "q"), "there are: part"),
        ({"do": {"pause": {}}}, ("do", "pause", "part"), "is missing"),
        ({"do": {"pause": None}}, ("do", "pause", "part"), "is missing"),
        ({"do": {"pause": {"part": 5}}}, ("do", "pause", "part"), "must be text"),
        ({"do": {**PAUSE, "kill": {"part": "kafka"}}}, ("do",), "one key, the fault's name"),
        ({"do": "pause"}, ("do",), "one key, the fault's name"),
        ({"when": "lag > 5"}, (), "`at` and `when` both say when it begins, and both are given; keep one"),
        ({"after": "2s"}, (), "`after` counts from when `when` holds, and `at` is given; keep one of `at` and `after`"),
        (
            {"at": None, "when": {"request": {"methods": ["PUT"]}}, "after": "2s"},
            (),
            "the request of `when` waits until the fault acts; leave `after` out",
        ),
        ({"at": None}, (), "one of `at` (a time) and `when` (a condition)"),
        ({"for": "0s"}, ("for",), "greater than"),
        ({"arms": []}, ("arms",), "at least 1"),
        ({"do": {"restart": {"part": "kafka"}}, "for": "5s"}, (), "restart lasts as long as it takes"),
    ],
)
def test_each_problem_knows_its_place(keys: dict[str, Any], place: tuple[int | str, ...], message: str) -> None:
    ((location, text),) = problems(**keys)
    assert location == place
    assert message in text


def test_two_items_of_one_name_are_refused() -> None:
    twice = [{"name": "x", "do": PAUSE, "at": "1s"}, {"name": "x", "do": PAUSE, "at": "2s"}]
    with pytest.raises(ValidationError, match="given twice: x"):
        TypeAdapter(Timeline).validate_python(twice)


def test_the_schema_knows_the_faults_and_their_parameters() -> None:
    do = TimelineItem.model_json_schema()["properties"]["do"]
    assert do["maxProperties"] == 1
    assert set(do["properties"]["pause"]["properties"]) == {"part"}
    assert do["properties"]["pause"]["additionalProperties"] is False
