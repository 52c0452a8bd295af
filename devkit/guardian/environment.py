"""The environment of a run's processes: the user's, without variables that would lead them away from the run.

All of them talk to loopback only, so a proxy is wrong for every one; and a Spark, Hadoop, Java or AWS that the user
has set up for other work must not be mixed in.
"""

from collections.abc import Mapping

_FOREIGN_PREFIXES = ("AWS_", "HADOOP_", "KAFKA_", "MINIO_", "PYSPARK_", "SPARK_", "YARN_")
_FOREIGN = frozenset(
    {
        "ALL_PROXY",
        "CLASSPATH",
        "FTP_PROXY",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "JAVA_HOME",
        "JAVA_OPTS",
        "JAVA_TOOL_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "PYTHONHOME",
        "PYTHONSTARTUP",
        "PYTHONWARNINGS",
        "_JAVA_OPTIONS",
    }
)


def run_environment(user_environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a run's process, besides its own settings."""
    inherited = {
        name: value
        for name, value in user_environment.items()
        if name.upper() not in _FOREIGN and not name.startswith(_FOREIGN_PREFIXES)
    }
    # A folder of the working directory that is called like a module of ours must not be taken for it.
    return inherited | {"PYTHONSAFEPATH": "1"}
