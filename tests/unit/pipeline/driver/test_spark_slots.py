"""Who gets how many of Spark's slots, and who is refused."""

from collections.abc import Callable

import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.spark_slots import is_local, local_cluster, main_slots, require_slots, slots_at_most
from pipeline.errors import RefusedError

MakeConfig = Callable[..., PipelineConfig]


@pytest.mark.parametrize(("slots", "rounds", "left"), [(4, 1, 3), (4, 3, 1), (4, 4, 1), (1, 1, 1), (2, 9, 1)])
def test_the_main_lane_has_what_slow_rounds_leave_and_one_at_least(
    make_config: MakeConfig, slots: int, rounds: int, left: int
) -> None:
    assert main_slots(slots, make_config(deferral={"slow_lane": {"rounds": rounds}})) == left


def test_without_deferral_all_are_the_main_lanes(make_config: MakeConfig) -> None:
    config = make_config(deferral={"policy": "none", "slow_lane": {"rounds": 9}})
    assert main_slots(4, config) == 4
    require_slots("local[1]", 1, config)


@pytest.mark.parametrize(("slots", "rounds"), [(1, 1), (2, 2), (2, 3)])
def test_rounds_in_all_slots_are_refused_with_both_figures_and_the_remedy(
    make_config: MakeConfig, slots: int, rounds: int
) -> None:
    config = make_config(deferral={"slow_lane": {"rounds": rounds}})
    with pytest.raises(RefusedError, match=rf"Spark has {slots} slots? .*slow_lane.rounds {rounds} ") as refused:
        require_slots(f"local[{slots}]", slots, config)
    assert f"local[{rounds + 1}]" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("master", "slots", "rounds"), [("local[2]", 2, 1), ("local[*]", 8, 7), ("spark://m:7077", 2, 2)]
)
def test_a_slot_more_is_enough_and_a_clusters_are_not_known(
    make_config: MakeConfig, master: str, slots: int, rounds: int
) -> None:
    require_slots(master, slots, make_config(deferral={"slow_lane": {"rounds": rounds}}))


@pytest.mark.parametrize(
    ("master", "spark", "slots"),
    [
        ("local[7]", {}, 7),
        ("local[7]", {"spark.executor.instances": "3", "spark.executor.cores": "4"}, 7),
        ("local-cluster[2,3,512]", {}, 6),
        ("local-cluster[2, 3, 512]", {"spark.task.cpus": "2"}, 2),
        ("spark://m:7077", {}, None),
        ("spark://m:7077", {"spark.cores.max": "12"}, 12),
        ("spark://m:7077", {"spark.cores.max": "12", "spark.task.cpus": "5"}, 2),
        ("k8s://m", {"spark.executor.instances": "3", "spark.executor.cores": "4"}, 12),
        ("yarn", {"spark.executor.instances": "3", "spark.executor.cores": "5", "spark.task.cpus": "2"}, 6),
        ("yarn", {"spark.executor.cores": "4"}, None),
        ("yarn", {"spark.executor.instances": "3"}, None),
        ("yarn", {"spark.executor.instances": "3", "spark.executor.cores": "1", "spark.task.cpus": "2"}, 1),
        ("spark://m:7077", {"spark.cores.max": "6", "spark.executor.instances": "3", "spark.executor.cores": "4"}, 6),
        (
            "yarn",
            {
                "spark.dynamicAllocation.enabled": "true",
                "spark.dynamicAllocation.maxExecutors": "9",
                "spark.executor.instances": "3",
                "spark.executor.cores": "2",
            },
            18,
        ),
        ("yarn", {"spark.dynamicAllocation.enabled": "true", "spark.executor.cores": "2"}, None),
    ],
)
def test_a_clusters_slots_are_those_of_its_settings_not_of_who_has_come(
    master: str, spark: dict[str, str], slots: int | None
) -> None:
    assert slots_at_most(master, spark, parallelism=7) == slots


@pytest.mark.parametrize(
    ("master", "here"),
    [
        ("local", True),
        ("local[*]", True),
        ("local[4,2]", True),
        ("local-cluster[2,3,512]", False),
        ("spark://m:7077", False),
        ("yarn", False),
    ],
)
def test_where_tasks_run(master: str, here: bool) -> None:
    assert is_local(master) is here


@pytest.mark.parametrize(
    ("master", "executors"),
    [("local-cluster[2,3,512]", (2, 3)), ("local-cluster[ 1 , 4 , 900 ]", (1, 4)), ("local[4,2]", None)],
)
def test_executors_of_this_machine(master: str, executors: tuple[int, int] | None) -> None:
    assert local_cluster(master) == executors
