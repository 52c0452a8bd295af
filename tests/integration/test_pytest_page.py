"""docs/pytest.md: its example is a suite that passes outside the checkout, without a warning or a log line."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOMS = ("docs", "devkit/pytest")
PLUGIN = "devkit.pytest"
PAGE = Path(__file__).parents[2] / "docs" / "pytest.md"
DEADLINE_S = 300


def test_the_example_passes_in_an_empty_directory(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (settings,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert PLUGIN in settings
    (tmp_path / "test_fetch.py").write_text(example)
    (tmp_path / "pyproject.toml").write_text(settings)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "-p", "no:faker"]
    command += ["-rA", "--log-level=DEBUG"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^1 passed in [\d.]+s", done.stdout, re.MULTILINE), done.stdout
    assert "Captured log" not in done.stdout, "faker's own plugin logs, and is left out; nothing else does"
