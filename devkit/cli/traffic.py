"""`devkit traffic`: source events for a stack that is up, at a pace."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from devkit.cli.chosen_stack import KAFKA, MOCK_API, address_of, run_id_option, running_stack
from devkit.cli.options import extend_option, set_option
from devkit.cli.scenario_directory import scenario_directory
from devkit.cli.stack_report import naming_faults
from devkit.errors import UsageError
from devkit.guardian.run_state import LOGS
from located_config.count import counted

if TYPE_CHECKING:
    from devkit.traffic.model import TrafficSpec

_RATE, _FOR, _SEED = "20/s", "30s", 1


@click.command(short_help="Publish events to a stack that is up.")
@click.argument("name_or_file", required=False, metavar="[SCENARIO]")
@click.option(
    "--rate", metavar="RATE", help=f"Rate to publish events at, for example 100/min. Default without SCENARIO: {_RATE}."
)
@click.option("--for", "for_", metavar="TIME", help=f"Time to publish events for, for example 10m. Default: {_FOR}.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help=f"Seed of pages and contents. Default: that of the scenario, {_SEED} without one.",
)
@set_option
@click.option("--topic", metavar="NAME", help="Topic to publish to. Default: the source topic of the pipeline.")
@run_id_option
@extend_option
def traffic(
    name_or_file: str | None,
    rate: str | None,
    for_: str | None,
    seed: int | None,
    written: tuple[str, ...],
    topic: str | None,
    run_id: str | None,
    extend: tuple[str, ...],  # noqa: ARG001 - has been loaded
) -> None:
    """Publish events to a stack that is up: those of SCENARIO, by name or file, or else page changes at --rate.

    It ends with its time or with Ctrl-C, and then prints how many events it published and how they have to end. The
    stack stays up.

    Equal options give equal events. The pages of these events replace those that the mock API has; its rules stay, so
    `devkit fault add SCENARIO` adds the faults of a scenario. Let the pipeline drain before you publish with other
    options: it would no longer find the pages of earlier events.
    """
    from devkit.debug.pipeline_place import find_place
    from devkit.debug.stack_traffic import StackTraffic, fates_text
    from devkit.stack.parts.mock_api import MockApi

    if name_or_file is not None:
        spec = _of_scenario(name_or_file, rate, for_, seed, written)
    elif written:
        raise UsageError(
            "--set replaces values of a scenario, and none is named", hint="name one, or use --rate and --for"
        )
    else:
        spec = _at_a_rate(rate or _RATE, for_ or _FOR, _SEED if seed is None else seed)
    run = running_stack(run_id)
    if topic is None:
        topic = find_place(Path(run.addresses[LOGS]) if LOGS in run.addresses else None).config.source.topic
    mock = MockApi(address_of(run, MOCK_API))
    with naming_faults(run, f"nothing can be published to topic {topic}", "kafka", "mock-api"):
        published = StackTraffic(spec, mock, address_of(run, KAFKA), topic)
        topics = ", ".join(published.topics)
        pace = f"over {spec.last_event.total_seconds():.0f} s"
        click.echo(
            f"stack {run.run_id}: {counted(published.count, 'event')} to {topics}, {pace}; Ctrl-C ends it", err=True
        )
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it; the stack stays up
            published.publish()
        entries = published.stop()
    of_all = "" if len(entries) == published.count else f" of {published.count:,}"
    click.echo(f"stack {run.run_id}: published {len(entries):,}{of_all} events to {topics}; `devkit lag` follows them")
    if entries:
        click.echo(f"they have to end: {fates_text(entries)}")


def _of_scenario(
    name_or_file: str, rate: str | None, for_: str | None, seed: int | None, written: Sequence[str]
) -> "TrafficSpec":
    from devkit.scenario.load import find_scenario, load_file

    file = find_scenario(name_or_file, scenario_directory())
    for option, place, value in (("--rate", "rate", rate), ("--for", "for", for_)):
        if value is not None:
            raise UsageError(f"{option}: the scenario has its own", hint=f"write --set traffic.{place}={value}")
    scenario = load_file(file, written, unchecked=True).scenario
    return (scenario if seed is None else scenario.with_seed(seed)).traffic


def _at_a_rate(rate: str, for_: str, seed: int) -> "TrafficSpec":
    from pydantic import ValidationError

    from devkit.traffic.model import TrafficSpec
    from located_config.problem import problems

    document = {"seed": seed, "rate": rate, "for": for_}
    try:
        return TrafficSpec.model_validate(document)
    except ValidationError as error:
        raise UsageError("\n".join(f"--{problem}" for problem in problems(error, TrafficSpec, document))) from error
