"""Spark's settings, who gets how many of its slots, and who is refused."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.spark_conf import (
    PROTOCOL,
    Given,
    given_settings,
    is_submitted,
    require_known,
    require_of_spark,
    require_protocol,
)
from pipeline.driver.spark_slots import is_local, local_cluster, main_slots, require_slots, slots_at_most
from pipeline.errors import RefusedError

DEFAULTS = """\
# where it runs
spark.master            spark://here:7077
spark.driver.memory=1g

spark.executor.memory:  2g
  spark.ui.enabled  =  false
! no more
spark.alone
"""
MakeConfig = Callable[..., PipelineConfig]
DEFER = "defer"


@pytest.fixture
def conf_dir(tmp_path: Path) -> Path:
    (tmp_path / "spark-defaults.conf").write_text(DEFAULTS)
    return tmp_path


def test_a_file_is_read_as_spark_reads_it(conf_dir: Path) -> None:
    file = conf_dir / "spark-defaults.conf"
    assert given_settings({"SPARK_CONF_DIR": str(conf_dir)}) == {
        "spark.master": Given("spark://here:7077", f"{file}:2"),
        "spark.driver.memory": Given("1g", f"{file}:3"),
        "spark.executor.memory": Given("2g", f"{file}:5"),
        "spark.ui.enabled": Given("false", f"{file}:6"),
        "spark.alone": Given("", f"{file}:8"),
    }


def test_sparks_own_directory_is_the_last_resort(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("spark.a 1\n")
    assert given_settings({"SPARK_HOME": str(tmp_path)})["spark.a"].value == "1"
    assert given_settings({"SPARK_CONF_DIR": str(tmp_path / "missing")}) == given_settings({}) == {}


def test_an_option_of_its_own_wins_over_conf() -> None:
    arguments = "--driver-memory 2g --conf spark.driver.memory=1g --master=local[3] pyspark-shell"
    assert given_settings({"PYSPARK_SUBMIT_ARGS": arguments}) == {
        "spark.driver.memory": Given("2g", "--driver-memory"),
        "spark.master": Given("local[3]", "--master"),
    }


def test_the_variable_for_memory_counts_where_no_file_says_it(conf_dir: Path) -> None:
    variable = {"SPARK_DRIVER_MEMORY": "5g"}
    assert given_settings(variable)["spark.driver.memory"].value == "5g"
    assert given_settings(variable | {"SPARK_CONF_DIR": str(conf_dir)})["spark.driver.memory"].value == "1g"


def test_options_win_over_files_and_a_named_file_over_the_usual_one(conf_dir: Path, tmp_path: Path) -> None:
    named = tmp_path / "a b.conf"
    named.write_text("spark.driver.memory 3g\nspark.x 1\n")
    environment = {
        "SPARK_CONF_DIR": str(conf_dir),
        "PYSPARK_SUBMIT_ARGS": f"--properties-file {shlex.quote(str(named))} --conf spark.x=a=b pyspark-shell",
    }
    assert {key: setting.value for key, setting in given_settings(environment).items()} == {
        "spark.driver.memory": "3g",
        "spark.x": "a=b",
    }


def test_a_named_file_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="there is no such file"):
        given_settings({"PYSPARK_SUBMIT_ARGS": f"--properties-file {tmp_path}/none pyspark-shell"})


@given(st.text(alphabet="spark.=: \tab\n-c", max_size=60))
def test_no_file_and_no_option_breaks_it(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    directory = tmp_path_factory.mktemp("conf")
    (directory / "spark-defaults.conf").write_text(text)
    found = given_settings({"SPARK_CONF_DIR": str(directory), "PYSPARK_SUBMIT_ARGS": text})
    assert all(isinstance(setting.value, str) for setting in found.values())


def test_under_spark_submit_the_jvm_runs_already() -> None:
    assert is_submitted({"PYSPARK_GATEWAY_PORT": "1"})
    assert not is_submitted({})


KNOWN = {"spark.executor.memoryOverhead", "spark.executor.memory", "spark.driver.memory", "spark.ui.enabled"}


def settings_of(**settings: str) -> dict[str, Given]:
    return {key: Given(value, "conf:1") for key, value in settings.items()}


@pytest.mark.parametrize("key", sorted(PROTOCOL))
def test_what_the_job_depends_on_cannot_be_told_otherwise(key: str) -> None:
    needed, why = PROTOCOL[key]
    require_protocol(settings_of(**{key: needed.upper()}))
    with pytest.raises(RefusedError) as caught:
        require_protocol(settings_of(**{key: "other"}))
    assert str(caught.value) == f"{key} is other (conf:1), and the job needs {needed}: {why}"


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("spark.executor.memoryoverhead", "spark.executor.memoryOverhead"),
        ("spark.executor.memory_overhead", "spark.executor.memoryOverhead"),
        ("spark.driver.memmory", "spark.driver.memory"),
        ("driver.memory", "spark.driver.memory"),
        ("spark.Master", "spark.master"),
        ("spark.task.maxFailure", "spark.task.maxFailures"),
    ],
)
def test_a_misspelt_key_is_refused_with_the_near_miss(key: str, near: str) -> None:
    with pytest.raises(RefusedError) as caught:
        require_known(settings_of(**{key: "1"}), KNOWN)
    assert str(caught.value) == f"{key} (conf:1): unknown to Spark, which would ignore it; did you mean {near!r}?"


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("spark.executor.memory", []),
        ("spark.master", []),
        ("spark.hadoop.fs.s3a.endpoint", []),
        ("spark.kubernetes.namespace", []),
        ("spark.executorEnv.TMPDIR", []),
        ("spark.sql.streaming.checkpointFileManagerClass", []),
        ("spark.driver.defaultJavaOptions", []),
        # A module that is not loaded yet may know it.
        ("spark.plugin.of.ours", ["spark.plugin.of.ours (conf:1)"]),
    ],
)
def test_what_spark_may_read_is_left_alone_and_told_when_it_is_nobodys(key: str, told: list[str]) -> None:
    assert require_known(settings_of(**{key: "1"}), KNOWN) == told


@pytest.mark.parametrize("key", ["fetch.concurrency", "fetch.concurency", "mediawiki.endpoint", "checkpoint"])
def test_a_key_of_the_jobs_own_is_refused_with_its_place(key: str) -> None:
    with pytest.raises(RefusedError) as caught:
        require_of_spark(settings_of(**{"spark.ui.enabled": "false", key: "5"}))
    assert str(caught.value) == f"{key} (conf:1): it is the job's, and belongs into the job's YAML"


@pytest.mark.parametrize("key", ["spark.metrics.conf", "spark.checkpoint.compress", "driver.memory"])
def test_a_key_of_sparks_is_left_to_spark(key: str) -> None:
    require_of_spark(settings_of(**{key: "1"}))


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
