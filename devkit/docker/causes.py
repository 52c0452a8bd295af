"""What is wrong, and what a person can do, from the output of the docker command.

The texts are those of Docker Engine 20.10 to 28, Compose 2.20 to 2.40 and BuildKit; the first cause that fits wins.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from devkit.errors import StackError


class EngineError(StackError):
    """No Docker engine answers."""


class ImageError(StackError):
    """An image is missing and cannot be had."""


class PortError(StackError):
    """A port that a container was to publish is taken."""


@dataclass(frozen=True)
class Cause:
    """`pattern` in what was printed; `message` may use its groups."""

    pattern: re.Pattern[str]
    error: type[StackError]
    message: str
    hint: str


def _cause(pattern: str, error: type[StackError], message: str, hint: str) -> Cause:
    return Cause(re.compile(pattern, re.IGNORECASE), error, message, hint)


_START_ENGINE = "start it (Docker Desktop, or `systemctl start docker`); DOCKER_HOST says which one is asked"
_PULL = "pull it where the registry can be reached, and bring it here with `docker save` and `docker load`"

CAUSES: Sequence[Cause] = (
    _cause(
        r"permission denied while trying to connect to the docker (?:daemon|api)",
        EngineError,
        "the Docker engine does not let this user in",
        "add the user to the group `docker`, or use a rootless engine",
    ),
    _cause(
        r"cannot connect to the docker daemon(?: at (?P<place>\S+?)\.? Is)?|failed to connect to the docker api|"
        r"error during connect|is the docker daemon running|error reading from server|"
        r"(?:dial unix|unix socket).{0,200}?(?:no such file|connection refused)",
        EngineError,
        "no Docker engine answers",
        _START_ENGINE,
    ),
    _cause(
        r"unknown command: docker compose|'compose' is not a docker command|unknown shorthand flag: 'f' in -f|"
        r"unknown flag: --short",
        EngineError,
        "the docker command has no `compose`",
        "install the Compose plugin, version 2: docker-compose-plugin of Docker's own packages, or Docker Desktop",
    ),
    _cause(
        r"(?P<port>[\d.]+:\d+)[^\n]{0,80}?: (?:bind: )?address already in use|"
        r"bind for (?P<bound>[\d.]+:\d+) failed: port is already allocated|ports are not available[^\n]*",
        PortError,
        "a port that a container was to publish is taken",
        "leave the port's option out for a free port, or end what listens there",
    ),
    _cause(
        r"(?P<image>[\w./:-]+)?:? ?(?:pull access denied|manifest (?:unknown|for \S+ not found)|failed to resolve|"
        r"repository does not exist|toomanyrequests|"
        r"error response from daemon: (?:get|head) \"https://|no such host|network is unreachable|"
        r"proxyconnect tcp|x509: certificate|i/o timeout|tls handshake timeout|no such image)",
        ImageError,
        "an image is missing, and the registry did not give it",
        _PULL,
    ),
    _cause(
        r"no space left on device",
        StackError,
        "Docker's disk is full",
        "`docker system df` says what fills it, `docker system prune` makes room",
    ),
    _cause(
        r"range of cpus is from [\d.]+ to (?P<cpus>[\d.]+)",
        StackError,
        "the engine has fewer CPUs than docker-compose.yml gives to one container",
        "give the engine two CPUs, or lower `cpus` in docker-compose.yml",
    ),
)


def explain(what: str, printed: str) -> StackError:
    """The error for a docker command that failed at `what`, from its output."""
    last = _last_line(printed)
    for cause in CAUSES:
        if cause.pattern.search(printed):
            return cause.error(f"{what}: {cause.message}: {last}", hint=cause.hint)
    return StackError(f"{what}: {last}")


def _last_line(printed: str) -> str:
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    preferences: list[Callable[[str], bool]] = [
        lambda line: "error" in line.lower() or "cannot" in line.lower() or "denied" in line.lower(),
        lambda line: not line.lower().startswith(("run 'docker", "see 'docker", "is the docker daemon")),
    ]
    for is_preferred in preferences:
        if preferred := [line for line in lines if is_preferred(line)]:
            return preferred[-1]
    return lines[-1] if lines else "it printed nothing"
