"""Makes a MediaWiki that can be served from Debian's packages: program files, settings, a database of its own.

The database's counters are moved far up before anything is written: an id of the wiki is then a number that occurs
nowhere else in an answer, and can be told from a size or a year.
"""

import os
import shutil
import sqlite3
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.conformance.edits import ADMIN
from tests.conformance.mediawiki.debian import Apt, FetchError, install_php, unpack

SITE_NAME: Final = "Conformance"
SECRET_KEY: Final = "conformance-suite-secret-key"
FIRST_IDS: Final = {"page": 410_000, "revision": 720_000, "user": 930_000, "logging": 640_000}
_HERE: Final = Path(__file__).parent
_DATABASE: Final = "conformance"


@dataclass(frozen=True)
class Installed:
    """A MediaWiki below `root`: its documents, and the database as the installer left it."""

    root: Path

    @property
    def documents(self) -> Path:
        """What the web server serves; MediaWiki is `w` in it."""
        return self.root / "documents"

    @property
    def pristine(self) -> Path:
        """The database files of a wiki without edits."""
        return self.root / "pristine"

    @property
    def data(self) -> Path:
        """The database files in use."""
        return self.root / "data"

    def reset(self) -> None:
        """Forgets all edits, accounts, sessions and caches."""
        shutil.rmtree(self.data, ignore_errors=True)
        shutil.copytree(self.pristine, self.data)


def install(cache: Path) -> Installed:
    """Fetches and installs what is not yet below `cache`; the database is a fresh one. Raises FetchError."""
    install_php()
    wiki = Installed(cache / "wiki")
    if not wiki.pristine.is_dir():
        shutil.rmtree(wiki.root, ignore_errors=True)
        packages = Apt(cache / "apt").fetch_binaries(cache / "packages")
        _lay_out(packages, wiki)
        _run_installer(wiki)
        _move_counters(wiki.data / f"{_DATABASE}.sqlite")
        wiki.data.rename(wiki.pristine)
    (wiki.documents / "w" / "settings.php").write_bytes((_HERE / "settings.php").read_bytes())
    wiki.reset()
    return wiki


def _lay_out(packages: tuple[Path, ...], wiki: Installed) -> None:
    unpacked = wiki.root / "unpacked"
    unpack(packages, unpacked)
    program = wiki.documents / "w"
    wiki.documents.mkdir(parents=True)
    (unpacked / "usr" / "share" / "mediawiki").rename(program)
    # Debian links these to places that only an installed package has.
    for name in ("LocalSettings.php", "config", "extensions", "images"):
        (program / name).unlink()
    (program / "extensions-core").rename(program / "extensions")
    (program / "images").mkdir()
    shutil.rmtree(unpacked)


def _run_installer(wiki: Installed) -> None:
    wiki.data.mkdir()
    program = wiki.documents / "w"
    command = [
        *("php", "maintenance/run.php", "install", "--dbtype", "sqlite", "--dbname", _DATABASE),
        *("--dbpath", str(wiki.data), "--confpath", str(program), "--scriptpath", "/w", "--server", "http://127.0.0.1"),
        *("--lang", "en", "--pass", ADMIN.password, SITE_NAME, ADMIN.name),
    ]
    done = subprocess.run(command, cwd=program, env=_environment(), capture_output=True, text=True, check=False)
    settings = program / "LocalSettings.php"
    if done.returncode or not settings.is_file():
        raise FetchError(f"MediaWiki's installer ended with {done.returncode}: {done.stdout}{done.stderr}")
    with settings.open("a", encoding="utf-8") as file:
        file.write('require_once __DIR__ . "/settings.php";\n')


def _move_counters(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        for table, first in FIRST_IDS.items():
            moved = connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (first, table))
            if moved.rowcount == 0:
                connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, first))
    connection.close()


def _environment() -> dict[str, str]:
    return {**os.environ, "CONFORMANCE_SECRET_KEY": SECRET_KEY}
