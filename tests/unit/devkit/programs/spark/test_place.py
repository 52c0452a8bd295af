import shlex
from pathlib import Path

import pytest

from devkit.jvm import jars
from devkit.programs.spark import place as place_module
from devkit.programs.spark.place import SparkPlace, spark_environment, write_spark_conf


@pytest.fixture(autouse=True)
def no_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "ensure", lambda jar_set: [Path(f"/jars/{jar_set}/a.jar"), Path("/jars/b.jar")])
    monkeypatch.setattr(place_module, "java_home", lambda: Path("/java"))


def written(place: SparkPlace, conf_dir: Path) -> dict[str, str]:
    write_spark_conf(place, conf_dir, jvm_options=["-XX:+Trained"])
    lines = (conf_dir / "spark-defaults.conf").read_text().splitlines()
    return dict(line.split(" ", 1) for line in lines)


def test_slots_memory_and_store_are_those_of_the_place(tmp_path: Path) -> None:
    place = SparkPlace("http://127.0.0.1:9000", tmp_path / "run", slots=6, driver_memory="2g", ui=True)
    settings = written(place, tmp_path / "conf")
    assert settings["spark.master"] == "local[6]"
    assert settings["spark.driver.memory"] == "2g"
    assert settings["spark.ui.enabled"] == "true"
    assert settings["spark.hadoop.fs.s3a.endpoint"] == "http://127.0.0.1:9000"
    assert settings["spark.driver.extraClassPath"] == f"/jars/{jars.SPARK}/a.jar:/jars/b.jar"


@pytest.mark.parametrize(("slots", "master"), [(6, "local-cluster[2,3,512]"), (5, "local-cluster[2,3,512]")])
def test_executors_share_the_slots_and_find_what_the_driver_finds(tmp_path: Path, slots: int, master: str) -> None:
    settings = written(SparkPlace("http://127.0.0.1:9000", tmp_path, slots=slots, executors=2), tmp_path / "conf")
    assert settings["spark.master"] == master
    assert settings["spark.executor.memory"] == "512m"
    assert settings["spark.executor.extraClassPath"] == settings["spark.driver.extraClassPath"]
    assert f"-Djava.io.tmpdir={tmp_path}" in settings["spark.executor.extraJavaOptions"]
    assert "-XX:+Trained" not in settings["spark.executor.extraJavaOptions"], "the class cache is the driver's"


def test_everything_stays_on_loopback(tmp_path: Path) -> None:
    settings = written(SparkPlace("http://127.0.0.1:9000", tmp_path), tmp_path / "conf")
    assert settings["spark.driver.host"] == settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert spark_environment(tmp_path / "conf")["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert settings["spark.ui.enabled"] == "false"


def test_what_spark_writes_goes_into_the_directory_of_the_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    settings = written(SparkPlace("http://127.0.0.1:9000", run), tmp_path / "conf")
    for key in ("spark.sql.warehouse.dir", "spark.hadoop.fs.s3a.buffer.dir"):
        assert Path(settings[key]).is_relative_to(run), key


def test_a_space_in_a_directory_does_not_split_a_java_option(tmp_path: Path) -> None:
    run, conf = tmp_path / "my runs", tmp_path / "my conf"
    options = shlex.split(written(SparkPlace("http://127.0.0.1:9000", run), conf)["spark.driver.extraJavaOptions"])
    assert f"-Djava.io.tmpdir={run}" in options
    assert f"-Dlog4j2.configurationFile={conf}/log4j2.properties" in options
    assert "-XX:+Trained" in options
    assert all(option.startswith("-") for option in options)


def test_spark_logs_to_standard_error(tmp_path: Path) -> None:
    """Standard output is for the pipeline's own lines."""
    written(SparkPlace("http://127.0.0.1:9000", tmp_path), tmp_path / "conf")
    assert "appender.console.target = SYSTEM_ERR" in (tmp_path / "conf/log4j2.properties").read_text()


def test_the_environment_names_java_spark_and_the_stores_credentials(tmp_path: Path) -> None:
    environment = spark_environment(tmp_path / "conf")
    assert environment["JAVA_HOME"] == "/java"
    assert (Path(environment["SPARK_HOME"]) / "jars").is_dir()
    assert environment["AWS_ACCESS_KEY_ID"]
    assert environment["AWS_SECRET_ACCESS_KEY"]
    assert str(tmp_path / "conf") in "".join(environment.values())
