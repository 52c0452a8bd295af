"""A process in the place of a part: it answers over HTTP."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

HTTP = """
import http.server, sys
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_port, flush=True)
server.serve_forever()
"""


@contextmanager
def part_server() -> "Iterator[tuple[subprocess.Popen[str], str]]":
    """The process and its address."""
    with subprocess.Popen([sys.executable, "-S", "-c", HTTP], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.kill()
