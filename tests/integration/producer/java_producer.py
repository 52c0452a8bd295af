"""Kafka's own Java producer, of the version that Spark's sink uses, in a JVM that Python holds by py4j."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JJavaError

from devkit.jvm import jars
from devkit.jvm.runtime import LAPTOP_FLAGS, java_home
from pipeline.records.record import Headers

_BYTES = "org.apache.kafka.common.serialization.ByteArraySerializer"
_HEAP_BYTES = 512 * 1024 * 1024


class TooLargeError(Exception):
    """The producer, or the broker, refused a record for its size; the message is theirs."""


class JavaProducers:
    """Makes producers in one JVM."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        # pyspark brings the codecs and the logger that its Kafka client uses.
        bundled = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
        names = ("py4j", "slf4j-api", "lz4", "zstd", "snappy")
        (py4j,) = (jar for jar in bundled if jar.name.startswith("py4j"))
        classpath = [*jars.ensure(jars.SPARK), *(jar for jar in bundled if jar.name.startswith(names))]
        self._gateway = JavaGateway.launch_gateway(
            jarpath=str(py4j),
            classpath=":".join(str(jar) for jar in classpath),
            javaopts=[f"-Xmx{_HEAP_BYTES}", *LAPTOP_FLAGS],
            java_path=str(java_home() / "bin" / "java"),
            die_on_exit=True,
        )
        self._java: Any = self._gateway.jvm

    @contextmanager
    def producer(self, settings: Mapping[str, str | int]) -> Iterator["JavaProducer"]:
        """A producer with the settings, which ends with the block."""
        properties = self._java.java.util.HashMap()
        serializers = {"key.serializer": _BYTES, "value.serializer": _BYTES}
        for name, value in {"bootstrap.servers": self._bootstrap, **serializers, **settings}.items():
            properties.put(name, str(value))
        producer = self._java.org.apache.kafka.clients.producer.KafkaProducer(properties)
        try:
            yield JavaProducer(self._java, producer)
        finally:
            producer.close()

    def close(self) -> None:
        process = self._gateway.java_process
        self._gateway.shutdown()
        process.stdin.close()
        process.wait(30)


class JavaProducer:
    """One `org.apache.kafka.clients.producer.KafkaProducer`."""

    def __init__(self, java: Any, producer: Any) -> None:
        self._java = java
        self._producer = producer

    def send(self, topic: str, key: bytes | None, value: bytes, headers: Headers) -> None:
        """Returns when the record is acknowledged. Raises TooLargeError."""
        record = self._java.org.apache.kafka.clients.producer.ProducerRecord(topic, key, value)
        for name, content in headers:
            record.headers().add(name, content)
        try:
            self._producer.send(record).get()
        except Py4JJavaError as error:
            cause = error.java_exception.getCause()
            if cause is None or not cause.getClass().getSimpleName() == "RecordTooLargeException":
                raise
            raise TooLargeError(str(cause.getMessage())) from None
