"""Programs built from Go modules, pinned: MinIO's server and the Compose plugin."""

import shutil
from pathlib import Path

from tests.images.cached import cached
from tests.images.command import BuildError, run

# The commit of the release, which is that of the public image; the module proxy knows no tag of that form.
_MINIO = "github.com/minio/minio@v0.0.0-20250907161309-07c3a429bfed"
_MINIO_RELEASE = "RELEASE.2025-09-07T16-13-09Z"
_COMPOSE_VERSION = "v2.40.3"
_COMPOSE = Path(__file__).parent / "compose"
# Without optimisation a build from nothing takes three quarters of the processor's time, and no test waits for these.
_QUICK_BUILD = ("-trimpath", "-gcflags", "all=-N -l")


def minio() -> Path:
    """The server, linked statically."""

    def make(path: Path) -> None:
        package = "github.com/minio/minio/cmd"
        stamp = _MINIO_RELEASE.removeprefix("RELEASE.")
        date, time = stamp.split("T")
        flags = f"-s -w -X {package}.ReleaseTag={_MINIO_RELEASE} -X {package}.Version={date}T{time.replace('-', ':')}"
        into = path.with_suffix(".bin")
        run([_go(), "install", *_QUICK_BUILD, "-ldflags", flags, _MINIO], env={"GOBIN": str(into), "CGO_ENABLED": "0"})
        shutil.move(into / "minio", path)
        into.rmdir()

    return cached(f"minio-{_MINIO_RELEASE}", make)


def compose_plugin() -> Path:
    """`docker-compose` as the plugin of the docker command."""

    def make(path: Path) -> None:
        version = f"-s -w -X github.com/docker/compose/v2/internal.Version={_COMPOSE_VERSION}"
        program = "github.com/docker/compose/v2/cmd"
        argv = [_go(), "build", *_QUICK_BUILD, "-ldflags", version, "-o", path, program]
        run(argv, cwd=_COMPOSE, env={"CGO_ENABLED": "0"})

    return cached(f"docker-compose-{_COMPOSE_VERSION}", make)


def _go() -> str:
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if go is None:
        raise BuildError("MinIO and Compose are built with Go, and there is none on PATH")
    return go
