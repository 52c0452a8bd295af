"""`devkit up | down | status | ps | logs`: the stack by itself."""

import contextlib
import socket
import sys
import time
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import click

from devkit.cli.chosen_stack import by_checkout, checkout_text, choose_run, named, run_id_option
from devkit.cli.options import extend_option, require_addresses_fit, stack_options
from devkit.cli.stack_report import keep_stack, report_faults, report_released
from devkit.errors import StackError, UsageError
from devkit.guardian.run_state import LOGS, RunState, known_runs, lease_path, unreadable_states
from devkit.stack.parts.liveness import answers

_ANSWERING = timedelta(seconds=2)


@click.command(short_help="Bring up a stack with the pipeline, and leave it up.")
@stack_options
@click.option("--kafka-port", type=click.IntRange(1, 65535), help="Port for Kafka. Default: any free port.")
@click.option("--s3-port", type=click.IntRange(1, 65535), help="Port for the object store. Default: any free port.")
@click.option("--mock-port", type=click.IntRange(1, 65535), help="Port for the mock API. Default: any free port.")
@click.option(
    "--pipeline/--no-pipeline",
    default=True,
    show_default=True,
    help="Start a job on the stack and the event bus, which makes events of the mock's edits, or leave them out.",
)
@click.option(
    "--job",
    "job_name",
    metavar="NAME",
    help="Job to start: html-enrichment, content-enrichment, edit-counts, one of an extension, or rdf-updater: "
    "rdf-decide, rdf-resolve and apply, with a mock of a Wikibase and a triple store. Default: html-enrichment.",
)
@click.option(
    "--brokers", type=click.Choice(["1", "3"]), default="1", show_default=True, help="Number of Kafka brokers."
)
@click.option("--triple-store", is_flag=True, help="Bring up a triple store too, which speaks SPARQL.")
@click.option(
    "--triple-store-port", type=click.IntRange(1, 65535), help="Port for the triple store. Default: any free port."
)
@click.option("--proxied", is_flag=True, help="Put the kit's proxy before all parts, for faults of the network.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Directory that logs are written to.",
)
@extend_option
def up(
    backend: str,
    addresses: Path | None,
    job_name: str | None,
    kafka_port: int | None,
    s3_port: int | None,
    mock_port: int | None,
    triple_store_port: int | None,
    brokers: str,
    out: Path,
    extend: tuple[str, ...],  # noqa: ARG001 — the option has loaded them
    *,
    pipeline: bool,
    triple_store: bool,
    proxied: bool,
) -> None:
    """Bring up Kafka, object store, mock API, the pipeline and the event bus, and leave them up.

    With `--stack external` the first three are servers of your own, and only the others are started.
    """
    from devkit.guardian import Guardian
    from devkit.headroom.load_average import busy_sentence
    from devkit.play.run_directory import make_run_directory
    from devkit.programs.program_end import require_no_failure
    from devkit.programs.spark.place import require_spark
    from devkit.programs.spark.standalone import default_topics, places_of, start_pipeline
    from devkit.programs.stack_job import DEFAULT, find_stack_job, reorder_note
    from devkit.programs.standalone_apply import start_apply
    from devkit.report.progress import heartbeat
    from devkit.stack.registry import add_event_bus, start_line, start_stack
    from devkit.stack.stack import ALL_PARTS, Ports, StackRequest
    from devkit.stack.wikibase_pages import SEED, wikibase_pages
    from devkit.waiting import explaining_timeouts

    require_addresses_fit(backend, addresses)
    if job_name is not None and not pipeline:
        raise UsageError(f"--job {job_name} and --no-pipeline", hint="give one of them")
    job = find_stack_job(job_name or DEFAULT)
    if pipeline:
        require_spark()
    triple_store |= job.applies
    if triple_store_port is not None and not triple_store:
        raise UsageError("--triple-store-port is for a triple store, and none is asked for", hint="add --triple-store")
    topics = default_topics(job) if pipeline else ()
    ports = Ports(kafka_port, s3_port, mock_port, triple_store_port)
    awaited = ["the stack"]
    request = StackRequest(
        ports,
        addresses,
        topics,
        brokers=int(brokers),
        proxied=ALL_PARTS if proxied else frozenset(),
        triple_store=triple_store,
        awaiting=awaited.append,
    )

    def waiting_for() -> contextlib.AbstractContextManager[None]:
        return heartbeat(lambda text: click.echo(text, err=True), lambda: f"waiting for {awaited[-1]}")

    directory = make_run_directory(out, "stack").absolute()
    with Guardian() as guardian, explaining_timeouts(busy_sentence):
        click.echo(start_line(backend), err=True)
        with waiting_for():
            stack = start_stack(backend, guardian, directory, request)
        awaited.append("the pipeline")
        spark_ui = None
        with stack.leave_on_failure(lambda text: click.echo(f"warning: {text}", err=True)), waiting_for():
            if pipeline:
                click.echo("starting the pipeline", err=True)
                if job.before is not None:
                    click.echo(reorder_note(job.before), err=True)
                with stack.named_failures():
                    if job.wikis:
                        stack.mock_api.populate(seed=SEED, catalog=wikibase_pages(), rules=())
                    jobs = start_pipeline(guardian, stack, directory, job)
                    programs, spark_ui = list(jobs.processes), jobs.spark_ui
                    if job.applies:
                        programs.append(start_apply(guardian, stack, directory, places_of(stack, job), programs))
                    stack = add_event_bus(stack, guardian, directory, stream=job.stream)
                    require_no_failure(programs)
            stack.require_running()
        keep_stack(stack, guardian, directory, spark_ui=spark_ui)


