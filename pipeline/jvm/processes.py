"""The JVMs of Spark on this machine, from `/proc`, so on Linux only."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import RefusedError

_ROLES = {
    "org.apache.spark.deploy.SparkSubmit": "driver",
    "org.apache.spark.executor.CoarseGrainedExecutorBackend": "executor",
    "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend": "executor",
    "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend": "executor",
}


@dataclass(frozen=True, slots=True)
class SparkJvm:
    """`started_by` is the command line of the job: of the process that has started the driver, else its own."""

    pid: int
    role: str
    started_by: str


def spark_jvms(proc: Path = Path("/proc")) -> tuple[SparkJvm, ...]:
    """By process id; those of other users too, as far as their command lines can be read."""
    return tuple(sorted(_found(proc), key=lambda jvm: jvm.pid))


def the_jvm(asked: int | None, jvms: tuple[SparkJvm, ...], proc: Path = Path("/proc")) -> int:
    """The JVM that was asked for: by its own number, or by that of a process above it, as the job's; without a number
    the only driver there is. Raises RefusedError.
    """
    if asked is not None:
        below = [jvm.pid for jvm in jvms if asked in (jvm.pid, *_above(jvm.pid, proc))]
        # A driver on one machine may have executors below the same process; it is the one that is meant.
        drivers = [jvm.pid for jvm in jvms if jvm.pid in below and jvm.role == "driver"]
        chosen = [asked] if asked in below else drivers or below
        # A JVM that is not Spark's can be asked as well.
        return chosen[0] if len(chosen) == 1 else asked
    drivers = [jvm.pid for jvm in jvms if jvm.role == "driver"] or [jvm.pid for jvm in jvms]
    if len(drivers) == 1:
        return drivers[0]
    if not jvms:
        raise RefusedError(
            "no JVM of Spark runs here", hint="run it on the driver's machine and in its container, or name the process"
        )
    listed = "\n".join(f"  {jvm.pid}  {jvm.role}  {jvm.started_by}" for jvm in jvms)
    raise RefusedError(f"{len(jvms)} JVMs of Spark run here:\n{listed}", hint="name one: heap-dump PID")


def _found(proc: Path) -> Iterator[SparkJvm]:
    for place in proc.iterdir():
        words = _command(place) if place.name.isdecimal() else ()
        role = next((role for main, role in _ROLES.items() if main in words), None)
        if role is None:
            continue
        above = next(iter(_above(int(place.name), proc)), None) if role == "driver" else None
        yield SparkJvm(int(place.name), role, " ".join(_command(proc / str(above)) if above else words))


def _command(place: Path) -> tuple[str, ...]:
    """Empty for a process that has ended."""
    try:
        return tuple((place / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0"))
    except OSError:
        return ()


def _above(pid: int, proc: Path) -> Iterator[int]:
    """The processes above, nearest first, the machine's first process left out."""
    while True:
        try:
            # The name may hold spaces and brackets; the parent is the second field behind it.
            pid = int((proc / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            return
        if pid <= 1:
            return
        yield pid
