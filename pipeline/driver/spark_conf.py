"""Spark's settings before it starts: which an operator gave, and where, and whether Spark knows them.

    spark-defaults.conf or --properties-file  <  SPARK_DRIVER_MEMORY  <  --conf, --master … of PYSPARK_SUBMIT_ARGS

Under spark-submit they are set already, and the running session is asked instead (`session.submitted_settings`).

Spark silently ignores a key that it does not know. Its modules register their settings when they are loaded, so a
running Spark can be asked for those it knows.
"""

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from located_config.near import nearest
from located_config.redaction import redacted
from pipeline.config.pipeline_config import PipelineConfig
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


def master_of(settings: Mapping[str, Given]) -> str:
    """The master that the settings name, or the one that Spark takes without."""
    return settings["spark.master"].value if "spark.master" in settings else "local[*]"


def is_submitted(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the JVM runs already, as under spark-submit: its memory can be changed no more."""
    return "PYSPARK_GATEWAY_PORT" in environment


def given_settings(environment: Mapping[str, str] = os.environ) -> dict[str, Given]:
    """The effective setting of each key. Raises RefusedError for a named file that cannot be read."""
    arguments = shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", ""))
    options = list(_options(arguments))
    properties_file = next((value for name, value in reversed(options) if name == "--properties-file"), None)
    if properties_file is not None:
        settings = _of_file(Path(properties_file), required=True)
    else:
        settings = _of_file(_defaults_file(environment), required=False)
    if memory := environment.get("SPARK_DRIVER_MEMORY"):
        settings.setdefault("spark.driver.memory", Given(memory, "SPARK_DRIVER_MEMORY"))
    # An option of its own, as --driver-memory, wins over --conf.
    for name, value in options:
        key, separator, of_key = value.partition("=")
        if name in ("--conf", "-c") and separator:
            settings[key.strip()] = Given(of_key.strip(), f"--conf {key.strip()}")
    for name, value in options:
        if name in _OPTIONS:
            settings[_OPTIONS[name]] = Given(value, name)
    return settings


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
    settings = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        end = next((index for index, character in enumerate(stripped) if character in "=: \t"), len(stripped))
        value = stripped[end:].strip()
        settings[stripped[:end]] = Given(value[1:].strip() if value[:1] in ("=", ":") else value, f"{path}:{number}")
    return settings


# Whatever cluster it runs on: what the protocol depends on, and why.
PROTOCOL: Mapping[str, tuple[str, str]] = {
    "spark.task.maxFailures": ("1", "a failed task is a crash, which the restart handles; a repeated one writes again"),
    "spark.stage.maxConsecutiveAttempts": (
        "1",
        "a stage that is to run again is a crash too; what its tasks repeat could not be told from what they do not",
    ),
    "spark.speculation": ("false", "a task that runs twice writes twice"),
    "spark.python.worker.reuse": ("true", "connections live in the Python workers"),
    "spark.sql.session.timeZone": ("UTC", "times of events are in UTC"),
}
# Of these Spark takes any key, or modules register them that are not loaded.
_OPEN = (
    "spark.hadoop.",
    "spark.hive.",
    "spark.executorEnv.",
    "spark.yarn.",
    "spark.kubernetes.",
    "spark.metrics.",
    "spark.sql.catalog.",
    "spark.kafka.",
    "spark.deploy.",
    "spark.worker.",
    "spark.history.",
    "spark.launcher.",
    "spark.repl.",
    "spark.submit.",
    "spark.app.",
    "spark.jars.",
    "spark.ssl.",
    "spark.history.",
)
# Read by name only.
_UNREGISTERED = (
    "spark.master",
    "spark.home",
    "spark.local.dir",
    "spark.port.maxRetries",
    "spark.jars",
    "spark.files",
    "spark.sql.streaming.checkpointFileManagerClass",
    # Read by what launches the JVM, before the extra ones.
    "spark.driver.defaultJavaOptions",
    "spark.executor.defaultJavaOptions",
)
_NEAR = 0.85


def require_of_spark(settings: Mapping[str, Given]) -> None:
    """Raises RefusedError for a setting of the job's own, which Spark would pass over."""
    problems = [
        f"{key} ({settings[key].where}): it is the job's, and belongs into the job's YAML"
        for key in settings
        if key.split(".")[0] in PipelineConfig.model_fields
    ]
    if problems:
        raise RefusedError("\n".join(problems))


def require_protocol(settings: Mapping[str, Given]) -> None:
    """Raises RefusedError for a setting that contradicts what the job depends on."""
    problems = [
        f"{key} is {settings[key].value} ({settings[key].where}), and the job needs {needed}: {reason}"
        for key, (needed, reason) in PROTOCOL.items()
        if key in settings and settings[key].value.lower() != needed.lower()
    ]
    if problems:
        raise RefusedError("\n".join(problems), hint="remove it: the job sets it")


def require_known(settings: Mapping[str, Given], known: Collection[str]) -> list[str]:
    """Raises RefusedError for keys that look misspelt; returns the others that Spark does not know."""
    misspelt, unknown = [], []
    for key, near in unknown_keys(settings, known):
        if near is None:
            unknown.append(f"{key} ({settings[key].where})")
        else:
            misspelt.append(
                f"{key} ({settings[key].where}): unknown to Spark, which would ignore it; did you mean {near!r}?"
            )
    if misspelt:
        raise RefusedError("\n".join(misspelt))
    return unknown


def unknown_keys(keys: Collection[str], known: Collection[str]) -> Iterator[tuple[str, str | None]]:
    """The keys that Spark does not know, each with the one that is meant if it looks misspelt."""
    every = {*known, *_UNREGISTERED, *PROTOCOL}
    by_lower = {key.lower(): key for key in sorted(every)}
    for key in keys:
        if key in every or key.startswith(_OPEN):
            continue
        lower = key.lower()
        prefixed = lower if lower.startswith("spark.") else f"spark.{lower}"
        near = by_lower.get(prefixed)
        if near is None:
            near = by_lower.get(nearest(prefixed, by_lower, like=_NEAR) or "")
        yield key, near


_LONG = 200


def effective_spark(settings: Iterable[tuple[str, str]]) -> dict[str, object]:
    """The settings of a Spark that runs, by key, long ones shortened and secrets removed."""
    redacted_settings = ((key, redacted(value, key)) for key, value in sorted(settings))
    return {key: value if len(value) <= _LONG else f"{value[:_LONG]}…" for key, value in redacted_settings}
