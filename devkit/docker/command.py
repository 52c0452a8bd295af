"""Running the docker command for short questions and orders; what takes long is a process of the run instead."""

import subprocess
from collections.abc import Sequence
from datetime import timedelta

from devkit.docker.access import DockerAccess
from devkit.docker.causes import EngineError, explain

_DEADLINE = timedelta(seconds=30)


def docker(access: DockerAccess, arguments: Sequence[str], *, what: str, deadline: timedelta = _DEADLINE) -> str:
    """Standard output of one docker command. Raises StackError that says what failed and why.

    `what` completes the sentence: "asking the engine for its version".
    """
    try:
        done = subprocess.run(
            [access.command, *arguments],
            env=access.environ(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=deadline.total_seconds(),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EngineError(
            f"{what}: the Docker engine did not answer within {deadline.total_seconds():g} s",
            hint="restart the engine; `docker version` shows whether it answers",
        ) from error
    except OSError as error:
        raise EngineError(f"{what}: {access.command} cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        raise explain(what, done.stderr or done.stdout)
    return done.stdout
