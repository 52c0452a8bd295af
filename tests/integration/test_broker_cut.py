"""A broker that is cut off from the program for 5 s in mid-run, by the proxy in front of it.

Set-up: a scenario whose timeline cuts the broker off, on the embedded stack. Steps: play one arm. Checked: the program
lost its connections, sent nothing during the cut, and then everything; the kit looked at the broker all the while.
"""

from collections.abc import Callable

import pytest

from tests.integration.cli_run import REPOSITORY, CliRun

ROOMS = ("devkit/faults", "devkit/proxy")
SCENARIO = REPOSITORY / "tests" / "integration" / "scenarios" / "broker-cut.yaml"
# What left the program just before the cut may be counted a look later.
UNDER_WAY_S = 1.0
CUT_S = 5.0


@pytest.mark.slow
def test_the_program_waits_for_the_broker_and_the_kit_looks_on(devkit_cli: Callable[..., CliRun]) -> None:
    run = devkit_cli("scenario", "run", str(SCENARIO), "--unchecked", "--arm", "fixed")
    assert run.wait() == 0, run.output()
    ends = run.event("fault_ends", name="cut off")
    assert ends is not None
    assert ends["acted"], ends["did"]
    assert ends["to_s"] - ends["from_s"] >= CUT_S
    samples = [line for line in run.timeline() if line["kind"] == "sample"]
    during = [one for one in samples if ends["from_s"] + UNDER_WAY_S < one["at_s"] < ends["to_s"]]
    assert len(during) >= 3
    assert run.event("not_observable") is None
    assert during[0]["source_end"] < during[-1]["source_end"], "the traffic, which goes past the proxy, goes on"
    assert {(one["outputs"], one["committed"]) for one in during} == {(during[0]["outputs"], during[0]["committed"])}
    assert samples[-1]["outputs"] > during[-1]["outputs"]
    assert "could not be established" in log_of(run), "the program's Kafka clients say that they cannot connect"


def log_of(run: CliRun) -> str:
    logs = list(run.evidence.glob("fixed/logs/*"))
    assert logs, [str(path) for path in run.out.rglob("*")]
    return "".join(path.read_text(errors="replace") for path in logs)
