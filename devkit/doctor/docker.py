"""Docker: only the stacks `compose` and `testcontainers` need it, so its absence is no failure."""

import shutil
import subprocess
from collections.abc import Callable
from datetime import timedelta

from devkit.docker.access import access_by
from devkit.docker.preflight import check_compose
from devkit.doctor.finding import MachineFinding
from devkit.errors import DevkitError

_DEADLINE = timedelta(seconds=10)


def check_docker(which: Callable[[str], str | None] = shutil.which) -> MachineFinding:
    """Asks the engine for its version; ``which`` finds the command."""
    command = which("docker")
    if command is None:
        return MachineFinding("docker", "ok", "not found, and not needed")
    try:
        run = subprocess.run(
            [command, "version", "--format", "{{.Server.Version}}"],
            capture_output=True,
            text=True,
            timeout=_DEADLINE.total_seconds(),
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        return _no_answer(command, str(error))
    if run.returncode != 0:
        return _no_answer(command, (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1])
    engine = f"engine {run.stdout.strip()} answers"
    try:
        return MachineFinding("docker", "ok", f"{engine}, Compose {check_compose(access_by(command))}")
    except DevkitError as error:
        return MachineFinding("docker", "warn", f"{engine}, but not for `--stack compose`: {error}", error.hint)


def _no_answer(command: str, problem: str) -> MachineFinding:
    return MachineFinding(
        "docker",
        "warn",
        f"{command} found, but its engine does not answer: {problem}",
        "nothing here needs it; start it if you want containers",
    )
