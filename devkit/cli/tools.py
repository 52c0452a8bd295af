"""`devkit doctor | heal | clean`."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from devkit.cli.stack_report import report_released
from devkit.errors import INCONCLUSIVE
from devkit.guardian.lease import journal_directory
from devkit.guardian.run_state import lease_paths

if TYPE_CHECKING:
    from devkit.faults.undo import Undone
    from devkit.stack.external_lease import ReleasedLease


@click.command(short_help="Check that this machine has what a run needs.")
@click.option(
    "--train",
    is_flag=True,
    help="Make the class cache now, with which Spark's JVM starts faster; it takes a minute. It also "
    "tries again if it failed before. Default: the first run makes it after its verdict.",
)
def doctor(*, train: bool) -> None:
    """Check that this machine has what a run needs: Python, memory, disk, ports, certificates, Java, jars, Docker."""
    from devkit.doctor import run_checks

    if train:
        from devkit.programs.spark.training import train_now

        click.echo("making the class cache, about a minute", err=True)
        if not train_now():
            click.echo("another run makes it now", err=True)

    findings = run_checks()
    for finding in findings:
        click.echo(f"{finding.status:<5} {finding.name:<14} {finding.detail}")
        if finding.hint and finding.status != "ok":
            click.echo(f"      {'':<14} hint: {finding.hint}")
    sys.exit(INCONCLUSIVE if any(finding.status == "fail" for finding in findings) else 0)


@click.command(short_help="Clean up after killed runs, and undo their faults.")
def heal() -> None:
    """Clean up after killed runs: processes, containers, networks, volumes, directories, objects of external stacks.

    Undo faults that they left, such as a quota of an external broker, and name those that cannot be undone.

    Exit 3 when something remains.
    """
    had_leftovers, is_clean = _heal()
    if not had_leftovers:
        click.echo("nothing is left of any run")
    sys.exit(0 if is_clean else INCONCLUSIVE)


@click.command()
@click.option(
    "--keep", type=click.IntRange(min=0), default=10, show_default=True, help="Number of runs to keep of each scenario."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Directory that has the runs.",
)
@click.option("--cache", is_flag=True, help="Remove downloaded jars and the class cache as well.")
def clean(keep: int, out: Path, *, cache: bool) -> None:
    """Remove old runs, and clean up after killed runs."""
    from devkit.guardian.run_state import LOGS, known_runs
    from devkit.jvm.cache import cache_dir
    from devkit.play.run_directory import prune_runs

    _heal()
    kept_logs = [Path(run.addresses[LOGS]) for run in known_runs() if LOGS in run.addresses]
    for path in prune_runs(out, keep, in_use=kept_logs):
        click.echo(f"removed {path}")
    if cache:
        for part in ("jars", "java", "aot", "kafka"):
            shutil.rmtree(cache_dir() / part, ignore_errors=True)
        click.echo(f"removed jars and class cache in {cache_dir()}")


def _heal() -> tuple[bool, bool]:
    """Whether anything was left of any run, and whether nothing is now."""
    from devkit.guardian.cleanup import heal as heal_runs

    healed = heal_runs()
    for run_id in healed.ended:
        click.echo(f"ended what was left of run {run_id}")
    for run_id, reason in healed.left.items():
        click.echo(f"warning: containers of run {run_id} are left: {reason}", err=True)
    undone = _heal_faults() if journal_directory("").exists() else []
    _report_undone(undone)
    tidied = _release_lapsed() if lease_paths() else []
    is_clean = report_released(tidied) and not healed.left and not any(fault.why for fault in undone)
    return bool(healed.ended or healed.left or tidied or undone), is_clean


def _heal_faults() -> "list[Undone]":
    from devkit.faults.undo import heal_faults

    return heal_faults()


def _release_lapsed() -> "list[ReleasedLease]":
    from devkit.stack.external_lease import release_lapsed

    return release_lapsed()


def _report_undone(undone: "Sequence[Undone]") -> None:
    """Print what became of each fault: undone, irreversible, or not undone and why (standard error)."""
    for fault in undone:
        if fault.why:
            click.echo(
                f"warning: fault {fault.name} of run {fault.run_id} ({fault.asked}) is not undone: {fault.why}",
                err=True,
            )
        for text in fault.irreversible:
            click.echo(f"fault {fault.name} of run {fault.run_id} cannot be undone: {text}")
        if not fault.why and not fault.irreversible:
            click.echo(f"undone fault {fault.name} of run {fault.run_id} ({fault.asked})")
