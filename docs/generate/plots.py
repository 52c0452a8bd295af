"""`python -m docs.generate.plots RUN_DIRECTORY…`: draw a run of each incident for its page below `docs/incidents/`.

The drawing is the first panel of the run's report, for all arms one below the other: committed offset, published
events, and between them the lag. Below are the mutations that are not applied, for the arms that have any. It is an SVG
that depends on nothing but the run's evidence, with a ground of its own in light and dark, as a page cannot style an
image.
"""

import sys
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from devkit.errors import UsageError
from devkit.observe.arm_role import TWO_ARMS
from devkit.report.page.numbers import moment
from devkit.report.page.panels import COMMITTED, NOT_APPLIED
from devkit.report.page.plot import HEIGHT, WIDE, Plot, panel_plots
from devkit.report.run_record import RunRecord, read_run
from docs.generate.incidents import PLOTS, names

_WIDTH, _LEFT, _RIGHT, _TOP, _BETWEEN = 640, 46, 78, 30, 54


def drawing(run: RunRecord) -> str:
    """The SVG. Raises UsageError for a run that does not show the incident and the fix."""
    if run.result is None or run.result.exit_code or len(run.arms) < 2:
        raise UsageError(
            f"{run.directory} does not show both the incident and the fix, so it is no picture of them",
            hint="name a run of both arms whose exit code is 0",
        )
    duration_s = max(arm.duration_s for arm in run.arms.values())
    panel = panel_plots(COMMITTED, run.arms, duration_s)
    if panel is None:
        raise UsageError(f"no event was published in {run.directory}; there is nothing to draw")
    behind = panel_plots(NOT_APPLIED, run.arms, duration_s)
    waiting = tuple(plot for plot in behind.plots if plot.paths) if behind else ()
    titles = ", ".join([panel.title, *([NOT_APPLIED.title.lower()] if waiting else [])])
    every = "both" if len(panel.plots) == len(TWO_ARMS) else "all"
    plots = [*((plot, "") for plot in panel.plots), *((plot, f", {NOT_APPLIED.title.lower()}") for plot in waiting)]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return (
        environment.get_template("plot.svg.j2").render(
            title=f"{titles} of {every} arms of {run.metadata.scenario} over time, in {panel.unit}",
            description=_description(run, panel.plots, waiting),
            plots=plots,
            roles=run.metadata.roles,
            width=_WIDTH,
            total=_TOP + len(plots) * (HEIGHT + _BETWEEN) - 20,
            left=_LEFT,
            plane=_WIDTH - _LEFT - _RIGHT,
            top=_TOP,
            pitch=HEIGHT + _BETWEEN,
            height=HEIGHT,
            wide=WIDE,
        )
        + "\n"
    )


def _description(run: RunRecord, plots: tuple[Plot, ...], waiting: tuple[Plot, ...]) -> str:
    """How to read it, and which run it is."""
    shades = [shade for plot in plots for shade in plot.shades]
    faults = list(dict.fromkeys(shade.what for shade in shades if shade.kind == "fault"))
    texts = ["Events over seconds since the start of the arm; the coloured area is the lag."]
    if faults:
        texts.append(f"Hatched: requests matched the {' or the '.join(faults)}.")
    if any(shade.kind == "down" for shade in shades):
        texts.append("Grey: no query was running, from the end of a process (dashed) to the start of the next query.")
    took = " and ".join(f"{plot.arm} arm {moment(run.arms[plot.arm].duration_s)} s" for plot in plots)
    texts.append(f"A run with seed {run.metadata.seed}: {took}.")
    if run.result and run.result.headroom and run.result.headroom.stretch > 1:
        texts.append(f"The machine was busy, so all times are {run.result.headroom.stretch:g} times those of the file.")
    texts += [f"{plot.arm.capitalize()} arm: {plot.summary}." for plot in plots]
    texts += [f"{NOT_APPLIED.title}, {plot.arm} arm: {plot.summary}." for plot in waiting]
    return " ".join(texts)


def _written(directory: Path) -> Path:
    """The drawing of the run in a directory, in its place. Raises UsageError."""
    run = read_run(directory)
    name, known = run.metadata.scenario, names()
    if name not in known:
        raise UsageError(f"{name} of {directory} has no page", hint=f"the pages are {', '.join(known)}")
    text = drawing(run)
    PLOTS.mkdir(parents=True, exist_ok=True)
    file = PLOTS / f"{name}.svg"
    file.write_text(text, encoding="utf-8")
    return file


def main() -> None:
    """Write a drawing for each run directory that is given."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m docs.generate.plots RUN_DIRECTORY…")
    for directory in map(Path, sys.argv[1:]):
        try:
            file = _written(directory)
        except UsageError as error:
            sys.exit(str(error))
        print(f"wrote docs/incidents/{file.name}; `python -m docs.generate` has its page show it")


if __name__ == "__main__":
    main()
