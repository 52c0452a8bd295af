"""One JVM of Spark for a worker's jobs, one after the other: a JVM of its own costs a job's start most of its time.

    test process ──py4j──▶ JVM ◀──py4j── job (Python), then the next job

The JVM belongs to a process that the guardian ends with the rest. Before each job the test process stops what the one
before has left in it, and sets Spark's settings as spark-submit does, as properties of the JVM.

Not for a job whose JVM a test kills, freezes, measures or reads the log of: Spark and the Python workers write their
log where the JVM does, and the guardian does not count them among the job's processes.
"""

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from py4j.clientserver import ClientServer, JavaParameters, PythonParameters
from py4j.protocol import Py4JError

from devkit.guardian import Guardian, ManagedProcess
from devkit.programs.spark.place import SparkPlace, spark_environment, write_spark_conf
from devkit.stack.stack import Stack
from devkit.waiting import wait_until
from pipeline.driver.spark_conf import given_settings
from tests.integration.crash import gateway
from tests.integration.crash.gateway import GATEWAY_VARIABLE, Gateway

LAUNCHER = Path(__file__).with_name("launcher.py")
_NAME = "warm-jvm"
_STARTING = timedelta(seconds=60)
_REPOSITORY = Path(__file__).parents[3]


@dataclass(frozen=True)
class LogPart:
    """The log of the JVM from an offset in bytes on."""

    file: Path
    start: int

    def read(self) -> str:
        """To its end now."""
        with self.file.open("rb") as log:
            log.seek(self.start)
            return log.read().decode(errors="replace")


class WarmJvm:
    """Starts with the first job."""

    def __init__(self, guardian: Guardian, stack: Stack, directory: Path) -> None:
        self._guardian, self._stack, self._directory = guardian, stack, directory
        self._log = directory / f"{_NAME}.log"
        self._gateway: Gateway | None = None
        self._client: Any = None
        self._borrower: ManagedProcess | None = None

    def lend(self, environment: Mapping[str, str]) -> dict[str, str]:
        """What a job's `environment`, which says where Spark's settings are, has in addition to find the JVM, if its
        program is `LAUNCHER`. Nothing while another job that has it runs: a JVM has one Spark context.
        """
        if self._borrower is not None and self._borrower.exit_code is None:
            return {}
        if self._gateway is None:
            self._start()
        assert self._gateway is not None
        self.clear()
        system = self._client.jvm.java.lang.System
        for key, given in given_settings(environment).items():
            system.setProperty(key, given.value)
        return {GATEWAY_VARIABLE: self._gateway.model_dump_json(), "PYTHONPATH": str(_REPOSITORY)}

    def lent_to(self, job: ManagedProcess) -> LogPart:
        """The process that was started with it; returns what Spark and its workers write from now on."""
        self._borrower = job
        return LogPart(self._log, self._log.stat().st_size)

    def clear(self) -> None:
        """Stop what a job has left in it, and forget that job's settings."""
        if self._client is None:
            return
        jvm = self._client.jvm
        context = _object(jvm, "org.apache.spark.SparkContext").getActive()
        if context.isDefined():
            context.get().stop()
        _object(jvm, "org.apache.spark.sql.execution.streaming.state.StateStore").stop()
        # Those of S3A keep the endpoint and the credentials that they began with.
        jvm.org.apache.hadoop.fs.FileSystem.closeAll()
        system = jvm.java.lang.System
        for key in list(system.getProperties().stringPropertyNames()):
            if key.startswith("spark."):
                system.clearProperty(key)

    def close(self) -> None:
        """Ends the connection; the guardian ends the JVM."""
        if self._client is not None:
            with suppress(Py4JError, OSError):
                self.clear()
            self._client.shutdown()

    def _start(self) -> None:
        place = SparkPlace(self._stack.object_store.endpoint, self._guardian.directory)
        write_spark_conf(place, self._directory)
        environment = spark_environment(self._directory, self._stack.object_store.credentials())
        process = self._guardian.spawn(
            _NAME,
            [sys.executable, "-m", gateway.__name__],
            logs=self._directory,
            env={**environment, "PYTHONPATH": str(_REPOSITORY)},
            split=True,
        )

        def read() -> Gateway | None:
            assert process.exit_code is None, process.last_words(20)
            text = process.stdout.read_text()
            return Gateway.model_validate_json(text) if text.endswith("\n") else None

        self._gateway = wait_until(read, what="the JVM to take calls", deadline=_STARTING)
        parameters = JavaParameters(port=self._gateway.port, auth_token=self._gateway.secret, auto_convert=True)
        self._client = ClientServer(parameters, PythonParameters(port=0, eager_load=False))


def _object(jvm: Any, name: str) -> Any:
    """A companion object of Scala."""
    holder = jvm
    for part in f"{name}$".split("."):
        holder = getattr(holder, part)
    return getattr(holder, "MODULE$")
