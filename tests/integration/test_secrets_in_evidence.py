"""A program under test with secrets in its command, its variables, its configuration file and its own log.

Set-up: a real stack, and a command that says its password and ends. Checked: no file of the run and no line of the
terminal has one of them, and the log and the configuration file are there.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.cli_run import CliRun

ROOMS = ("devkit/report", "located_config")
SCENARIO = r"""
name: secrets
title: What of a program's own secrets stands in the evidence
incident: { reference: none }
traffic: { generator: page_change, seed: 3, rate: 20/s, for: 2s }
supervisor: { attempts: 1 }
until: { any: [{ gave_up: true }], deadline: 60s }
programs:
  own:
    run: >-
      command sh -c "echo refused sasl password hunter2log; echo Cookie: a=hunter2cookielog; exit 1"
      x --token hunter2token
    environment: { MW_COOKIE: session=hunter2cookie, DB: "postgres://u:hunter2db@h/x", SLACK_PWD: hunter2pwd }
    raw_config: "sasl:\n  password: hunter2raw # of the bot\n"
arms:
  incident: {}
  fixed: { environment: { MODE: a } }
expect:
  incident: [{ gave_up: true }]
  fixed: [{ gave_up: true }]
"""


@pytest.mark.slow
def test_no_secret_of_a_program_stands_in_the_evidence(devkit_cli: Callable[..., CliRun], tmp_path: Path) -> None:
    file = tmp_path / "secrets.yaml"
    file.write_text(SCENARIO)
    run = devkit_cli("scenario", "run", "--unchecked", "--arm", "incident", str(file))
    run.process.wait(300)
    (directory,) = (run.out / "secrets").iterdir()
    files = [path for path in directory.rglob("*") if path.is_file()]
    assert [path.relative_to(directory) for path in files if b"hunter2" in path.read_bytes()] == []
    assert "hunter2" not in run.output()
    (log,) = directory.glob("incident/logs/own-1.out")
    assert log.read_text() == "refused sasl password (redacted)\nCookie: (redacted)\n"
    assert (directory / "incident/pipeline.yaml").read_text() == "sasl:\n  password: (redacted) # of the bot\n"
