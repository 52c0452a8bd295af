"""What `promtool` says of the rules and of the part of a configuration; where it is not installed, nothing is said."""

import shutil
import subprocess
from pathlib import Path

import pytest

_PROMETHEUS = Path(__file__).parents[3] / "deploy" / "prometheus"
_PROMTOOL = shutil.which("promtool")


@pytest.mark.skipif(_PROMTOOL is None, reason="promtool, which comes with Prometheus, is not installed")
@pytest.mark.parametrize(("what", "file"), [("rules", "alerts.yaml"), ("config", "scrape.yaml")])
@pytest.mark.starts_process("promtool checks the files")
def test_promtool_finds_nothing_wrong(what: str, file: str) -> None:
    checked = subprocess.run(
        [str(_PROMTOOL), "check", what, str(_PROMETHEUS / file)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "SUCCESS" in checked.stdout
