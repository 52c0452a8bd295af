"""The stand-in for `python:3.11-slim`: a minimal Debian 12 with its own Python 3.11. The others build on it."""

import shutil
import ssl
import tempfile
from pathlib import Path

from tests.images.cached import cached
from tests.images.command import BuildError, run

_SUITE = "bookworm"
_PACKAGES = "python3,python3-pip,ca-certificates"
_UNREAD = ("var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale", "usr/share/man")
_BUNDLE = "etc/ssl/certs/ca-certificates.crt"


def base_archive() -> Path:
    """A tar file of the root."""
    if shutil.which("debootstrap") is None:
        raise BuildError("the base image is made with debootstrap, which is not installed")
    return cached(f"debian-{_SUITE}-python.tar", _make)


def import_options() -> list[str]:
    """The image's settings, for `docker import`."""
    settings = (
        'CMD ["python3"]',
        "ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin",
        f"ENV SSL_CERT_FILE=/{_BUNDLE}",
        'LABEL enrichment-devkit.stand-in="python"',
    )
    return [word for setting in settings for word in ("--change", setting)]


def _make(archive: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="devkit-root-") as directory:
        root = Path(directory)
        run(["debootstrap", "--variant=minbase", f"--include={_PACKAGES}", _SUITE, root])
        for place in _UNREAD:
            shutil.rmtree(root / place)
            (root / place).mkdir()
        # The public image's Python takes packages from pip without further ado.
        next(root.glob("usr/lib/python3*/EXTERNALLY-MANAGED")).unlink()
        for name, program in (("python", "python3"), ("python3", "python3"), ("pip", "pip3")):
            (root / "usr/local/bin" / name).symlink_to(f"/usr/bin/{program}")
        # What this machine trusts, the builds in the image must trust as well.
        if trusted := ssl.get_default_verify_paths().cafile:
            shutil.copyfile(trusted, root / _BUNDLE)
        run(["tar", "-C", root, "--one-file-system", "-cf", archive, "."])
