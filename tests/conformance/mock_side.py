"""The other side: `python -m mockapi` with a catalog of one wiki that has its main page and nothing else."""

import json
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from devkit.stack.ports import free_port

ROOT: Final = Path(__file__).parents[2]
# High enough that the numbers of pages and revisions occur nowhere else in an answer.
_MAIN_PAGE_ID: Final = 410_000
_READY: Final = "mockapi ready on http://"
_DEADLINE_S: Final = 30.0


class MockError(Exception):
    """The mock does not come up, or says something when it goes."""


@contextmanager
def serve_mock(domain: str, *, links_to_itself: bool = False) -> Iterator[int]:
    """Yields the port on 127.0.0.1; raises MockError when the mock does not start, or complained. Its links lead to
    `domain`, or to itself.
    """
    with tempfile.TemporaryDirectory() as folder:
        catalog = Path(folder) / "catalog.jsonl"
        catalog.write_text(json.dumps(_main_page(domain)) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "mockapi", "--catalog", str(catalog)]
        wanted = free_port() if links_to_itself else 0
        command += ["--port", str(wanted)]
        command += ["--base-url", f"http://127.0.0.1:{wanted}"] if links_to_itself else []
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            readable, _, _ = select.select([process.stdout], [], [], _DEADLINE_S)
            line = process.stdout.readline() if readable else ""
            if not line.startswith(_READY):
                process.kill()
                raise MockError(f"no ready line within {_DEADLINE_S} s: {line!r} {process.communicate()[1]}")
            yield int(line.rsplit(":", 1)[1])
        finally:
            if process.poll() is None:
                process.terminate()
            try:
                complaints = process.communicate(timeout=_DEADLINE_S)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                complaints = process.communicate()[1]
    if complaints:
        raise MockError(f"the mock said: {complaints}")


def _main_page(domain: str) -> dict[str, object]:
    revision = _MAIN_PAGE_ID * 4096 + 1
    return {
        "wiki": "conformance",
        "domain": domain,
        "page_id": _MAIN_PAGE_ID,
        "namespace_id": 0,
        "title": "Main Page",
        "revisions": [
            {
                "rev_id": revision,
                "parent_id": 0,
                "timestamp": "2026-01-01T00:00:00Z",
                "text": "Set up.",
                "user": "Admin",
            }
        ],
    }
