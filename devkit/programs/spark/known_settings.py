"""The settings that the kit's Spark registers, so that a scenario's are checked without starting it.

`python -m devkit.programs.spark.known_settings` asks Spark and writes the file anew.
"""

import functools
import os
from pathlib import Path

_FILE = Path(__file__).with_suffix(".txt")


@functools.cache
def known_settings() -> frozenset[str]:
    """Their keys."""
    return frozenset(_FILE.read_text(encoding="utf-8").split())


def ask_spark() -> frozenset[str]:
    """Starts a Spark in this process."""
    from pyspark.sql import SparkSession

    from devkit.programs.spark.place import installed_here
    from pipeline.driver.session import known_keys

    installed = installed_here()
    os.environ |= {"JAVA_HOME": installed.java, "SPARK_HOME": installed.spark}
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.extraClassPath", installed.classpath).getOrCreate()
    try:
        session.sql("SELECT 1").collect()  # loads the module of SQL
        return known_keys(session)
    finally:
        session.stop()


if __name__ == "__main__":
    _FILE.write_text("\n".join(sorted(ask_spark())) + "\n", encoding="utf-8")
