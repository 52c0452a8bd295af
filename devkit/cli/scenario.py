"""`devkit scenario list | new | check | run`."""

import shlex
from pathlib import Path

import click

from devkit.cli.options import extend_option, set_option
from devkit.cli.scenario_directory import scenario_directory
from devkit.cli.scenario_run import run
from devkit.errors import DevkitError, UsageError
from located_config.count import counted


@click.group()
def scenario() -> None:
    """List, check and run scenarios: incidents as files."""


@scenario.command("list")
def list_() -> None:
    """List the scenarios with their titles."""
    from devkit.scenario.load import SUFFIX, load_scenario

    paths = sorted(scenario_directory().glob(f"*{SUFFIX}"))
    if not paths:
        raise DevkitError(f"there is no scenario in {scenario_directory()}")
    for path in paths:
        loaded = load_scenario(path, unchecked=True)
        click.echo(f"{loaded.name:<24} {loaded.title} ({loaded.incident.reference})")


@scenario.command()
@click.argument("name_or_file")
@set_option
@extend_option
def check(name_or_file: str, written: tuple[str, ...], extend: tuple[str, ...]) -> None:  # noqa: ARG001 — the option has loaded them
    """Check a scenario, by name or file, and print what it would run.

    Refuse a file that cannot be played, and one whose run would prove nothing, such as one with an
    expectation that always holds. Warn of what is doubtful but may be intended.
    """
    from devkit.observe.timeline.run_metadata import difference_text
    from devkit.scenario.load import find_scenario, load_file

    path = find_scenario(name_or_file, scenario_directory())
    file = load_file(path, written)
    loaded = file.scenario
    for warning in file.warnings():
        click.echo(warning, err=True)
    click.echo(f"{path}: valid")
    for change in file.changes:
        click.echo(f"  set: {change.changed_value}")
    parts = {
        "event": loaded.traffic.event_count,
        "fault": len(list(loaded.rules_at())) + len({item.name for _, item, _ in loaded.timeline_at()}),
        "expectation": sum(map(len, loaded.expect.values())),
    }
    click.echo(f"  {', '.join(counted(count, noun) for noun, count in parts.items())}")
    for key, values in file.resolved().difference.items():
        click.echo(f"  {key}: {difference_text(values, loaded.roles)}")


@scenario.command(short_help="Write a commented scenario to begin with.")
@click.argument("name")
@click.option(
    "--from", "source", metavar="SCENARIO", help="Scenario to copy, by name or file. Default: a commented one."
)
@click.option(
    "--from-capture",
    "capture",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File of `devkit capture` whose events are the traffic of the commented scenario.",
)
@click.option(
    "--to",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Directory to write the file to. Default: the working directory.",
)
def new(name: str, source: str | None, capture: Path | None, directory: Path) -> None:
    """Write NAME.yaml, a commented scenario to begin with. It can be played as it is.

    A file that exists is not overwritten. Editors that know the YAML language server complete its keys.
    """
    from devkit.scenario.load import find_scenario
    from devkit.scenario.new import TEMPLATE, write_new

    if source is not None and capture is not None:
        raise UsageError("--from and --from-capture each say what to begin with", hint="keep one of them")
    template = TEMPLATE if source is None else find_scenario(source, scenario_directory())
    file = write_new(name, directory, template, capture)
    click.echo(f"wrote {file}")
    click.echo(f"next: devkit scenario check {shlex.quote(str(file))}")
    click.echo(f"      devkit scenario run {shlex.quote(str(file))}")


scenario.add_command(run)
