"""The topics of a program, as the broker has to make them."""

from devkit.programs.program_topics import ProgramTopics
from devkit.scenario.stack_settings import Topics
from pipeline.config.pipeline_config import ledger_topic_settings

_KAFKA_DEFAULT_MESSAGE_BYTES = 1_048_588
# An entry of the deferral topic is the source record and a few headers of its own.
_HEADERS_BYTES = 64 * 1024
# The broker's clock for all of them: end-to-end latency is a difference, and order between topics a comparison.
_CLOCK = {"message.timestamp.type": "LogAppendTime"}
# Events that bring their own time: a broker deletes what is older than its retention within half a minute, and refuses
# what is an hour ahead of its clock.
_EVENT_TIME = {
    "message.timestamp.type": "CreateTime",
    "message.timestamp.after.max.ms": str(2**63 - 1),
    "retention.ms": "-1",
}


def topics_to_make(
    topics: Topics, names: ProgramTopics, *, own_times: bool = False
) -> dict[str, tuple[int, dict[str, str]]]:
    """Partitions and settings by name, the deferral topic among them where the program defers.

    The pipeline would make that one itself; another program may count on it. With `own_times` the records of the
    sources have times of their own, whatever the program goes by.
    """
    time = _EVENT_TIME if own_times or names.event_time else _CLOCK
    source = topics.source.partitions, topics.source.kafka_settings() | time
    wanted = {
        **dict.fromkeys(names.sources, source),
        names.output: (topics.output.partitions, topics.output.kafka_settings() | _CLOCK),
        **dict.fromkeys(names.errors, (topics.error.partitions, topics.error.kafka_settings() | _CLOCK)),
    }
    if names.lapsed is not None:
        wanted[names.lapsed] = (topics.error.partitions, _CLOCK)
    if names.defers:
        source_bytes = topics.source.max_message_bytes or _KAFKA_DEFAULT_MESSAGE_BYTES
        wanted[names.deferral] = (1, ledger_topic_settings(source_bytes + _HEADERS_BYTES))
    return wanted
