"""Fetches MediaWiki from Debian, from the mirror that this machine's apt already uses.

MediaWiki 1.43 is in Debian 13, which most machines are not: its suite gets a lists folder of its own in the cache, so
that the machine's own apt never hears of it. PHP is the machine's own.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

SUITE: Final = "trixie"
KEYRING: Final = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
BINARIES: Final = ("mediawiki", "mediawiki-classes")
SOURCE: Final = "mediawiki"
DEFAULT_CACHE: Final = platformdirs.user_cache_path("enrichment-devkit", appauthor=False) / "mediawiki"
PHP: Final = ("php8.2-cli", "php8.2-sqlite3", "php8.2-mbstring", "php8.2-xml", "php8.2-intl", "php8.2-apcu")


class FetchError(Exception):
    """Something that this machine lacks, with what to do about it."""


@dataclass(frozen=True)
class Apt:
    """apt-get with lists and cache below `folder`, which knows Debian's `SUITE` and nothing else."""

    folder: Path

    def fetch_binaries(self, into: Path) -> tuple[Path, ...]:
        """Downloads `BINARIES`; returns the .deb files. Raises FetchError."""
        return self._fetch(into, "*.deb", "download", *BINARIES)

    def fetch_source(self, into: Path) -> Path:
        """Downloads the source package; returns its upstream archive. Raises FetchError."""
        return self._fetch(into, "*.orig.tar.*", "source", "--download-only", SOURCE)[0]

    def _fetch(self, into: Path, pattern: str, *command: str) -> tuple[Path, ...]:
        if not any(into.glob(pattern)):
            self._update()
            # Only a whole download becomes the folder, so that a broken one is begun anew.
            part = into.with_name(into.name + ".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            self._run(*command, cwd=part)
            shutil.rmtree(into, ignore_errors=True)
            part.rename(into)
        return tuple(sorted(into.glob(pattern)))

    def _update(self) -> None:
        (self.folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        (self.folder / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        mirror = _mirror()
        lines = (f"{kind} [signed-by={KEYRING}] {mirror} {SUITE} main\n" for kind in ("deb", "deb-src"))
        (self.folder / "sources.list").write_text("".join(lines), encoding="utf-8")
        self._run("update", cwd=self.folder)

    def _run(self, *arguments: str, cwd: Path) -> None:
        options = {
            "Dir::Etc::sourcelist": self.folder / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State::lists": self.folder / "lists",
            "Dir::Cache": self.folder / "cache",
            "APT::Sandbox::User": "root",
        }
        settings = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
        _run(["apt-get", "-q", *settings, *arguments], cwd=cwd)


def install_php() -> None:
    """Sees to it that PHP with what MediaWiki needs of it is there; as root it installs it. Raises FetchError."""
    if not missing_php():
        return
    command = ["apt-get", "install", "-qy", "--no-install-recommends", *PHP]
    try:
        _run(command, cwd=Path("/"))
    except FetchError as error:
        raise FetchError(f"{error}\nhint: as root: {' '.join(command)}") from None


def missing_php() -> set[str]:
    """The modules of PHP that are not there; `php` itself when it is not."""
    php = shutil.which("php")
    if php is None:
        return {"php"}
    listed = subprocess.run([php, "-m"], capture_output=True, text=True, check=True).stdout.split()
    return {"sqlite3", "mbstring", "xml", "intl", "apcu"} - set(listed)


def unpack(packages: tuple[Path, ...], into: Path) -> None:
    """Unpacks .deb files below `into`, installing nothing. Raises FetchError."""
    into.mkdir(parents=True, exist_ok=True)
    for package in packages:
        _run(["dpkg-deb", "-x", str(package), str(into)], cwd=into)


def _mirror() -> str:
    columns = "$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI)"
    command = ["apt-get", "indextargets", "--format", columns, "Created-By: Packages"]
    for line in _run(command, cwd=Path("/")).splitlines():
        if found := re.fullmatch(r"Debian\|Debian\|main\|(.+)", line):
            return found[1]
    raise FetchError("apt has no Debian mirror among its sources\nhint: record on a Debian, after `apt-get update`")


def _run(command: list[str], *, cwd: Path) -> str:
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise FetchError(f"{command[0]} is not there\nhint: record on a Debian") from None
    if done.returncode:
        raise FetchError(f"{' '.join(command)} ended with {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done.stdout
