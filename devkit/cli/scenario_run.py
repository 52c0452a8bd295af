"""`devkit scenario run`."""

import shlex
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from devkit.cli.chosen_stack import addresses_of
from devkit.cli.exit_codes import ExitCodes, bisect_option
from devkit.cli.options import (
    STACKS,
    duration_of,
    extend_option,
    play_options,
    require_addresses_fit,
    set_option,
    stack_options,
)
from devkit.cli.scenario_directory import scenario_directory
from devkit.cli.stack_report import keep_stack
from devkit.errors import UsageError
from located_config.near import near_miss

if TYPE_CHECKING:
    from devkit.observe.arm_role import Roles
    from devkit.play.ablate import AblationRun
    from devkit.play.run import FinishedRun
    from devkit.report.run_series import Series
    from devkit.scenario.model import Scenario


@click.command(short_help="Make an incident happen, and prove that the fix holds.")
@click.argument("name_or_file")
@stack_options
@click.option(
    "--on",
    metavar="ID",
    help="Play it on the stack with this id, as `devkit status` shows it: one that `devkit up --no-pipeline` left up, "
    "which saves the start. Each arm still has its topics made afresh.",
)
@click.option(
    "--arm", "arm_names", multiple=True, metavar="NAME", help="Play this arm only; may be repeated. Default: all arms."
)
@set_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of traffic and faults. Default: that of the file.")
@click.option(
    "--runs",
    type=click.IntRange(2),
    metavar="N",
    help="Play it N times, each with the next seed, and print the rate of each exit code with its interval, and how "
    "near the runs came to the bounds of their expectations. The exit code is that of the worst run.",
)
@click.option(
    "--ablate",
    is_flag=True,
    help="After a run that passed, play the fixed arm without each of its differences from the incident arm, and print "
    "which of them the fix needs. With several fixed arms, --arm names one.",
)
@click.option("--keep", is_flag=True, help="Leave the stack up afterwards, with the data of the last arm.")
@click.option(
    "--pipeline",
    "command",
    metavar="COMMAND",
    help="Command line of the program under test, in place of the kit's pipeline. Its environment (DEVKIT_…) has "
    "addresses and topics.",
)
@click.option(
    "--pause-at",
    multiple=True,
    metavar="[ARM:]PHASE",
    help="Wait at this phase for Enter or `devkit resume`: stack (the parts are up), traffic (nothing is published "
    "yet), pipeline (the query runs), arm-end (before the audit). In each arm, or in one, as incident:traffic; may be "
    "repeated.",
)
@click.option(
    "--pause-limit",
    metavar="TIME",
    help="Resume by itself after this time, for example 10m; required without a terminal.",
)
@click.option(
    "--debug",
    type=click.Choice(("driver", "worker")),
    help="Have the pipeline's driver or Python worker wait for a debugger; there is one worker then, no deadline and "
    "no verdict.",
)
@click.option(
    "--unchecked",
    is_flag=True,
    help="Play a file that `check` refuses because a run of it proves nothing, for example with its arms swapped.",
)
@play_options
@extend_option
@bisect_option
@click.pass_context
def run(
    context: click.Context,
    name_or_file: str,
    backend: str,
    addresses: Path | None,
    on: str | None,
    arm_names: tuple[str, ...],
    written: tuple[str, ...],
    seed: int | None,
    runs: int | None,
    out: Path,
    command: str | None,
    pause_at: tuple[str, ...],
    pause_limit: str | None,
    debug: Literal["driver", "worker"] | None,
    stretch: int | None,
    extend: tuple[str, ...],
    *,
    ablate: bool,
    as_json: bool,
    keep: bool,
    plain: bool,
    unchecked: bool,
) -> None:
    """Reproduce an incident, then replay the same traffic with the fix and check that it works.

    A program given by --pipeline may show neither commits nor batches nor log events. Expectations that need them
    cannot be judged then, and the run is inconclusive (docs/own-pipeline.md).
    """
    from devkit.debug.pause_point import PausePoint, require_arms, require_way_on
    from devkit.play.ablate import Ablated, AblationRun
    from devkit.play.options import RunOptions
    from devkit.play.run import make_next_run_faster, run_scenario
    from devkit.programs.command.program import CommandKind
    from devkit.report.live import progress_for
    from devkit.report.run_series import Series
    from devkit.report.text_layout import width_of
    from devkit.report.verdict_lines import verdict_lines
    from devkit.scenario.load import find_scenario, load_file
    from devkit.stack.stack import StackRequest

    require_addresses_fit(backend, addresses)
    if on is not None and (backend != STACKS[0] or addresses is not None or keep):
        raise UsageError("--on plays on a stack that is up and stays up: leave out --stack, --addresses and --keep")
    instead = None if command is None else CommandKind(given_by="--pipeline").program(command)
    points = tuple(PausePoint.parse(text) for text in pause_at)
    limit = None if pause_limit is None else duration_of("--pause-limit", pause_limit)
    require_way_on(points, limit, sys.stdin)
    path = find_scenario(name_or_file, scenario_directory())
    file = load_file(path, written, unchecked=unchecked, instead=instead)
    loaded = file.scenario
    for warning in () if unchecked else file.warnings(instead):
        click.echo(warning, err=True)
    if debug is not None and not file.resolved(instead).main.takes_debugger:
        raise UsageError(
            "--debug works for the kit's own pipeline only", hint="start your debugger in --pipeline COMMAND"
        )
    if (runs is not None or ablate) and (keep or debug is not None or points):
        several = "--ablate" if ablate else "--runs"
        raise UsageError(f"{several} plays one run after the other: leave out --keep, --debug and --pause-at")
    if runs is not None and ablate:
        raise UsageError("--ablate is of one run: leave out --runs")
    if seed is not None:
        loaded = loaded.with_seed(seed)
    arms = _arms(arm_names, loaded.roles)
    ablated = Ablated.of(arms, loaded.roles) if ablate else None
    require_arms(points, arms)
    repeat = [word for arm in arm_names for word in ("--arm", arm)]
    repeat += [word for change in written for word in ("--set", change)]
    repeat += ["--stack", backend] if backend != STACKS[0] else []
    repeat += ["--addresses", str(addresses)] if addresses else []
    repeat += ["--pipeline", command] if command is not None else []
    repeat += [word for module in extend for word in ("--extend", module)]
    repeat += ["--unchecked"] if unchecked else []
    repeat += ["--stretch", str(stretch)] if stretch is not None else []
    request = StackRequest(addresses=addresses if on is None else addresses_of(on))
    options = RunOptions(
        arms,
        out,
        keep,
        _repeat(name_or_file, loaded, repeat),
        stack=backend if on is None else "external",
        request=request,
        instead=instead,
        pause_at=points,
        pause_limit=limit,
        debug=debug,
        stretch=stretch,
        changes=tuple(change.changed_value for change in file.changes),
    )
    output = sys.stderr if as_json else sys.stdout

    def play(scenario: "Scenario") -> "FinishedRun":
        of_seed = replace(options, repeat=_repeat(name_or_file, scenario, repeat))
        with progress_for(output, plain=plain) as progress:
            finished = run_scenario(scenario, of_seed, progress, on_keep=keep_stack)
        click.echo("\n".join(verdict_lines(finished.result, finished.directory, width_of(output))), err=as_json)
        return finished

    if runs is not None:
        first = Series(
            scenario=loaded.name,
            title=loaded.title,
            began=datetime.now(UTC),
            planned=runs,
            repeat=shlex.join([*shlex.split(options.repeat), "--runs", str(runs)]),
            changes=options.changes,
        )
        series = _series(lambda seed: play(loaded.with_seed(seed)), first, loaded.traffic.seed, out, as_json=as_json)
        sys.exit(context.ensure_object(ExitCodes).of(series.exit_code))
    finished = play(loaded)
    if ablated is not None and not finished.result.exit_code:
        with progress_for(output, plain=plain) as progress:
            code = _ablate(AblationRun(file, finished, options, ablated, progress), as_json=as_json)
        sys.exit(context.ensure_object(ExitCodes).of(code))
    if as_json:
        click.echo(finished.result.model_dump_json(indent=2))
    make_next_run_faster(loaded, options, finished.result, lambda text: click.echo(text, err=True))
    sys.exit(context.ensure_object(ExitCodes).of(finished.result.exit_code))


