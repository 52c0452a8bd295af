"""`python -m pipeline consume --config FILE`: the output topic as JSON lines; exit 0, 1 something failed, 2 refused.

Reads from the topic's beginning to its present end, or with `--follow` until SIGINT. A line on standard error says at
the end what was read.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep

import click

from pipeline.config_file import load_config
from pipeline.consumer.claims import Claims
from pipeline.consumer.consume import Counts, line, once
from pipeline.consumer.delivery import Delivery, read
from pipeline.consumer.remembered import Remembered
from pipeline.ops.exit_codes import exit_codes
from pipeline.ops.source import OF_SINK, SourceTopic, opened_topic

_LOOK_S = 0.5


@click.command()
@click.option("--config", "config_file", type=click.Path(path_type=Path), required=True, help="The job's YAML file.")
@click.option(
    "--follow", is_flag=True, help="Continue with new records until SIGINT. Default: end at the topic's present end."
)
@click.option(
    "--remember",
    type=click.IntRange(min=1),
    default=1_000_000,
    show_default=True,
    help="Number of event ids that are kept to recognise repeats.",
)
def consume(config_file: Path, remember: int, *, follow: bool) -> None:
    """Print the output topic as JSON lines: repeats removed, claim checks resolved and verified."""
    counts = Counts()
    with exit_codes():
        config = load_config(config_file)
        with opened_topic(config.sink.bootstrap_servers, config.sink.topic, named_by=OF_SINK) as topic:
            try:
                found = deliveries(topic, follow=follow)
                for delivery, value in once(found, Remembered(remember), Claims(config.claim_check).resolve, counts):
                    sys.stdout.buffer.write(line(delivery, value) + b"\n")
                    if follow:
                        sys.stdout.buffer.flush()
            except KeyboardInterrupt:
                pass
            finally:
                sys.stdout.buffer.flush()
                click.echo(
                    f"{counts.records} records, {counts.claims} claim checks resolved, {counts.repeats} repeats "
                    f"removed ({counts.differing} with other bytes)",
                    err=True,
                )


def deliveries(topic: SourceTopic, *, follow: bool, sleep: Callable[[float], None] = sleep) -> Iterator[Delivery]:
    """What the topic holds, from its beginning to its present end or without an end. Raises PipelineError."""
    bounds = topic.bounds()
    first = dict(bounds.first)
    while True:
        for record in topic.records(first, bounds.end):
            yield read(f"{topic.topic}/{record.partition}/{record.offset}", record.value, record.headers)
        if not follow:
            return
        first = dict(bounds.end)
        sleep(_LOOK_S)
        bounds = topic.bounds()
        # A partition that is new is read from its beginning.
        first = {partition: first.get(partition, begin) for partition, begin in bounds.first.items()}
