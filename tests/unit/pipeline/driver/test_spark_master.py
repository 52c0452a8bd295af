import pytest

from pipeline.driver.spark_slots import is_local, local_cluster


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