def _repeat(name_or_file: str, scenario: "Scenario", options: Sequence[str]) -> str:
    return shlex.join(["devkit", "scenario", "run", name_or_file, "--seed", str(scenario.traffic.seed), *options])


def _series(play: "Callable[[int], FinishedRun]", first: "Series", seed: int, out: Path, *, as_json: bool) -> "Series":
    """Plays them; what was played is on disk after each run, and printed also when it is interrupted."""
    from devkit.play.run import play_series
    from devkit.play.run_directory import make_series_directory
    from devkit.report.run_series import series_lines
    from devkit.report.series_directory import write_series

    directory = make_series_directory(out, first.scenario)
    series = first
    try:
        for entry in play_series(play, seed, first.planned):
            series = series.with_run(entry)
            write_series(directory, series)
            outcome = f"exit {entry.exit_code}, {entry.outcome}"
            click.echo(f"run {len(series.runs)} of {series.planned}, seed {entry.seed}: {outcome}", err=True)
    finally:
        if series.runs:
            click.echo("\n".join(series_lines(series, directory)), err=as_json)
    if as_json:
        click.echo(series.model_dump_json(indent=2))
    return series


def _ablate(ablating: "AblationRun", *, as_json: bool) -> int:
    """Plays and prints it; returns the exit code."""
    from devkit.report.ablation import ablation_lines

    result = ablating.play()
    assert result.ablation is not None
    ablating.progress.close()
    click.echo("\n".join(ablation_lines(result.ablation, ablating.run.directory)), err=as_json)
    if as_json:
        click.echo(result.model_dump_json(indent=2))
    return result.ablation.exit_code


def _arms(names: Collection[str], known: "Roles") -> tuple[str, ...]:
    """The arms in the order of play. Raises UsageError for an arm that the scenario does not have."""
    for name in names:
        if name not in known:
            raise UsageError(f"--arm {name}: the scenario has no such arm", hint=near_miss(name, known))
    return tuple(name for name in known if name in names) if names else tuple(known)
