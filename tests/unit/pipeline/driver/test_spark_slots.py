"""Who gets how many of Spark's slots, and who is refused."""

from collections.abc import Callable

import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.spark_slots import is_local, local_cluster, main_slots, require_slots, slots_at_most
from pipeline.errors import RefusedError

MakeConfig = Callable[..., PipelineConfig]
DEFER = "defer"


@pytest.mark.parametrize(
    ("slots", "rounds", "policy", "left"),
    [
        (4, 1, "defer", 3),
        (4, 3, "defer", 1),
        (4, 4, "defer", 1),
        (1, 1, "defer", 1),
        (2, 9, "defer", 1),
        (4, 9, "none", 4),
    ],
)
def test_the_main_lane_has_what_slow_rounds_leave_and_one_at_least(
    make_config: MakeConfig, slots: int, rounds: int, policy: str, left: int
) -> None:
    assert main_slots(slots, make_config(deferral={"policy": policy, "slow_lane": {"rounds": rounds}})) == left


@pytest.mark.parametrize(
    ("master", "slots", "rounds", "policy"),
    [
        ("local[2]", 2, 1, DEFER),
        ("local[*]", 8, 7, DEFER),
        ("spark://m:7077", 2, 2, DEFER),
        ("local[1]", 1, 9, "none"),
    ],
    ids=["a slot more is enough", "of many too", "a cluster's are not known", "without deferral"],
)
def test_which_slots_are_enough(make_config: MakeConfig, master: str, slots: int, rounds: int, policy: str) -> None:
    require_slots(master, slots, make_config(deferral={"policy": policy, "slow_lane": {"rounds": rounds}}))


@pytest.mark.parametrize(("slots", "rounds"), [(1, 1), (2, 2), (2, 3)])
def test_rounds_in_all_slots_are_refused_with_both_figures_and_the_remedy(
    make_config: MakeConfig, slots: int, rounds: int
) -> None:
    config = make_config(deferral={"slow_lane": {"rounds": rounds}})
    with pytest.raises(RefusedError, match=rf"Spark has {slots} slots? .*slow_lane.rounds {rounds} ") as refused:
        require_slots(f"local[{slots}]", slots, config)
    assert f"local[{rounds + 1}]" in (refused.value.hint or "")


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
