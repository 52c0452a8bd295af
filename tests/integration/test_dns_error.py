"""A name that does not resolve, for programs under test alone.

Set-up: a program in Python that fetches with urllib; the session's Kafka and mock. Checked: what it sees, what the
fault proves, and that the name resolves again after its end.
"""

import json
import shlex
import sys
from pathlib import Path

import pytest

from devkit.programs.hosts_file import refusal_of_hosts_file
from tests.integration.shared_stack import PlayScenario
from tests.side_by_side import MACHINE

ROOMS = ("devkit/faults", "devkit/programs")
HERE = Path(__file__).parent
SCENARIO = str(HERE / "scenarios" / "unresolved-name.yaml")
OWN = shlex.join([sys.executable, str(HERE / "own_pipeline.py")])

pytestmark = [
    MACHINE,
    pytest.mark.skipif(bool(refusal_of_hosts_file()), reason="the system forbids mount namespaces"),
]


def test_a_program_fails_at_its_look_up_and_goes_on_when_the_name_resolves_again(
    play_scenario: PlayScenario,
) -> None:
    run = play_scenario(SCENARIO, "--pipeline", OWN)
    assert run.wait(500) == 0, run.output()
    result = json.loads((run.evidence / "result.json").read_text())
    arms = result["arms"]
    assert arms["incident"]["gave_up_after"] == "0 restarts in a row"
    for arm in ("incident", "fixed"):
        (evidence,) = result["fault_evidence"][arm]
        assert evidence["did"].startswith("mock-api.devkit.test did not resolve, and programs looked up names "), arm
        assert "Name or service not known" in (run.evidence / arm / "logs" / "pipeline-1.log").read_text(), arm
    assert Path("/etc/hosts").read_text().count("devkit.test") == 0
