"""Running what the builds are made of, with the whole output in the error."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class BuildError(Exception):
    """A stand-in could not be made; the text says which command failed and what it printed."""


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 900,
    stdin: Path | None = None,
) -> str:
    """Standard output of a command. Raises BuildError."""
    try:
        with (stdin or Path(os.devnull)).open("rb") as source:
            done = subprocess.run(
                argv,
                cwd=cwd,
                env={**os.environ, **(env or {})},
                stdin=source,
                capture_output=True,
                timeout=timeout_s,
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{argv[0]}: {error}") from error
    if done.returncode != 0:
        output = (done.stderr + done.stdout).decode(errors="replace")[-3000:]
        raise BuildError(f"{' '.join(map(str, argv))} ended with {done.returncode}:\n{output}")
    return done.stdout.decode(errors="replace")
