"""What a real broker says of its limits.

Set-up: topics with limits of their own and one without, on the session's broker. Checked: each figure, against what
the broker's configuration and the topics were made with.
"""

from pathlib import Path

from devkit.guardian import Guardian
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from pipeline.config.pipeline_config import Deferral, MediaWiki, PipelineConfig, Sink, Source
from pipeline.kafka.broker_limits import ask_brokers
from pipeline.kafka.limit_rules import Limits, disagreements

ROOMS = ("pipeline/kafka",)
MIB = 1024 * 1024


def test_limits_in_force(stack: tuple[Guardian, Stack], tmp_path: Path) -> None:
    bootstrap = stack[1].kafka.bootstrap
    topics = {"limits.source": 8 * MIB, "limits.out": 2 * MIB, "limits.error": None}
    recreate_topics(
        bootstrap,
        {name: (1, {} if limit is None else {"max.message.bytes": str(limit)}) for name, limit in topics.items()},
    )
    config = PipelineConfig(
        source=Source(bootstrap_servers=bootstrap, topic="limits.source"),
        sink=Sink.model_validate(
            {
                "bootstrap_servers": bootstrap,
                "topic": "limits.out",
                "error_topic": "limits.error",
                "max.request.size": 3 * MIB,
            }
        ),
        mediawiki=MediaWiki(endpoint="http://127.0.0.1:1"),
        checkpoint=str(tmp_path),
        deferral=Deferral(topic="limits.nowhere"),
    )
    brokers = ask_brokers(config)
    limits = brokers.limits
    # The kit's brokers take 64 MiB where a topic says nothing, and Kafka's requests are of up to 100 MiB.
    assert limits == Limits(
        max_request_size=3 * MIB,
        buffer_memory=32 * MIB,
        source_topics={"limits.source": 8 * MIB},
        output_topic=2 * MIB,
        error_topic=64 * MIB,
        ledger_topic=None,
        broker_message=64 * MIB,
        broker_request=100 * MIB,
    )
    assert brokers.source_cluster
    found = disagreements(limits, config)
    assert [str(2 * MIB) in one.text for one in found] == [True, False]
    assert not any(one.fatal for one in found)
