"""The topics of an arm, as the broker has to make them, and the slots that Spark needs to read them."""

from devkit.programs.spark.place import SLOTS
from devkit.scenario.model import Topics
from pipeline.config import PipelineConfig, ledger_topic_settings

_KAFKA_DEFAULT_MESSAGE_BYTES = 1_048_588
# An entry of the deferral topic is the source record and a few headers of its own.
_HEADERS_BYTES = 64 * 1024
# The broker's clock for all of them: end-to-end latency is a difference, and order between topics a comparison.
_CLOCK = {"message.timestamp.type": "LogAppendTime"}


def topics_of_arm(topics: Topics, config: PipelineConfig) -> dict[str, tuple[int, dict[str, str]]]:
    """Partitions and settings by name, the deferral topic among them where the pipeline defers.

    The kit's pipeline would make that one itself; one's own may count on it.
    """
    wanted = {
        config.source.topic: (topics.source.partitions, topics.source.kafka_settings() | _CLOCK),
        config.sink.topic: (topics.output.partitions, topics.output.kafka_settings() | _CLOCK),
        config.sink.error_topic: (topics.error.partitions, topics.error.kafka_settings() | _CLOCK),
    }
    if config.deferral.policy == "defer":
        source_bytes = topics.source.max_message_bytes or _KAFKA_DEFAULT_MESSAGE_BYTES
        wanted[config.deferral.topic] = (1, ledger_topic_settings(source_bytes + _HEADERS_BYTES))
    return wanted


def slots_of_arm(topics: Topics, config: PipelineConfig) -> int:
    """A slot for each partition of the source and each slow round, so that neither lane waits for the other."""
    rounds = config.deferral.slow_lane.rounds if config.deferral.policy == "defer" else 0
    return max(SLOTS, topics.source.partitions + rounds)
