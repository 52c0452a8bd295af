"""`devkit scenario list | run | check`."""

import shlex
import sys
from pathlib import Path

import click

from devkit.errors import DevkitError
from devkit.scenario.model import ARMS, ArmName

_DEFAULT_DIRECTORY = Path(__file__).parents[2] / "scenarios"


def scenario_directory() -> Path:
    """`./scenarios` where there is one, else that of the checkout."""
    here = Path("scenarios")
    return here if here.is_dir() else _DEFAULT_DIRECTORY


@click.group()
def scenario() -> None:
    """Incidents as files: list, check, run."""


@scenario.command("list")
def list_() -> None:
    """Name and title of each scenario."""
    from devkit.scenario.load import SUFFIX, load_scenario

    paths = sorted(scenario_directory().glob(f"*{SUFFIX}"))
    if not paths:
        raise DevkitError(f"there is no scenario in {scenario_directory()}")
    for path in paths:
        loaded = load_scenario(path)
        click.echo(f"{loaded.name:<24} {loaded.title} ({loaded.incident.reference})")


@scenario.command()
@click.argument("file")
def check(file: str) -> None:
    """Check a scenario, by name or file, and say what it would run."""
    from devkit.scenario.configure import config_difference
    from devkit.scenario.load import find_scenario, load_scenario

    path = find_scenario(file, scenario_directory())
    loaded = load_scenario(path)
    expectations = len(loaded.expect.incident) + len(loaded.expect.fixed)
    click.echo(f"{path}: valid")
    click.echo(f"  {loaded.traffic.event_count} events, {len(loaded.mock.rules)} faults, {expectations} expectations")
    for key, values in config_difference(loaded).items():
        click.echo(f"  {key}: {values['incident']} (incident) → {values['fixed']} (fixed)")


@scenario.command()
@click.argument("name_or_file")
@click.option("--arm", type=click.Choice([*ARMS, "both"]), default="both", show_default=True, help="Which arm to play.")
@click.option("--seed", type=click.IntRange(min=0), help="Another seed for traffic and faults than the file's.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="Where runs go.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print result.json on standard output, all else on standard error."
)
@click.option("--keep", is_flag=True, help="Leave the stack up afterwards, with what the last arm left in it.")
def run(name_or_file: str, arm: str, seed: int | None, out: Path, *, as_json: bool, keep: bool) -> None:
    """Make an incident happen, and prove on the same traffic that the fix holds."""
    from devkit.cli.kept import keep_stack
    from devkit.report.progress import Progress
    from devkit.report.verdict_lines import verdict_lines
    from devkit.scenario.load import find_scenario, load_scenario
    from devkit.scenario.run import RunOptions, run_scenario

    path = find_scenario(name_or_file, scenario_directory())
    loaded = load_scenario(path)
    if seed is not None:
        loaded = loaded.model_copy(update={"traffic": loaded.traffic.model_copy(update={"seed": seed})})
    arms: tuple[ArmName, ...] = ARMS if arm == "both" else tuple(name for name in ARMS if name == arm)
    repeat = ["devkit", "scenario", "run", name_or_file, "--seed", str(loaded.traffic.seed)]
    options = RunOptions(arms, out, keep, shlex.join(repeat + (["--arm", arm] if arm != "both" else [])))
    progress = Progress(sys.stderr if as_json else sys.stdout)
    finished = run_scenario(loaded, options, progress, on_keep=keep_stack)
    click.echo("\n".join(verdict_lines(finished.result, finished.directory)), err=as_json)
    if as_json:
        click.echo(finished.result.model_dump_json(indent=2))
    sys.exit(finished.result.exit_code)
