"""What a pipeline of the kit is started with; Spark's settings have tests of their own."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from ruamel.yaml import YAML

from devkit.jvm.class_cache import ClassCache
from devkit.programs.spark import place as place_module
from devkit.programs.spark.launch import prepare_launch, write_config
from devkit.programs.spark.place import SparkPlace, installed_here
from devkit.programs.spark.training import training_config
from devkit.stack.stack import Stack
from pipeline.config.pipeline_config import PipelineConfig
from tests.unit.devkit.stack.fakes import FakeGuardian


@pytest.fixture
def stack() -> Stack:
    part = SimpleNamespace(
        bootstrap="127.0.0.1:1", endpoint="http://127.0.0.1:1", credentials=lambda: {"AWS_REGION": "here"}
    )
    return cast(Stack, SimpleNamespace(kafka=part, object_store=part, mock_api=part, prefix=""))


@pytest.fixture(autouse=True)
def no_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place_module, "_classpath", lambda: "a.jar")
    monkeypatch.setattr(ClassCache, "use", lambda _: ("-XX:+Used",))


@pytest.fixture
def launched_in(stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with what a launch has written, named by a path that is not absolute."""
    monkeypatch.chdir(tmp_path)
    directory = Path("run")
    directory.mkdir()
    return directory


def test_the_command_wants_only_its_options(stack: Stack, launched_in: Path) -> None:
    place = SparkPlace("http://127.0.0.1:1", launched_in)
    launch = prepare_launch(training_config(stack), place, launched_in, credentials={"AWS_REGION": "here"})
    config_file = launched_in.absolute() / "pipeline.yaml"
    assert launch.argv[1:] == ("-m", "pipeline", "run", "html-enrichment", "--config", str(config_file))
    assert launch.environment["AWS_REGION"] == "here"
    conf = launched_in.absolute() / "spark-conf" / "spark-defaults.conf"
    assert str(conf) in launch.environment["PYSPARK_SUBMIT_ARGS"]
    assert "-XX:+Used" in conf.read_text()


@pytest.mark.parametrize(("named", "written"), [(None, "run/heap-dumps"), ("/elsewhere", "/elsewhere")])
def test_a_full_heap_is_dumped_into_the_run(stack: Stack, launched_in: Path, named: str | None, written: str) -> None:
    config = training_config(stack)
    given = config.model_copy(update={"heap_dump": config.heap_dump.model_copy(update={"directory": named})})
    prepare_launch(given, SparkPlace("http://127.0.0.1:1", launched_in), launched_in)
    told = YAML(typ="safe").load(launched_in / "pipeline.yaml")
    assert told["heap_dump"]["directory"] == str(launched_in.absolute().parent / written)


@pytest.mark.parametrize(("again", "added"), [(False, ("--new", "earliest")), (True, ())])
def test_only_the_first_start_makes_a_checkpoint(
    launched_in: Path, stack: Stack, again: bool, added: tuple[str, ...]
) -> None:
    place = SparkPlace("http://127.0.0.1:1", launched_in)
    launch = prepare_launch(training_config(stack), place, launched_in, options=("--allow-unsafe",))
    guardian = FakeGuardian(launched_in)
    launch.spawn(guardian.real(), "it", logs=launched_in, addition=launch.again if again else None)
    ((_, argv, environment),) = guardian.started
    assert argv[7:] == ["--allow-unsafe", *added]
    assert environment == launch.environment


def test_a_training_has_options_of_its_own_for_the_jvm(stack: Stack, launched_in: Path) -> None:
    place = SparkPlace("http://127.0.0.1:1", launched_in)
    prepare_launch(training_config(stack), place, launched_in, jvm_options=["-XX:+Trained"])
    conf = (launched_in / "spark-conf" / "spark-defaults.conf").read_text()
    assert "-XX:+Trained" in conf
    assert "-XX:+Used" not in conf


@pytest.mark.parametrize("checkpoint", ["s3a://checkpoints/a", "file:///home/Zoë/🦆"])
def test_the_configuration_is_read_back_as_it_was(stack: Stack, tmp_path: Path, checkpoint: str) -> None:
    config = training_config(stack).model_copy(update={"checkpoint": checkpoint})
    file = write_config(config, tmp_path)
    assert PipelineConfig.model_validate(YAML(typ="safe").load(file)).model_dump() == config.model_dump()


def test_what_may_have_a_password_is_for_its_owner_alone(stack: Stack, launched_in: Path) -> None:
    """A login that a scenario sets is in the one, a store's key that it gives Spark in the other."""
    prepare_launch(training_config(stack), SparkPlace("http://127.0.0.1:1", launched_in), launched_in)
    for file in ("pipeline.yaml", "spark-conf/spark-defaults.conf"):
        assert (launched_in / file).stat().st_mode & 0o077 == 0


def test_executors_write_into_the_run_and_not_into_the_installed_spark(stack: Stack, launched_in: Path) -> None:
    homes = launched_in / "homes"
    homes.mkdir()
    place = SparkPlace("http://127.0.0.1:1", launched_in, executors=2, home_in=homes)
    launch = prepare_launch(training_config(stack), place, launched_in)
    (home,) = homes.absolute().iterdir()
    assert launch.environment["SPARK_HOME"] == str(home)
    assert (home / "work").resolve() == launched_in.absolute() / "executors"
    assert (home / "work").is_dir()
    installed = Path(installed_here().spark)
    assert (home / "bin" / "spark-submit").samefile(installed / "bin" / "spark-submit")
    assert "-XX:+Used" not in (launched_in / "spark-conf" / "spark-defaults.conf").read_text()


def test_a_program_without_executors_has_the_installed_spark(stack: Stack, launched_in: Path) -> None:
    launch = prepare_launch(training_config(stack), SparkPlace("http://127.0.0.1:1", launched_in), launched_in)
    assert launch.environment["SPARK_HOME"] == installed_here().spark
