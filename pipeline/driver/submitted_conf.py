"""Spark's settings before it starts, and their source: those an operator gave, apart from those that Spark adds.

    spark-defaults.conf or --properties-file  <  SPARK_DRIVER_MEMORY  <  --conf, --master … of PYSPARK_SUBMIT_ARGS

Under spark-submit they are set already, and the running session is asked instead (`of_session`).
"""

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import RefusedError

_OPTIONS = {
    "--master": "spark.master",
    "--deploy-mode": "spark.submit.deployMode",
    "--driver-memory": "spark.driver.memory",
    "--executor-memory": "spark.executor.memory",
    "--executor-cores": "spark.executor.cores",
    "--total-executor-cores": "spark.cores.max",
    "--num-executors": "spark.executor.instances",
    "--name": "spark.app.name",
    "--jars": "spark.jars",
    "--packages": "spark.jars.packages",
    "--py-files": "spark.submit.pyFiles",
    "--archives": "spark.archives",
    "--files": "spark.files",
}


@dataclass(frozen=True, slots=True)
class Given:
    """A setting, and the file or option that has it."""

    value: str
    where: str


def is_submitted(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the JVM runs already, as under spark-submit: its memory can be changed no more."""
    return "PYSPARK_GATEWAY_PORT" in environment


def given_settings(environment: Mapping[str, str] = os.environ) -> dict[str, Given]:
    """By key, what wins. Raises RefusedError for a file that is named and cannot be read."""
    arguments = shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", ""))
    options = list(_options(arguments))
    named = next((value for name, value in reversed(options) if name == "--properties-file"), None)
    if named is not None:
        found = _of_file(Path(named), required=True)
    else:
        found = _of_file(_defaults_file(environment), required=False)
    if memory := environment.get("SPARK_DRIVER_MEMORY"):
        found.setdefault("spark.driver.memory", Given(memory, "SPARK_DRIVER_MEMORY"))
    # An option of its own, as --driver-memory, wins over --conf.
    for name, value in options:
        key, separator, of_key = value.partition("=")
        if name in ("--conf", "-c") and separator:
            found[key.strip()] = Given(of_key.strip(), f"--conf {key.strip()}")
    for name, value in options:
        if name in _OPTIONS:
            found[_OPTIONS[name]] = Given(value, name)
    return found


def _options(arguments: list[str]) -> Iterable[tuple[str, str]]:
    place = 0
    while place < len(arguments):
        name, separator, value = arguments[place].partition("=")
        if name.startswith("-") and separator and name not in ("--conf", "-c"):
            yield name, value
        elif name.startswith("-") and place + 1 < len(arguments) and not arguments[place + 1].startswith("--"):
            place += 1
            yield name, arguments[place]
        place += 1


def _defaults_file(environment: Mapping[str, str]) -> Path | None:
    if directory := environment.get("SPARK_CONF_DIR"):
        return Path(directory, "spark-defaults.conf")
    if home := environment.get("SPARK_HOME"):
        return Path(home, "conf", "spark-defaults.conf")
    return None


def _of_file(path: Path | None, *, required: bool) -> dict[str, Given]:
    """As Java reads properties, as far as these are written so: `key value`, `key=value` or `key: value`."""
    if path is None:
        return {}
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if required:
            raise RefusedError(f"--properties-file {path}: there is no such file") from None
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise RefusedError(f"{path}: cannot be read: {error}") from error
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        end = next((at for at, character in enumerate(stripped) if character in "=: \t"), len(stripped))
        value = stripped[end:].strip()
        found[stripped[:end]] = Given(value[1:].strip() if value[:1] in ("=", ":") else value, f"{path}:{number}")
    return found
