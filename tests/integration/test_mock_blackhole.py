"""A MediaWiki that no packet reaches for 6 s in mid-run, by the proxy in front of it, longer than a request may take.

Set-up: a scenario whose timeline drops what goes to and from the mock, on the embedded stack. Steps: play one arm.
Checked: no request gets through and nothing leaves the program meanwhile, while the kit, which goes past the proxy,
looks on; then what timed out is asked again, and the audit is clean.
"""

from collections.abc import Callable

import pytest

from devkit.report.result import Result
from tests.integration.cli_run import REPOSITORY, CliRun

ROOMS = ("devkit/faults", "devkit/proxy", "pipeline/fetch")
SCENARIO = REPOSITORY / "tests" / "integration" / "scenarios" / "mock-blackhole.yaml"
# What left the program just before the silence may be counted a look later.
UNDER_WAY_S = 1.5


@pytest.mark.slow
def test_the_program_asks_again_and_loses_nothing(devkit_cli: Callable[..., CliRun]) -> None:
    run = devkit_cli("scenario", "run", str(SCENARIO), "--unchecked", "--arm", "fixed")
    assert run.wait(900) == 0, run.output()  # a busy machine stretches it
    ends = run.event("fault_ends", name="silence")
    assert ends is not None
    assert ends["acted"], ends["did"]
    assert "bytes delayed" in ends["did"]
    samples = [line for line in run.timeline() if line["kind"] == "sample"]
    during = [one for one in samples if ends["from_s"] + UNDER_WAY_S < one["at_s"] < ends["to_s"]]
    assert len(during) >= 3
    assert run.event("not_observable") is None
    assert {(one["requests"], one["outputs"]) for one in during} == {(during[0]["requests"], during[0]["outputs"])}
    assert samples[-1]["outputs"] > during[-1]["outputs"]
    file = run.evidence / "result.json"
    assert Result.model_validate_json(file.read_text()).arms["fixed"].figures.max_attempt >= 2, "it was asked again"
