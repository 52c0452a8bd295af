"""Spark in the process of the tests.

A process has one JVM, and its first session decides the classpath for all that follow. So every session of a test comes
from here, with Kafka's connector on it, whichever test is first.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from devkit.jvm import jars
from devkit.jvm.runtime import java_home


@contextmanager
def local_spark(cores: int, **settings: str) -> Iterator[SparkSession]:
    """A session of so many cores, with Spark's `settings` by their names without `spark.` and `__` for a point."""
    os.environ.setdefault("JAVA_HOME", str(java_home()))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.extraClassPath", ":".join(map(str, jars.ensure(jars.SPARK))))
    for name, value in settings.items():
        builder = builder.config(f"spark.{name.replace('__', '.')}", value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
