"""`devkit traffic`: source events for a stack that is up, at a pace."""

import contextlib
from pathlib import Path

import click

from devkit.cli.chosen_stack import KAFKA, MOCK_API, address_of, run_id_option, running_stack
from devkit.cli.held import reaching
from devkit.errors import UsageError
from devkit.guardian.run_state import LOGS


@click.command(short_help="Publish page_change events to a stack that is up.")
@click.option(
    "--rate", metavar="RATE", default="20/s", show_default=True, help="Rate to publish events at, for example 100/min."
)
@click.option(
    "--for",
    "for_",
    metavar="TIME",
    default="30s",
    show_default=True,
    help="Time to publish events for, for example 10m.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of pages and contents.")
@click.option("--topic", metavar="NAME", help="Topic to publish to. Default: the source topic of the pipeline.")
@run_id_option
def traffic(rate: str, for_: str, seed: int, topic: str | None, run_id: str | None) -> None:
    """Publish page_change events to a stack that is up, until Ctrl-C or until the time is over.

    Equal options give equal events. The pages of these events replace those that the mock API has; its rules stay. So
    let the pipeline drain before you publish with other options: it would no longer find the pages of earlier events.
    """
    from pydantic import ValidationError

    from devkit.debug.pipeline_place import find_place
    from devkit.debug.stack_traffic import StackTraffic
    from devkit.stack.parts.mock_api import MockApi
    from devkit.traffic.model import TrafficSpec
    from located_config.problem import problems

    written = {"seed": seed, "rate": rate, "for": for_}
    try:
        spec = TrafficSpec.model_validate(written)
    except ValidationError as error:
        raise UsageError("\n".join(f"--{problem}" for problem in problems(error, TrafficSpec, written))) from error
    run = running_stack(run_id)
    if topic is None:
        topic = find_place(Path(run.addresses[LOGS]) if LOGS in run.addresses else None).config.source.topic
    mock = MockApi(address_of(run, MOCK_API))
    with reaching(run, f"nothing can be published to topic {topic}", "kafka", "mock-api"):
        published = StackTraffic(spec, mock, address_of(run, KAFKA), topic)
        click.echo(f"stack {run.run_id}: {published.count} events to {topic}, {rate} for {for_}", err=True)
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it; the stack stays up
            published.publish()
        published.stop()
    click.echo(f"stack {run.run_id}: published {published.published} events to {topic}; `devkit lag` follows them")
