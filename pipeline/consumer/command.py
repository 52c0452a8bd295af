"""`python -m pipeline consume --config FILE`: the output topic as JSON lines; exit 0, 1 something failed, 2 refused.

Reads output and error topic from their beginning to their present end, or with `--follow` until SIGINT. A line on
standard error says at the end what was read.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from time import sleep

import click

from pipeline.config.config_file import load_config
from pipeline.consumer.claims import Claims
from pipeline.consumer.consume import Counts, line, once
from pipeline.consumer.delivery import Delivery, read, read_error
from pipeline.consumer.record_merge import PART_BYTES, Stretch, oldest_first
from pipeline.consumer.seen_events import SeenEvents
from pipeline.errors import PipelineError, RefusedError
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.kafka.cluster import sink_brokers
from pipeline.ops.exit_codes import exit_codes
from pipeline.ops.source import OF_SINK, SourceTopic, opened_topic
from pipeline.ops.spark_checkpoint import Offsets

_LOOK_S = 0.5


@click.command(short_help="Print the output topic as JSON lines.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), required=True, help="The job's YAML file.")
@click.option(
    "--follow", is_flag=True, help="Continue with new records until SIGINT. Default: end at the topics' present end."
)
@click.option(
    "--remember",
    type=click.IntRange(min=1),
    default=1_000_000,
    show_default=True,
    help="Number of events, and of outputs, that are kept to recognise repeats and conflicts.",
)
def consume(config_file: Path, remember: int, *, follow: bool) -> None:
    """Print the output topic as JSON lines, without repeats, with claim checks resolved and verified.

    After a crash an event may have both an output and an error event, if the upstream answered differently the second
    time. The record with the earlier timestamp counts: an output after an error event is not printed. Error events of
    other jobs in the same topic are skipped. At the end, a line on standard error counts what was left out.
    """
    counts = Counts()
    with exit_codes():
        config = load_config(config_file)
        if JOB_DEFAULTS[config.job].splits_outputs:
            raise RefusedError(
                f"an output of {config.job} may take several records of {config.sink.topic}, and consume reads one",
                hint="`python -m pipeline apply` puts them together",
            )
        opened = partial(opened_topic, sink_brokers(config), named_by=OF_SINK, fetch_bytes=PART_BYTES)
        with opened(config.sink.topic) as outputs, ExitStack() as stack:
            errors = [stack.enter_context(opened(topic)) for topic in config.sink.error_topics]
            try:
                records = deliveries(outputs, errors, counts, job=config.job, follow=follow)
                for delivery, value in once(records, SeenEvents(remember), Claims(config.claim_check).resolve, counts):
                    sys.stdout.buffer.write(line(delivery, value) + b"\n")
                    if follow:
                        sys.stdout.buffer.flush()
            except KeyboardInterrupt:
                if not follow:
                    raise  # not all was printed
            finally:
                sys.stdout.buffer.flush()
                click.echo(str(counts), err=True)


def deliveries(
    outputs: SourceTopic,
    errors: Sequence[SourceTopic],
    counts: Counts,
    *,
    job: str,
    follow: bool,
    sleep: Callable[[float], None] = sleep,
) -> Iterator[Delivery]:
    """The job's records in all topics, the oldest first, from the beginning to the present end. With `follow` it never
    ends: each poll adds the oldest records that are new. `counts` counts the error events of other jobs, which are
    skipped. Raises PipelineError.
    """
    topics = (outputs, *errors)
    reached: dict[SourceTopic, Offsets] = {topic: {} for topic in topics}
    while True:
        stretches = [_stretch(topic, reached[topic]) for topic in topics]
        for topic, record in oldest_first(stretches):
            place = f"{topic.topic}/{record.partition}/{record.offset}"
            if topic is outputs:
                yield read(place, record.value, record.own_headers)
                continue
            error = read_error(place, record.value, record.own_headers, job=job)
            if error is None:
                counts.of_other_jobs += 1
            else:
                yield error
        if not follow:
            return
        reached = {stretch.topic: stretch.end for stretch in stretches}
        sleep(_LOOK_S)


def _stretch(topic: SourceTopic, reached: Offsets) -> Stretch:
    """The part from the last read to the present end; a new partition is read from its beginning. Raises PipelineError
    for a topic that was made again, as its first records would be skipped.
    """
    bounds = topic.bounds()
    for partition, read_to in reached.items():
        if read_to > (end := bounds.end.get(partition, 0)):
            raise PipelineError(
                f"{topic.topic}/{partition} ends at {end}, and was read to {read_to}: it was made again, or has lost "
                "records",
                hint="start again: it is then read from its beginning",
            )
    first = {partition: reached.get(partition, begin) for partition, begin in bounds.first.items()}
    return Stretch(topic, first, bounds.end)
