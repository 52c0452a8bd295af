"""The producer's settings: what it may give up on, and when."""

import pytest

from pipeline.config.pipeline_config import Kafka
from pipeline.kafka.sink import BATCH_BYTES, producer_options
from tests.unit.pipeline.making import make_config

LARGEST_INT = 2**31 - 1


def test_the_producer_gives_up_on_no_record_before_the_process_ends() -> None:
    """Or the later records of its page leave before it, and the replay brings it behind them."""
    options = producer_options(make_config().sink, Kafka())
    assert options["kafka.delivery.timeout.ms"] == LARGEST_INT
    assert options["kafka.max.block.ms"] == LARGEST_INT
    assert (options["kafka.acks"], options["kafka.enable.idempotence"]) == ("all", "true")


@pytest.mark.parametrize(("limit", "request_ms"), [("5s", 4800), ("2min", 30_000)])
def test_an_incident_may_have_it_give_up(limit: str, request_ms: int) -> None:
    sink = make_config(sink={"delivery_timeout": limit}).sink
    options = producer_options(sink, Kafka())
    assert sink.delivery_timeout is not None
    limit_ms = 1000 * sink.delivery_timeout.total_seconds()
    assert options["kafka.delivery.timeout.ms"] == options["kafka.max.block.ms"] == limit_ms
    # The producer's own rule, by which it refuses to be made.
    assert int(options["kafka.linger.ms"]) + request_ms <= limit_ms
    assert options["kafka.request.timeout.ms"] == request_ms


def test_a_batch_is_as_large_as_the_topics_take() -> None:
    sink = make_config().sink
    assert producer_options(sink, Kafka())["kafka.batch.size"] == BATCH_BYTES
    assert producer_options(sink, Kafka(), 500_000)["kafka.batch.size"] == 500_000
