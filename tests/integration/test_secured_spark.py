"""Spark at a broker that asks for TLS and a login: both sources, and the sink.

Set-up: a broker with a listener for TLS and a login, and a topic of twenty records. Checked: they go through the job's
own source and sink, and the settings of Spark that are logged hold no secret.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kafka import KafkaProducer
from kafka.admin import ACLOperation
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from devkit.observe.audit.arrivals import read_topic
from devkit.stack.topics import recreate_topics
from located_config.redaction import redacted
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.start_position import NewStart
from pipeline.driver.source_stream import source_options, source_stream
from pipeline.errors import RefusedError, failure
from pipeline.kafka.sink import BATCH_BYTES, producer_options, write
from tests.integration.local_spark import local_spark
from tests.integration.secured_broker import PASSWORD, USER, SecuredBroker, allow, write_topics

ROOMS = ("located_config", "pipeline/aligned", "pipeline/driver", "pipeline/kafka")
SOURCE, ERROR = "spark.source", "spark.error"
RECORDS = 20
EARLIEST = NewStart("earliest", {"startingOffsets": "earliest"})

pytestmark = pytest.mark.xdist_group("secured")


@pytest.fixture(scope="module")
def broker(shared_secured_broker: SecuredBroker) -> SecuredBroker:
    write_topics(shared_secured_broker, {SOURCE: [b"%d" % number for number in range(RECORDS)]}, 2)
    return shared_secured_broker


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with local_spark(2) as session:
        yield session


@pytest.mark.parametrize("read", ["proportional", "aligned"])
def test_both_sources_and_the_sink(broker: SecuredBroker, spark: SparkSession, tmp_path: Path, read: str) -> None:
    output = f"spark.{read}"
    recreate_topics(broker.plain, {output: (1, {})})
    job = job_at(broker, tmp_path, read=read, output=output)

    pass_all_on(spark, job)
    assert sorted(int(one.value) for one in read_topic(broker.plain, output)) == list(range(RECORDS))
    logged = json.dumps(redacted([source_options(job, EARLIEST), producer_options(job.sink, job.kafka)]))
    assert PASSWORD not in logged
    assert broker.secure in logged


@pytest.mark.parametrize(("source", "output"), [(SOURCE, "spark.denied"), ("spark.denied", "spark.open")])
def test_a_right_that_is_missing_later_ends_the_query_with_a_refusal(
    broker: SecuredBroker, spark: SparkSession, tmp_path: Path, source: str, output: str
) -> None:
    allow(broker, "spark.denied", ACLOperation.DESCRIBE)
    recreate_topics(broker.plain, {"spark.open": (1, {})})
    with closing(KafkaProducer(bootstrap_servers=broker.plain)) as producer:
        producer.send("spark.denied", b"x").get(timeout=30)
    with pytest.raises(StreamingQueryException) as raised:
        pass_all_on(spark, job_at(broker, tmp_path, read="proportional", source=source, output=output))
    error = failure("query", str(raised.value))
    assert isinstance(error, RefusedError)
    assert "TopicAuthorizationException" in str(error)
    assert "spark.denied" in str(error)
    assert PASSWORD not in error.render()


def job_at(broker: SecuredBroker, tmp_path: Path, *, read: str, output: str, source: str = SOURCE) -> PipelineConfig:
    secret = tmp_path / "password"
    secret.write_text(PASSWORD)
    return PipelineConfig.model_validate(
        {
            "source": {"bootstrap_servers": broker.secure, "topic": source, "read": read},
            "sink": {"bootstrap_servers": broker.secure, "topic": output, "error_topic": ERROR},
            "mediawiki": {"endpoint": "http://127.0.0.1:1"},
            "checkpoint": str(tmp_path / "checkpoint"),
            "kafka": {
                "security_protocol": "SASL_SSL",
                "username": USER,
                "password_file": str(secret),
                "ca": str(broker.directory / "ca.pem"),
                "compression": "zstd",
                "properties": {"client.rack": "a"},
            },
        }
    )


def pass_all_on(spark: SparkSession, job: PipelineConfig) -> None:
    def pass_on(batch: DataFrame, _number: int) -> None:
        write(batch.selectExpr(f"'{job.sink.topic}' AS topic", "key", "value"), job.sink, job.kafka, BATCH_BYTES)

    rows = source_stream(spark, job, EARLIEST)
    query = rows.writeStream.foreachBatch(pass_on).option("checkpointLocation", job.checkpoint).start()
    try:
        query.processAllAvailable()
    finally:
        query.stop()
