"""What a job has to get over in production, each on real parts with the real pipeline under live traffic: nothing lost.

Checked: the fault acted when it should have, and what the audit says of every event.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli_run import CliRun
from tests.integration.test_scenario_verdict import result_of

ROOMS = ("devkit/faults", "pipeline/driver", "pipeline/kafka")
SCENARIOS = Path(__file__).parent / "scenarios"
# The longest of the timeouts that outage.yaml gives the job.
LONGEST_TIMEOUT_S = 15.0
Cli = Callable[..., CliRun]


def acted(run: CliRun, name: str) -> dict[str, Any]:
    """The line that says how a fault of the timeline ended in the fixed arm."""
    ends = run.event("fault_ends", arm="fixed", name=name)
    assert ends is not None, run.output()
    assert ends["acted"], ends["did"]
    return ends


@pytest.mark.slow
def test_an_outage_of_everything_that_is_longer_than_every_timeout(devkit_cli: Cli) -> None:
    run = devkit_cli("scenario", "run", str(SCENARIOS / "outage.yaml"))
    assert run.wait() == 0, run.output()
    for name in ("brokers away", "store away", "MediaWiki away"):
        ends = acted(run, name)
        assert ends["to_s"] - ends["from_s"] > LONGEST_TIMEOUT_S
    ended = run.event("process_ended", arm="fixed")
    assert ended is not None
    assert ended["t_s"] < ends["t_s"], "the job ended by itself in the outage, and did not wait for it"
    assert result_of(run)["arms"]["fixed"]["restarts"] >= 1


@pytest.mark.slow
def test_other_brokers_lead_in_the_middle_of_a_batch(devkit_cli: Cli) -> None:
    run = devkit_cli("scenario", "run", str(SCENARIOS / "new-leader.yaml"), "--unchecked", "--arm", "fixed")
    assert run.wait() == 0, run.output()
    began = acted(run, "another output leader")["from_s"]
    acted(run, "another source leader")
    before = [line for line in run.timeline() if line["kind"] == "sample" and line["at_s"] <= began][-1]
    assert before["outputs"] > before["committed"], "records of a batch that is not committed have left"


@pytest.mark.slow
def test_a_broker_of_three_is_lost(devkit_cli: Cli) -> None:
    run = devkit_cli("scenario", "run", str(SCENARIOS / "lost-broker.yaml"), "--unchecked", "--arm", "fixed")
    assert run.wait() == 0, run.output()
    lost = acted(run, "broker lost")
    # Until another broker leads, the kit does not look.
    samples = [line for line in run.timeline() if line["kind"] == "sample"]
    before = [line for line in samples if line["at_s"] <= lost["from_s"]][-1]
    assert samples[-1]["outputs"] > before["outputs"], "the two others took what came after it"
