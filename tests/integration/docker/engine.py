"""A Docker engine for the tests: the one that answers, else one started here, which ends with the session.

It needs root and Linux. Engine and debootstrap come from apt where they are missing, the Compose plugin and the images
from `tests.images`. What could not be had is an `EngineMissingError` that says why.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO

from devkit.docker.access import find_docker
from devkit.docker.preflight import check_compose, check_engine
from devkit.errors import DevkitError
from devkit.guardian import Guardian
from devkit.jvm.cache import cache_dir
from devkit.stack.parts.part_life import require_running
from devkit.waiting import wait_until
from tests.images.command import BuildError, run
from tests.images.go_programs import compose_plugin
from tests.images.stand_ins import Docker, provide

_STARTING = timedelta(seconds=60)
_ENDING = timedelta(seconds=60)
_PACKAGES = {"dockerd": "docker.io", "docker": "docker.io", "debootstrap": "debootstrap"}


class EngineMissingError(Exception):
    """There is no engine, or it cannot run the stacks; the text says why."""


@dataclass(frozen=True)
class TestEngine:
    """The variables that lead the docker command to the engine, and which of its images are stand-ins."""

    __test__ = False

    environment: dict[str, str]
    stand_ins: tuple[str, ...]


@contextlib.contextmanager
def an_engine() -> Iterator[TestEngine]:
    """An engine with Compose and all images; raises EngineMissingError."""
    with contextlib.ExitStack() as stack:
        before = dict(os.environ)
        stack.callback(_restore, before)
        try:
            if not _answers():
                _install()
                os.environ["DOCKER_HOST"] = stack.enter_context(_own_engine())
            # What has to be built takes minutes: side by side.
            builds = stack.enter_context(ThreadPoolExecutor())
            plugin = None if _has_compose() else builds.submit(compose_plugin)
            stand_ins = provide(Docker())
            if plugin is not None:
                config = stack.enter_context(tempfile.TemporaryDirectory(prefix="devkit-docker-config-"))
                _install_compose(plugin.result(), Path(config))
        except (BuildError, DevkitError) as error:
            raise EngineMissingError(str(error)) from error
        environment = {name: value for name, value in os.environ.items() if name.startswith("DOCKER_")}
        yield TestEngine(environment, tuple(stand_ins))


def _restore(environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)


def _answers() -> bool:
    try:
        check_engine(find_docker())
    except DevkitError:
        return False
    return True


def _install() -> None:
    absent = {package for program, package in _PACKAGES.items() if shutil.which(program) is None}
    if sys.platform != "linux" or os.geteuid() != 0:
        raise EngineMissingError("no Docker engine answers, and only root on Linux can start one here")
    if absent:
        if shutil.which("apt-get") is None:
            raise EngineMissingError(f"no Docker engine answers, and without apt {', '.join(absent)} cannot be had")
        quiet = {"DEBIAN_FRONTEND": "noninteractive"}
        run(["apt-get", "update", "-q"], env=quiet)
        run(["apt-get", "install", "-qy", "--no-install-recommends", *sorted(absent)], env=quiet)


@contextlib.contextmanager
def _own_engine() -> Iterator[str]:
    """Start an engine with everything of its own; yields its address."""
    # Its images stay for the next session, unless another session uses them now.
    kept = cache_dir() / "tests" / "engine"
    kept.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        lock = stack.enter_context((kept / "lock").open("w"))
        # The path of a socket has to be short.
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dk-", ignore_cleanup_errors=True)))
        data = kept / "data" if _is_ours(lock) else place / "data"
        address = f"unix://{place}/docker.sock"
        # The guardian ends it even when the tests are killed.
        guardian = stack.enter_context(Guardian())
        engine = guardian.spawn(
            "dockerd",
            [
                *("dockerd", "--host", address, "--data-root", str(data), "--exec-root", str(place / "exec")),
                *("--pidfile", str(place / "pid"), "--log-level", "warn"),
            ],
            logs=place / "logs",
        )

        def answers() -> bool:
            require_running(engine)
            asked = subprocess.run(["docker", "--host", address, "info"], capture_output=True, check=False)
            return asked.returncode == 0

        try:
            wait_until(answers, what="dockerd to answer", deadline=_STARTING)
            yield address
        finally:
            # Asked for its end it unmounts what it mounted.
            engine.signal(signal.SIGTERM)
            wait_until(lambda: engine.exit_code is not None, what="dockerd to end", deadline=_ENDING)


def _is_ours(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _has_compose() -> bool:
    try:
        check_compose(find_docker())
    except DevkitError:
        return False
    return True


def _install_compose(plugin: Path, config: Path) -> None:
    plugin.chmod(0o755)
    (config / "cli-plugins").mkdir()
    (config / "cli-plugins" / "docker-compose").symlink_to(plugin)
    os.environ["DOCKER_CONFIG"] = str(config)
    check_compose(find_docker())
