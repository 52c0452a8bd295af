"""What `checkpoint verify` finds."""

from pathlib import Path

import pytest

from pipeline.ops.checkpoint_commands import _AGAIN, problems
from pipeline.ops.checkpoint_write import set_in_place
from pipeline.ops.source import Bounds
from tests.unit.pipeline.ops.places import BOUNDS, STOPPED, TOPIC, checkpoint_at, files_at, recorded, rewrite


def found(place: Path, *, topic: str = TOPIC, bounds: Bounds = BOUNDS) -> str:
    """The one problem there is, or nothing."""
    wrong = problems(checkpoint_at(place), {topic: bounds})
    assert len(wrong) <= 1, wrong
    return "".join(wrong)


@pytest.mark.parametrize("without", [(), ("commits/2",), ("offsets/0", "commits/0"), ("sources/0/0",)])
def test_a_job_that_stopped_anywhere_can_continue(tmp_path: Path, without: tuple[str, ...]) -> None:
    assert found(recorded(tmp_path, without=without)) == ""


def test_so_can_one_whose_position_was_set(tmp_path: Path) -> None:
    place = recorded(tmp_path, without=("commits/2",))
    set_in_place(files_at(place), checkpoint_at(place), {TOPIC: {0: 5}})
    assert found(place) == ""


@pytest.mark.parametrize(
    ("bounds", "why"),
    [
        (Bounds({0: 0}, {0: 19}), f"{TOPIC}/0/20 is behind the topic's end 19"),
        (Bounds({0: 0}, {0: 19}), "begin again at another checkpoint, with `run --new`"),
        (Bounds({1: 0}, {1: 20}), "begin again at another checkpoint, with `run --new`"),
        (Bounds({0: 23}, {0: 40}), f"{TOPIC}/0/20 is gone: retention has kept 23 and later, 3 events are lost"),
        (Bounds({1: 0}, {1: 20}), f"partition {TOPIC}/0 is not there"),
        (Bounds({0: 20}, {0: 20}), ""),
        (Bounds({0: 5, 1: 7}, {0: 21, 1: 9}), ""),
    ],
)
def test_what_the_broker_says(bounds: Bounds, why: str) -> None:
    reason = found(STOPPED, bounds=bounds)
    assert why in reason
    assert bool(reason) == bool(why)


def test_each_topic_is_held_to_what_the_broker_has_of_it(tmp_path: Path) -> None:
    place = recorded(tmp_path)
    set_in_place(files_at(place), checkpoint_at(place), {TOPIC: {0: 20}, "other": {0: 7}})
    topics = {TOPIC: BOUNDS, "other": Bounds({0: 0}, {0: 6})}
    assert problems(checkpoint_at(place), topics) == [
        f"other/0/7 is behind the topic's end 6: it is another cluster's, or the topic was made again; {_AGAIN}"
    ]
    assert problems(checkpoint_at(place), topics | {"other": Bounds({0: 0}, {0: 7})}) == []


def test_the_end_of_a_planned_batch_has_to_be_there_too(tmp_path: Path) -> None:
    place = recorded(tmp_path, without=("commits/2",))
    assert f"{TOPIC}/0/20 is behind the topic's end 18" in found(place, bounds=Bounds({0: 0}, {0: 18}))


def test_a_partition_that_only_the_planned_batch_knows_is_asked_for(tmp_path: Path) -> None:
    place = recorded(tmp_path, without=("commits/2",))
    rewrite(place, "offsets/2", '"0":20', '"0":20,"1":4')
    assert found(place, bounds=Bounds({0: 0, 1: 0}, {0: 20, 1: 4})) == ""
    assert f"partition {TOPIC}/1 is not there" in found(place)
