"""A short soak on real parts, of a seed whose faults meet driver, broker, upstream and store within a minute.

Checked: it ends with a clean audit, most of its faults acted, events were deferred, and it wrote the file that plays
them again.
"""

from collections.abc import Callable

import pytest

from tests.integration.cli_run import CliRun
from tests.integration.test_scenario_verdict import result_of

ROOMS = ("devkit/soak",)
SEED = "4"
Cli = Callable[..., CliRun]


@pytest.mark.slow
def test_a_short_soak_ends_with_a_clean_audit(devkit_cli: Cli) -> None:
    run = devkit_cli("soak", "--seed", SEED, "--for", "1m")
    assert run.wait() == 0, run.output()
    arm = result_of(run)["arms"]["fixed"]
    assert arm["ended_by"] == "drained"
    ended = [line for line in run.timeline() if line["kind"] == "fault_ends"]
    assert sum(line["acted"] for line in ended) >= len(ended) / 2, [line["did"] for line in ended]
    deferred = [line["deferred"] for line in run.timeline() if line["kind"] == "sample"]
    assert max(deferred) > 0, "no event was deferred, so no fault met ledger and slow lane"
    assert run.out.joinpath(f"soak-{SEED}-1m.yaml").exists()
