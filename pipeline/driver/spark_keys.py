"""Whether Spark knows its settings: it silently ignores a key that it does not know.

Spark's own modules register their settings when they are loaded, so a running Spark can be asked for those it knows.
"""

from collections.abc import Collection, Iterator, Mapping

from located_config.near import nearest
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.submitted_conf import Given
from pipeline.errors import RefusedError

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


def require_of_spark(given: Mapping[str, Given]) -> None:
    """Raises RefusedError for a setting of the job's own, which Spark would pass over."""
    wrong = [
        f"{key} ({given[key].where}): it is the job's, and belongs into the job's YAML"
        for key in given
        if key.split(".")[0] in PipelineConfig.model_fields
    ]
    if wrong:
        raise RefusedError("\n".join(wrong))


def require_protocol(given: Mapping[str, Given]) -> None:
    """Raises RefusedError for a setting that contradicts what the job depends on."""
    wrong = [
        f"{key} is {given[key].value} ({given[key].where}), and the job needs {needed}: {why}"
        for key, (needed, why) in PROTOCOL.items()
        if key in given and given[key].value.lower() != needed.lower()
    ]
    if wrong:
        raise RefusedError("\n".join(wrong), hint="remove it: the job sets it")


def require_known(given: Mapping[str, Given], known: Collection[str]) -> list[str]:
    """Raises RefusedError for keys that look misspelt; returns the others that Spark does not know."""
    wrong, unknown = [], []
    for key, near in unknown_keys(given, known):
        if near is None:
            unknown.append(f"{key} ({given[key].where})")
        else:
            wrong.append(f"{key} ({given[key].where}): unknown to Spark, which would ignore it; did you mean {near!r}?")
    if wrong:
        raise RefusedError("\n".join(wrong))
    return unknown


def unknown_keys(given: Collection[str], known: Collection[str]) -> Iterator[tuple[str, str | None]]:
    """The keys that Spark does not know, each with the one that is meant if it looks misspelt."""
    every = {*known, *_UNREGISTERED, *PROTOCOL}
    by_lower = {key.lower(): key for key in sorted(every)}
    for key in given:
        if key in every or key.startswith(_OPEN):
            continue
        lower = key.lower()
        prefixed = lower if lower.startswith("spark.") else f"spark.{lower}"
        near = by_lower.get(prefixed)
        if near is None:
            near = by_lower.get(nearest(prefixed, by_lower, like=_NEAR) or "")
        yield key, near
