"""`python -m pipeline heap-dump`: exit 0, 1 the JVM did not answer, 2 refused."""

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from pipeline.errors import RefusedError
from pipeline.jvm.attach import ask
from pipeline.jvm.class_totals import in_histogram, table
from pipeline.jvm.heap_dump import read_dump
from pipeline.jvm.processes import spark_jvms, the_jvm
from pipeline.ops.exit_codes import exit_codes
from pipeline.ops.number import Number

_MIB = 1 << 20


@click.command("heap-dump", short_help="Dump the heap of a running job's JVM, and show its largest classes.")
@click.argument("pid", type=click.IntRange(min=1), required=False)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="File to write, which must not exist. Default: heap-PID-TIME.hprof in this directory.",
)
@click.option("--no-file", is_flag=True, help="Show the largest classes only. Default: write the file too.")
@click.option(
    "--read", "read_file", type=click.Path(path_type=Path), help="Show the largest classes of a dump that is there."
)
@click.option(
    "--classes",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Number of classes to show.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=Number(min=0, min_open=True),
    default=300,
    show_default=True,
    help="Seconds to wait for the JVM.",
)
def heap_dump(
    pid: int | None, output: Path | None, read_file: Path | None, *, no_file: bool, classes: int, timeout_s: float
) -> None:
    """Dump the heap of a job's JVM, and show which classes take most of it. The job stands still meanwhile.

    PID is the JVM's process, or that of the job. Default: the only driver on this machine. A full collection comes
    first, so only what is in use is counted. Run it as the job's user and in its container; the file is written there
    by the JVM, is about as large as what is in use, and holds what the job read, passwords included.
    """
    with exit_codes():
        if read_file is not None:
            if pid is not None or output is not None or no_file:
                raise RefusedError("--read is for a file alone", hint="leave out PID, --output and --no-file")
            _show_file(read_file, classes)
            return
        if no_file and output is not None:
            raise RefusedError("--no-file and --output contradict each other", hint="give one of them")
        jvm = the_jvm(pid, spark_jvms())
        file = None if no_file else _new_file(output or Path(f"heap-{jvm}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.hprof"))
        for line in table(in_histogram(ask(jvm, "inspectheap", "-live", timeout_s=timeout_s)), classes):
            click.echo(line)
        if file is not None:
            ask(jvm, "dumpheap", str(file), "-live", timeout_s=timeout_s)
            size = f", {file.stat().st_size / _MIB:.0f} MiB" if file.exists() else f", where JVM {jvm} runs"
            click.echo(f"{file}{size}")


def _new_file(file: Path) -> Path:
    """Where the JVM is to write: its directory is another one than this command's."""
    absolute = Path(os.path.abspath(file))  # noqa: PTH100 — a link is to stay one
    if absolute.exists():
        raise RefusedError(f"{absolute} exists", hint="name another file, as a dump replaces none")
    return absolute


def _show_file(file: Path, classes: int) -> None:
    found = read_dump(file)
    for line in table(found.classes, classes):
        click.echo(line)
    if not found.is_whole:
        click.echo("the dump ends in the middle: these are the objects up to there", err=True)
