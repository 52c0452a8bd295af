"""Runs MediaWiki's own tests of its API against any address: `python -m tests.conformance.api_testing http://…/w/`.

The framework comes from npm, the tests from Debian's source package of MediaWiki; both go into a cache directory. The
framework's account is an administrator of the wiki, and it has the wiki's secret key, to run jobs.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.conformance.edits import ADMIN
from tests.conformance.mediawiki.debian import DEFAULT_CACHE, Apt, FetchError
from tests.conformance.mediawiki.install import SECRET_KEY

PACKAGES: Final = ("api-testing@1.8.0", "mocha@11.1.0")
SUITES: Final = tuple(
    name.format(suite)
    for name in ("content.v1/{}.js", "{}Legacy.js")
    for suite in ("Page", "Revision", "Creation", "Update")
)
NEEDS_VARIANTS: Final = "[Vv]ariant conversion|Variant redirects"
NEEDS_PROTECTION: Final = "protected (page|title) without"
_TESTS_INSIDE: Final = "tests/api-testing/REST/"


@dataclass(frozen=True)
class Outcome:
    """How the tests ended; `failures` has a line or more for each that failed."""

    passed: int
    failures: tuple[str, ...]


@dataclass(frozen=True)
class Suite:
    """Framework and tests below `folder`."""

    folder: Path

    def run(self, base: str, *, without: Sequence[str], secret_key: str = SECRET_KEY) -> Outcome:
        """Runs all tests against a base address that ends in `/w/`, but for those whose names one of the patterns
        `without` fits. Raises FetchError when the run itself fails.
        """
        root_user = {"name": ADMIN.name, "password": ADMIN.password}
        configuration = {
            "base_uri": base,
            "main_page": "Main_Page",
            "root_user": root_user,
            "secret_key": secret_key,
            "extra_parameters": {},
        }
        selection = ["--invert", "--grep", "|".join(without)] if without else []
        files = [str(self.folder / "REST" / suite) for suite in SUITES]
        with tempfile.TemporaryDirectory() as scratch:
            report = Path(scratch) / "report.json"
            config = Path(scratch) / "config.json"
            config.write_text(json.dumps(configuration), encoding="utf-8")
            mocha = str(self.folder / "node_modules" / ".bin" / "mocha")
            command = [mocha, "--timeout", "0", "--reporter", "json", "--reporter-option", f"output={report}"]
            environment = {**os.environ, "API_TESTING_CONFIG_FILE": str(config)}
            environment.pop("REST_BASE_URL", None)
            done = subprocess.run(
                [*command, *selection, *files],
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            if not report.is_file():
                raise FetchError(f"mocha ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
            return _outcome(json.loads(report.read_text(encoding="utf-8")))


def fetch(cache: Path = DEFAULT_CACHE) -> Suite:
    """Fetches what is not yet below `cache`. Raises FetchError, also where node or npm are not there."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise FetchError(f"{program} is not there\nhint: install Node.js 18 or later")
    suite = Suite(cache / "api-testing")
    suite.folder.mkdir(parents=True, exist_ok=True)
    if not (suite.folder / "node_modules" / ".bin" / "mocha").exists():
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(suite.folder), *PACKAGES]
        done = subprocess.run(command, cwd=suite.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise FetchError(f"npm ended with {done.returncode}: {done.stdout}{done.stderr}")
    if not (suite.folder / "REST").is_dir():
        _unpack_tests(Apt(cache / "apt").fetch_source(cache / "source"), suite.folder)
    return suite


def _unpack_tests(archive: Path, folder: Path) -> None:
    part = folder / "REST.part"
    shutil.rmtree(part, ignore_errors=True)
    with tarfile.open(archive) as tar:
        for member in tar:
            _, _, inside = member.name.partition("/")
            if member.isfile() and inside.startswith(_TESTS_INSIDE):
                file = part / inside.removeprefix(_TESTS_INSIDE)
                file.parent.mkdir(parents=True, exist_ok=True)
                content = tar.extractfile(member)
                assert content is not None
                file.write_bytes(content.read())
    part.rename(folder / "REST")


def _outcome(report: dict[str, Any]) -> Outcome:
    failures = (f"{test['fullTitle']}: {test['err'].get('message', '')}" for test in report["failures"])
    return Outcome(report["stats"]["passes"], tuple(failures))


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 when all tests passed, 1 when not, 3 when they could not be run."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance.api_testing", description="MediaWiki's API tests"
    )
    parser.add_argument("base", help="such as http://127.0.0.1:8080/w/")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--variants", action="store_true", help="the wiki converts language variants")
    options = parser.parse_args(arguments)
    try:
        without = () if options.variants else (NEEDS_VARIANTS,)
        outcome = fetch(options.cache.resolve()).run(options.base, without=without)
    except FetchError as error:
        sys.stderr.write(f"cannot run: {error}\n")
        return 3
    for failure in outcome.failures:
        sys.stdout.write(f"failed: {failure}\n")
    sys.stdout.write(f"{outcome.passed} passed, {len(outcome.failures)} failed\n")
    return 1 if outcome.failures or not outcome.passed else 0


if __name__ == "__main__":
    sys.exit(main())
