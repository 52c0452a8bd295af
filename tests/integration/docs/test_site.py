"""The site is built without a warning, and a browser fetches nothing from elsewhere to show it."""

import re
import subprocess
import sys
from pathlib import Path

ROOMS = ("docs", "docs/runbooks")
REPOSITORY = Path(__file__).parents[3]
FETCHED = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*?\b(?:src|href)=["']?(?:https?:)?//[^"'>\s]+""")


def test_the_site_builds_strictly_and_fetches_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 20
    assert {found[0] for page in pages for found in FETCHED.finditer(page.read_text())} == set()


def test_what_would_be_fetched_is_recognised() -> None:
    assert FETCHED.search('<link rel="stylesheet" href="https://fonts.example/css">')
    assert FETCHED.search("<script src=//cdn.example/x.js>")
    assert not FETCHED.search('<a href="https://example.org">')