@click.command()
@click.argument("stack", metavar="[ID]", required=False)
@run_id_option
@click.option("--all", "every", is_flag=True, help="End all stacks that this checkout left up.")
def down(stack: str | None, run_id: str | None, *, every: bool) -> None:
    """End the stack that this checkout left up. Where there are several, choose by ID or with --all."""
    if stack is not None and run_id not in (None, stack):
        raise UsageError(f"{stack} and --run-id {run_id}", hint="give one of them")
    run_id = run_id or stack
    if every and run_id is not None:
        raise UsageError(f"--all and --run-id {run_id}", hint="give one of them")
    runs, foreign = by_checkout(named(run_id, _kept()))
    if run_id is not None:
        runs, foreign = [*runs, *foreign], []
    if len(runs) > 1 and not every:
        up_now = ", ".join(run.run_id for run in runs)
        raise UsageError(
            f"{len(runs)} stacks are up: {up_now}",
            hint=f"`devkit down {runs[-1].run_id}` ends that one, `devkit down --all` all of them",
        )
    if not runs:
        click.echo("no stack of this checkout is up" if foreign else "no stack is up")
    from devkit.guardian.cleanup import end_run

    for run in runs:
        end_run(run)
        if lease_path(run.run_id).exists():
            from devkit.stack.external_lease import release_ended

            report_released(release_ended(run.run_id))
        click.echo(f"stack {run.run_id} is down")
    for run in foreign:
        click.echo(f"stack {run.run_id} of {checkout_text(run)} stays up; `devkit down {run.run_id}` ends it")


@click.command(short_help="List the stacks that are up, and whether they answer.")
def status() -> None:
    """List the stacks that are up, with the address of each part, whether it answers, and the fault that holds it.

    Exit 3 when a part does not answer.
    """
    runs = [run for run in known_runs() if run.guardian_is_alive()]
    if not runs:
        click.echo("no stack is up")
    silent = False
    for run in runs:
        click.echo(f"stack {run.run_id} ({'kept' if run.released else 'of a command that is running'})")
        for name, address in run.addresses.items():
            state = "" if name == LOGS else ("answers" if _answers(address) else "DOES NOT ANSWER")
            silent |= state == "DOES NOT ANSWER"
            click.echo(f"  {name:<14} {address}  {state}".rstrip())
        report_faults(run)
    for path in unreadable_states():
        click.echo(f"warning: {path} is damaged; `devkit clean` ends what is left of that run", err=True)
    sys.exit(StackError.exit_code if silent else 0)


@click.command(short_help="Print the logs of a stack that is up.")
@run_id_option
@click.option("-f", "--follow", is_flag=True, help="Go on with new lines until Ctrl-C or until the stack is down.")
def logs(run_id: str | None, *, follow: bool) -> None:
    """Print the logs of the parts of a stack that is up; each line begins with the name of its part."""
    none_up = "`devkit up` starts one; a run's logs are in its directory below runs/"
    run = choose_run(run_id, [run for run in _kept() if LOGS in run.addresses], none_up=none_up)
    directory = Path(run.addresses[LOGS])
    offsets: dict[Path, int] = {}
    with contextlib.suppress(KeyboardInterrupt):  # the way to end it; the stack stays up
        while True:
            for path in sorted([*directory.glob("*.log"), *directory.glob("*.out")]):
                _print_new(path, offsets)
            if not follow or not run.guardian_is_alive():
                return
            time.sleep(0.3)


def _print_new(path: Path, offsets: dict[Path, int]) -> None:
    with path.open("rb") as file:
        file.seek(offsets.get(path, 0))
        data = file.read()
    lines = data[: data.rfind(b"\n") + 1]
    offsets[path] = offsets.get(path, 0) + len(lines)
    for line in lines.decode(errors="replace").splitlines():
        click.echo(f"{path.stem:<14} {line}")


def _kept() -> list[RunState]:
    return [run for run in known_runs() if run.guardian_is_alive() and run.released]


def _answers(address: str) -> bool:
    """Asks in the part's protocol, as a paused process accepts connections too; TLS is not spoken."""
    if "," in address:
        return all(_answers(part) for part in address.split(","))
    if not address.startswith("https://"):
        return answers(address, _ANSWERING)
    place = urlsplit(address)
    try:
        with socket.create_connection((place.hostname or "", place.port or 443), _ANSWERING.total_seconds()):
            return True
    except OSError:
        return False


@click.command()
@run_id_option
def resume(run_id: str | None) -> None:
    """Resume a scenario that waits at a `--pause-at` point."""
    from devkit.debug.pause_point import is_paused
    from devkit.debug.pause_point import resume as let_go_on

    runs = [run for run in known_runs() if run.guardian_is_alive() and not run.released]
    chosen = [run for run in runs if run_id in (None, run.run_id)]
    if not chosen:
        running = ", ".join(run.run_id for run in runs) or "none"
        raise UsageError(f"no scenario {run_id or ''} is running".replace("  ", " "), hint=f"running are: {running}")
    paused = [run for run in chosen if is_paused(run.directory)]
    if not paused:
        runs_text = f"run {run_id} does not wait" if run_id else "no run waits"
        raise UsageError(f"{runs_text} at a `--pause-at` point", hint="a run that waits says `paused at …`")
    run = choose_run(run_id, paused, none_up="", kind="paused run")
    let_go_on(run.directory)
    click.echo(f"run {run.run_id} goes on")
