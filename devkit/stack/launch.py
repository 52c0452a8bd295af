"""The kit's pipeline made ready to start on a stack: its configuration and Spark's on disk, and what it runs with."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from devkit.stack.spark import SparkPlace, spark_environment, write_spark_conf
from devkit.stack.stack import Stack
from pipeline.config import PipelineConfig


@dataclass(frozen=True)
class Launch:
    """`argv` wants nothing but the options that say where it begins and what it accepts."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]


def prepare_launch(
    config: PipelineConfig,
    stack: Stack,
    place: SparkPlace,
    directory: Path,
    *,
    jvm_options: Sequence[str] | None = None,
) -> Launch:
    """Write `pipeline.yaml` and `spark-conf` into the directory. `jvm_options` as in `write_spark_conf`."""
    config_file, conf_dir = write_config(config, directory), (directory / "spark-conf").absolute()
    write_spark_conf(place, conf_dir, jvm_options=jvm_options)
    argv = (sys.executable, "-m", "pipeline", "run", config.job, "--config", str(config_file))
    return Launch(argv, spark_environment(conf_dir, stack.object_store.credentials()))


def write_config(config: PipelineConfig, directory: Path) -> Path:
    """The effective configuration as `pipeline.yaml` in `directory`; returns its absolute path."""
    config_file = (directory / "pipeline.yaml").absolute()
    # JSON is YAML, and needs no thought about quoting.
    effective = config.model_dump(mode="json", by_alias=True)
    config_file.write_bytes(orjson.dumps(effective, option=orjson.OPT_INDENT_2))
    return config_file
