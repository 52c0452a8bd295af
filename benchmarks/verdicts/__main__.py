"""`python -m benchmarks.verdicts`: plays scenarios on a free, a busy and a one-core machine, and prints exit codes.

    python -m benchmarks.verdicts                              all scenarios: 10 busy, 5 alone, 3 on one core
    python -m benchmarks.verdicts stalled-progress --busy 2 --alone 0 --one-core 0

The machine has to be free of anything else: the reference is that of two cores. It ends with 1 where a row is not as it
should be. Each run's evidence stays in `--out`, the table in `--out`/verdicts.md, rewritten after each run.
"""

import subprocess
import sys
import time
from pathlib import Path

import click

from benchmarks.verdicts.machine import Machine, machine
from benchmarks.verdicts.table import Run, is_as_it_should_be, table
from devkit.cli.scenario_directory import scenario_directory
from devkit.report.result import Result
from devkit.scenario.load import find_scenario, load_scenario
from devkit.scenario.resolve import resolve

_LONGEST_S = 1800


@click.command(help=__doc__)
@click.argument("names", nargs=-1)
@click.option("--busy", default=10, show_default=True, help="Runs of each scenario beside busy processes.")
@click.option("--alone", default=5, show_default=True, help="Runs of each scenario alone.")
@click.option("--one-core", default=3, show_default=True, help="Runs of each scenario on one core (Linux).")
@click.option("--processes", default=4, show_default=True, help="How many busy processes.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs/verdicts"), show_default=True)
def main(names: tuple[str, ...], busy: int, alone: int, one_core: int, processes: int, out: Path) -> None:
    """Plays them one after the other."""
    runs: list[Run] = []
    wanted = names or sorted(path.stem for path in scenario_directory().glob("*.yaml"))
    counts: dict[Machine, int] = {"alone": alone, "one core": one_core, "busy": busy}
    out.mkdir(parents=True, exist_ok=True)
    for kind, count in counts.items():
        for name in wanted:
            for number in range(1, count + 1):
                runs.append(play(name, kind, processes=processes, out=out / kind.replace(" ", "-")))
                click.echo(f"{kind}, {name}, {number} of {count}: exit {runs[-1].exit_code}", err=True)
                (out / "verdicts.md").write_text(table(runs) + "\n", encoding="utf-8")
    click.echo(table(runs))
    rows = {(run.scenario, run.machine) for run in runs}
    codes = {row: [run.exit_code for run in runs if (run.scenario, run.machine) == row] for row in rows}
    sys.exit(0 if all(is_as_it_should_be(row[1], codes[row]) for row in rows) else 1)


def play(name: str, kind: Machine, *, processes: int, out: Path) -> Run:
    """One run through the command line, as a person would start it."""
    path = find_scenario(name, scenario_directory())
    scenario = load_scenario(path)
    commit = resolve(scenario).arms["fixed"].main.configured.commit_within
    before = set(out.glob("*/*/result.json"))
    argv = [sys.executable, "-m", "devkit.cli.main", "scenario", "run", str(path), "--plain", "--out", str(out)]
    began = time.monotonic()
    with machine(kind, processes=processes, at_most_s=_LONGEST_S):
        code = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
    duration_s = time.monotonic() - began
    found = sorted(set(out.glob("*/*/result.json")) - before)
    result = Result.model_validate_json(found[-1].read_bytes()) if found else None
    stall_s = commit.total_seconds() if commit else float("inf")
    return Run(scenario.name, kind, code, duration_s, result, scenario.until.deadline.total_seconds(), stall_s)


if __name__ == "__main__":
    main()
