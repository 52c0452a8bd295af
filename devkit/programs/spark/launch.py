"""The pipeline made ready to start: its configuration and Spark's on disk, and what it runs with."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from devkit.programs.launch import Addition, Launch
from devkit.programs.spark.configuration import write_config
from devkit.programs.spark.place import SparkPlace, class_cache, installed_here, spark_environment, write_spark_conf
from located_config.extension import environment_for
from pipeline.config.pipeline_config import PipelineConfig

MODULE = ("-m", "pipeline")
CONF_DIR = "spark-conf"
HEAP_DUMPS = "heap-dumps"
EXECUTORS = "executors"
_EXECUTOR_WORK = "work"
NEW = Addition(("--new", "earliest"))
"""The first start makes the checkpoint, and begins with the first event; without it the checkpoint says where."""


def prepare_launch(
    config: PipelineConfig,
    place: SparkPlace,
    directory: Path,
    *,
    credentials: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
    entry: Sequence[str] = MODULE,
    jvm_options: Sequence[str] | None = None,
    with_defaults: bool = True,
) -> Launch:
    """Write `pipeline.yaml` and `spark-conf` into the directory. A heap that runs full is dumped there too, and what
    executors of its own say is there.

    `credentials` are the object store's, `options` are those of `pipeline run`, `entry` is what Python runs, and
    `jvm_options` are as in `write_spark_conf`. `with_defaults` is whether `pipeline.yaml` has the defaults too.
    """
    if with_defaults:  # else another version of the job reads it, which may not know the key
        config = _with_heap_dump(config, place.directory if place.installation else directory)
    config_file = write_config(config, directory, with_defaults=with_defaults)
    conf_dir = (directory / CONF_DIR).absolute()
    installed = place.installation or installed_here()  # asked once, as it hashes every jar
    if place.home_in is not None:
        home = _make_home(Path(installed.spark), place.home_in, directory / EXECUTORS)
        installed = replace(installed, spark=str(home))
    if jvm_options is None:  # the cache is of jars in Spark's usual home
        jvm_options = () if place.installation or place.home_in else class_cache().use()
    write_spark_conf(replace(place, installation=installed), conf_dir, jvm_options=jvm_options)
    argv = (installed.python, *entry, "run", config.job, "--config", str(config_file), *options)
    environment = {**spark_environment(conf_dir, credentials, installed), **environment_for("job")}
    return Launch(argv, environment, first=NEW)


def _with_heap_dump(config: PipelineConfig, directory: Path) -> PipelineConfig:
    """Into the directory, unless the configuration names another."""
    if config.heap_dump.directory is not None:
        return config
    dumps = str((directory / HEAP_DUMPS).absolute())
    return config.model_copy(update={"heap_dump": config.heap_dump.model_copy(update={"directory": dumps})})


def _make_home(spark: Path, directory: Path, work: Path) -> Path:
    """A new home of Spark in `directory`, by links to `spark`; executors write into `work`, which is made.

    In the usual home no run would have their files as evidence, and none would remove them.
    """
    home = Path(tempfile.mkdtemp(prefix="spark-", dir=directory.absolute()))
    for entry in spark.iterdir():
        if entry.name != _EXECUTOR_WORK:
            (home / entry.name).symlink_to(entry)
    work.mkdir(parents=True, exist_ok=True)
    (home / _EXECUTOR_WORK).symlink_to(work.absolute())
    return home
