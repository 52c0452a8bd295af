"""The pipeline made ready to start: its configuration and Spark's on disk, and what it runs with."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from devkit.programs.launch import Addition, Launch
from devkit.programs.spark.configuration import write_config
from devkit.programs.spark.place import SparkPlace, spark_environment, write_spark_conf
from located_config.extension import environment_for
from pipeline.config import PipelineConfig

MODULE = ("-m", "pipeline")
CONF_DIR = "spark-conf"
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
) -> Launch:
    """Write `pipeline.yaml` and `spark-conf` into the directory.

    `credentials` are the object store's, `options` are those of `pipeline run`, `entry` is what Python runs, and
    `jvm_options` are as in `write_spark_conf`.
    """
    config_file, conf_dir = write_config(config, directory), (directory / CONF_DIR).absolute()
    write_spark_conf(place, conf_dir, jvm_options=jvm_options)
    python = place.installation.python if place.installation else sys.executable
    argv = (python, *entry, "run", config.job, "--config", str(config_file), *options)
    environment = {**spark_environment(conf_dir, credentials, place.installation), **environment_for("job")}
    return Launch(argv, environment, first=NEW)
