"""Checks before a stack of containers is begun: an engine that answers, Compose, memory for the limits."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from devkit.docker.access import DockerAccess
from devkit.docker.causes import EngineError
from devkit.docker.command import docker
from devkit.errors import SetupError, StackError

OLDEST_COMPOSE = (2, 20)
OLDEST_ENGINE = (20, 10)
_MIB = 1024 * 1024
_VERSION = re.compile(r"v?(\d+)\.(\d+)")

Ask = Callable[[Sequence[str], str], str]


@dataclass(frozen=True)
class Engine:
    """The engine that answers."""

    version: str
    memory_bytes: int


def check_engine(access: DockerAccess, *, needed_bytes: int = 0, ask: Ask | None = None) -> Engine:
    """Raises StackError when no engine answers, when it is too old, or has less memory than the containers may use."""
    ask = ask or _ask(access)
    answer = ask(["info", "--format", "{{json .}}"], "asking the Docker engine what it is")
    try:
        info = json.loads(answer)
        # Without an engine the command reports only itself, and the version is empty.
        engine = Engine(info["ServerVersion"] or info["no engine"], info["MemTotal"])
    except (ValueError, KeyError) as error:
        raise EngineError(
            f"no Docker engine answers: {_own_error(answer)}", hint="start it; DOCKER_HOST says which one is asked"
        ) from error
    if _number(engine.version) < OLDEST_ENGINE:
        raise SetupError(
            f"Docker engine {engine.version} is too old, {_text(OLDEST_ENGINE)} is needed", hint="bring it up to date"
        )
    if engine.memory_bytes < needed_bytes:
        raise StackError(
            f"the Docker engine has {engine.memory_bytes // _MIB} MiB of memory, "
            f"the containers may use {needed_bytes // _MIB} MiB",
            hint="give the engine more memory (Docker Desktop: Settings, Resources), or use `--stack embedded`",
        )
    return engine


def check_compose(access: DockerAccess, *, ask: Ask | None = None) -> str:
    """The version of Compose. Raises StackError when it is missing, SetupError when it is too old."""
    ask = ask or _ask(access)
    version = ask(["compose", "version", "--short"], "asking for Compose").strip()
    if _number(version) < OLDEST_COMPOSE:
        raise SetupError(
            f"Docker Compose {version} is too old, {_text(OLDEST_COMPOSE)} is needed",
            hint="bring the plugin up to date",
        )
    return version


def _ask(access: DockerAccess) -> Ask:
    return lambda arguments, what: docker(access, arguments, what=what)


def _number(version: str) -> tuple[int, int]:
    match = _VERSION.match(version.strip())
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _text(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _own_error(answer: str) -> str:
    try:
        return "; ".join(json.loads(answer).get("ServerErrors") or ["it told no version"])
    except ValueError:
        return answer.strip()[:200] or "it said nothing"
